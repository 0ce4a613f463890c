import type { CancelTimer, Env } from "../../env/env.ts";

/** Gives up after a silence, not after a time: hundreds of questions take long at a busy server, which is not a dead one. */
export interface Patience {
  readonly signal: AbortSignal;
  /** Somebody has answered: the wait begins anew. */
  heard(): void;
  end(): void;
}

export function createPatience(env: Env, silenceMs: number): Patience {
  const late = new AbortController();
  let cancel: CancelTimer = () => {};
  const wait = (): void => {
    cancel();
    cancel = env.setTimer(silenceMs, () => late.abort(new Error("no answer in time")));
  };
  wait();
  return { signal: late.signal, heard: wait, end: () => cancel() };
}
