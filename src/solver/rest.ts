import { type Env, sleep } from "../env/env.ts";

/** How long the event loop may be held at a time. */
export const sliceMs = 10;

/** Long work done in slices: asked often, it answers a promise only when others should be let run. */
export interface Rest {
  /** Undefined while the slice lasts. */
  (): Promise<void> | undefined;
  isOver(): boolean;
  /** Lets others run now, and begins the next slice. */
  take(): Promise<void>;
}

export function createRest(env: Env, signal?: AbortSignal): Rest {
  let endMs = env.monotonicMs() + sliceMs;
  const isOver = (): boolean => env.monotonicMs() >= endMs;
  const take = async (): Promise<void> => {
    await sleep(env, 0, signal);
    endMs = env.monotonicMs() + sliceMs;
  };
  return Object.assign(() => (isOver() ? take() : undefined), { isOver, take });
}
