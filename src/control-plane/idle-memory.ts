import type { Env } from "../env/env.ts";
import { forgetEverything } from "../env/forgettable.ts";
import { collectEverywhere } from "../env/threads.ts";

/**
 * Gives memory back to the machine when nothing happens. V8 collects garbage only while it allocates, so a program that
 * was just busy keeps what it no longer needs for as long as it is idle. Answers the function that ends this.
 */
export function returnIdleMemory(env: Env, probe: MemoryProbe = systemProbe()): () => void {
  let processorMs = probe.processorMs();
  let keptBytes = 0;
  let restUntilMs = env.monotonicMs();
  const look = (): void => {
    const usedMs = probe.processorMs() - processorMs;
    const isIdle = usedMs < checkEveryMs * idleShare;
    if (isIdle && probe.heapBytes() - keptBytes > worthBytes && env.monotonicMs() >= restUntilMs) {
      probe.collect();
      keptBytes = probe.heapBytes();
      restUntilMs = env.monotonicMs() + restMs;
    }
    processorMs = probe.processorMs();
    cancel = env.setTimer(checkEveryMs, look);
  };
  let cancel = env.setTimer(checkEveryMs, look);
  return () => cancel();
}

export interface MemoryProbe {
  /** What the heap has taken from the machine, used or not. */
  heapBytes(): number;
  /** Processor time of the whole program so far. */
  processorMs(): number;
  collect(): void;
}

const checkEveryMs = 10_000;
/** Less than this share of one processor is idle. */
const idleShare = 0.05;
/** Collecting takes some tenths of a second: it must be worth it, and must not come again soon. */
const worthBytes = 4 * 1024 * 1024;
const restMs = 60_000;

const systemProbe = (): MemoryProbe => ({
  heapBytes: () => process.memoryUsage().heapTotal,
  processorMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  collect() {
    forgetEverything();
    collectEverywhere();
  },
});
