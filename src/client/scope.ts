import type { Env } from "../env/env.ts";

/**
 * Runs work that ends in time: when the caller's signal is aborted or the time is up, the work's own signal is aborted and
 * the promise settles at once, even if the work does not listen.
 */
export function withinScope<T>(env: Env, limits: ScopeLimits, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, timeoutMs, onTimeout } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const controller = new AbortController();
    const stop = (reason: unknown): void => {
      close();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => stop(signal?.reason);
    const cancelTimer = env.setTimer(timeoutMs, () => stop(onTimeout()));
    const close = (): void => {
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    work(controller.signal).then(
      (value) => {
        close();
        resolve(value);
      },
      (error: unknown) => {
        close();
        reject(error);
      },
    );
  });
}

export interface ScopeLimits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly onTimeout: () => Error;
}

/** The promise as it is, or the signal's reason as soon as it is aborted; the work behind the promise goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
