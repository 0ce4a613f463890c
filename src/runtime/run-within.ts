import type { Env } from "../env/env.ts";

/**
 * Runs work under a time limit. The work gets a signal; when it ignores the signal for too long, the caller goes on, but
 * still learns when the work has really ended, so that nothing is ever started twice.
 */
export function runWithin<R>(env: Env, limits: Limits, work: (signal: AbortSignal) => Promise<R>): Running<R> {
  const abort = new AbortController();
  const cancel = (): void => abort.abort(limits.signal.reason);
  limits.signal.addEventListener("abort", cancel, { once: true });
  if (limits.signal.aborted) cancel();
  const stopTimer = env.setTimer(limits.timeoutMs, () =>
    abort.abort(new TimedOut(`no end after ${limits.timeoutMs} ms`)),
  );
  const working = started(work, abort.signal);
  let stopWaiting = (): void => undefined;
  const abandoned = new Promise<never>((_, reject) => {
    abort.signal.addEventListener("abort", () => {
      stopWaiting = env.setTimer(limits.abandonMs, () => reject(abort.signal.reason));
    });
  });
  const clear = (): void => {
    stopTimer();
    stopWaiting();
    limits.signal.removeEventListener("abort", cancel);
  };
  const settled = working.then(clear, clear);
  const outcome = Promise.race([working, abandoned]).then(
    // Work that was told to stop and answers all the same has not done what it was asked to do in time.
    (result) => (abort.signal.aborted ? Promise.reject(abort.signal.reason) : result),
    (error: unknown) => Promise.reject(abort.signal.aborted ? abort.signal.reason : error),
  );
  return { outcome, settled };
}

export interface Limits {
  readonly timeoutMs: number;
  readonly abandonMs: number;
  readonly signal: AbortSignal;
}

export interface Running<R> {
  readonly outcome: Promise<R>;
  /** Never rejects. */
  readonly settled: Promise<void>;
}

export class TimedOut extends Error {
  override readonly name = "TimedOut";
}

/** A function that throws before its first await is no different from one that rejects. */
async function started<R>(work: (signal: AbortSignal) => Promise<R>, signal: AbortSignal): Promise<R> {
  return work(signal);
}
