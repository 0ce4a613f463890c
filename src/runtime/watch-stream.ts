import type { Client, WatchEvent, WatchOptions } from "../client/client.ts";
import type { CancelTimer, Env } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";

/** One watch request, pulled event by event, with a watchdog of its own: a half-open connection says nothing for ever. */
export interface OpenWatch<T extends KubeObject> {
  /** The next event; undefined when the server has ended the stream. */
  next(): Promise<WatchEvent<T> | undefined>;
  close(): Promise<void>;
}

export function openWatch<T extends KubeObject>(
  env: Env,
  client: Client,
  kind: KindRef<T>,
  options: WatchOptions & { readonly idleTimeoutMs: number },
  signal: AbortSignal,
): OpenWatch<T> {
  const abort = new AbortController();
  let interrupt: (reason: unknown) => void = () => undefined;
  const stop = (reason: unknown): void => {
    abort.abort(reason);
    interrupt(reason);
  };
  const onAbort = (): void => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const iterator = client.watch(kind, { ...options, signal: abort.signal })[Symbol.asyncIterator]();
  const watchdog = new Watchdog(env, options.idleTimeoutMs, () => {
    stop(new WatchIdle(`the watch of ${kind.plural} was silent for ${options.idleTimeoutMs} ms`));
  });
  return {
    async next() {
      if (abort.signal.aborted) throw abort.signal.reason;
      // Not a race against one long promise: that would remember every event until the stream ends.
      const result = await new Promise<IteratorResult<WatchEvent<T>>>((resolve, reject) => {
        interrupt = reject;
        iterator.next().then(resolve, reject);
      });
      watchdog.feed();
      return result.done ? undefined : result.value;
    },
    async close() {
      watchdog.stop();
      signal.removeEventListener("abort", onAbort);
      stop(new Error("the watch was closed"));
      // A stream that ignores its signal must not hold up the watcher, so nobody waits for this.
      iterator.return?.().catch(() => undefined);
    },
  };
}

export class WatchIdle extends Error {}

/** Bites once when it was not fed for a while. Feeding is cheap: the timer is only set anew when it runs out. */
class Watchdog {
  readonly #env: Env;
  readonly #limitMs: number;
  readonly #bite: () => void;
  #fedAtMs: number;
  #cancel: CancelTimer;

  constructor(env: Env, limitMs: number, bite: () => void) {
    this.#env = env;
    this.#limitMs = limitMs;
    this.#bite = bite;
    this.#fedAtMs = env.monotonicMs();
    this.#cancel = this.#arm(limitMs);
  }

  feed(): void {
    this.#fedAtMs = this.#env.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #arm(delayMs: number): CancelTimer {
    return this.#env.setTimer(delayMs, () => {
      const leftMs = this.#fedAtMs + this.#limitMs - this.#env.monotonicMs();
      if (leftMs > 0) this.#cancel = this.#arm(leftMs);
      else this.#bite();
    });
  }
}
