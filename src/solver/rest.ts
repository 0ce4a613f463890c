import { type Env, sleep } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";

/** How long the event loop is held at a time. */
export interface Pace {
  readonly sliceMs: number;
  /** A question that is broken off again and again gets longer slices, up to this, so that it comes to an end. */
  readonly maxSliceMs: number;
}

/** Where others wait for the same event loop. */
export const besideOthers: Pace = { sliceMs: 10, maxSliceMs: 25 };
/** On a thread of its own, where nobody waits but whoever says that the answer is not wanted any more. */
export const byItself: Pace = { sliceMs: 40, maxSliceMs: 100 };

/** Long work done in slices: asked often, it answers a promise only when others should be let run. */
export interface Rest {
  /** Undefined while the slice lasts. */
  (): Promise<void> | undefined;
  isOver(): boolean;
  /** Lets others run now, and begins the next slice. */
  take(lengthMs?: number): Promise<void>;
}

export function createRest(env: Env, signal?: AbortSignal, { sliceMs }: Pace = besideOthers): Rest {
  const busyMs = busyClock(env);
  let length = sliceMs;
  let busySince = busyMs();
  let endMs = env.monotonicMs() + length;
  const isOver = (): boolean => {
    const nowMs = env.monotonicMs();
    if (nowMs < endMs) return false;
    const leftMs = length - (busyMs() - busySince);
    if (leftMs <= toleranceMs) return true;
    endMs = nowMs + leftMs;
    return false;
  };
  const take = async (lengthMs = sliceMs): Promise<void> => {
    await letOthersRun(env, signal);
    length = lengthMs;
    busySince = busyMs();
    endMs = env.monotonicMs() + length;
  };
  return Object.assign(() => (isOver() ? take() : undefined), { isOver, take });
}

const toleranceMs = 0.5;

/** The timers of the real world do not keep a program alive that waits for nothing but its answer, and last a millisecond. */
async function letOthersRun(env: Env, signal: AbortSignal | undefined): Promise<void> {
  if (env !== systemEnv) return sleep(env, 0, signal);
  signal?.throwIfAborted();
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}

/**
 * A slice is a share of work, so on a real machine it is counted in this thread's own processor time. By the clock, a
 * slice on a busy machine could pass without anything being done, and a large question would never come to its end.
 */
function busyClock(env: Env): () => number {
  if (env !== systemEnv) return () => env.monotonicMs();
  return () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
}
