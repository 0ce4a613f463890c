import { type Env, sleep } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";

/** How long the event loop is held at a time. */
export const sliceMs = 10;
/** A question that is broken off again and again gets longer slices, up to this, so that it comes to an end. */
export const maxSliceMs = 25;

/** Long work done in slices: asked often, it answers a promise only when others should be let run. */
export interface Rest {
  /** Undefined while the slice lasts. */
  (): Promise<void> | undefined;
  isOver(): boolean;
  /** Lets others run now, and begins the next slice. */
  take(lengthMs?: number): Promise<void>;
}

export function createRest(env: Env, signal?: AbortSignal): Rest {
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
    await sleep(env, 0, signal);
    length = lengthMs;
    busySince = busyMs();
    endMs = env.monotonicMs() + length;
  };
  return Object.assign(() => (isOver() ? take() : undefined), { isOver, take });
}

const toleranceMs = 0.5;

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
