/**
 * Everything that a part of Capstan may not take from the ambient world: time, timers, chance and identity.
 * Production uses `systemEnv`; tests and simulations bring a manual one, so that a whole control plane can be replayed.
 */
export interface Env {
  /** Wall-clock time; may jump. For timestamps that people read. */
  now(): Date;
  /** Milliseconds on a clock that never goes back. For durations, deadlines and back-off. */
  monotonicMs(): number;
  /** Calls back once after the delay; the returned function cancels it. */
  setTimer(delayMs: number, callback: () => void): CancelTimer;
  /** Uniform in [0, 1). */
  random(): number;
  /** A random version-4 UUID. */
  uuid(): string;
}

export type CancelTimer = () => void;

/** Resolves after the delay, or rejects with the signal's reason as soon as it is aborted. */
export function sleep(env: Env, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = env.setTimer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
