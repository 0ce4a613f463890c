import type { Env } from "../env/env.ts";
import { ConnectionError } from "./connection-error.ts";
import { asConnectionError, describe, type Exchange } from "./exchange.ts";
import type { ApiRequest } from "./requests.ts";

/**
 * The chunks of a long answer. Ends when the server ends it; throws when the stream breaks, when the caller aborts, and
 * when nothing at all has come for the idle time, because a half-open connection looks exactly like a quiet one.
 */
export async function* streamChunks(
  exchange: Exchange,
  env: Env,
  request: ApiRequest,
  { signal, idleTimeoutMs }: StreamOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const watchdog = idleTimeoutMs === undefined ? undefined : startWatchdog(env, idleTimeoutMs, request, controller);
  try {
    const response = await exchange.open(request, controller.signal);
    watchdog?.heard();
    const read = readerOf(response.body, controller.signal);
    try {
      for (;;) {
        const next = await read.next();
        if (next.done) return;
        watchdog?.heard();
        yield next.value;
      }
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : asConnectionError(request, error);
    } finally {
      read.close();
    }
  } finally {
    watchdog?.stop();
    signal?.removeEventListener("abort", onAbort);
    controller.abort();
  }
}

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  readonly idleTimeoutMs?: number | undefined;
}

interface Watchdog {
  heard(): void;
  stop(): void;
}

/** One timer that looks at the time of the last chunk, instead of one timer per chunk. */
function startWatchdog(env: Env, idleTimeoutMs: number, request: ApiRequest, controller: AbortController): Watchdog {
  let heardAtMs = env.monotonicMs();
  const check = (): void => {
    const silentMs = env.monotonicMs() - heardAtMs;
    if (silentMs < idleTimeoutMs) {
      cancel = env.setTimer(idleTimeoutMs - silentMs, check);
      return;
    }
    const message = `${describe(request)}: the stream has been silent for ${Math.round(silentMs)} ms`;
    controller.abort(new ConnectionError(message, { reason: "Silent", mayHaveBeenApplied: true }));
  };
  let cancel = env.setTimer(idleTimeoutMs, check);
  return {
    heard() {
      heardAtMs = env.monotonicMs();
    },
    stop: () => cancel(),
  };
}

/** Reads that end with the signal even if the body does not listen to it. */
function readerOf(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): { next(): Promise<IteratorResult<Uint8Array>>; close(): void } {
  const iterator = body[Symbol.asyncIterator]();
  let fail: ((reason: unknown) => void) | undefined;
  const onAbort = (): void => fail?.(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return {
    next: () =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        fail = reject;
        iterator.next().then(resolve, reject);
      }),
    close() {
      signal.removeEventListener("abort", onAbort);
      // A body that is still waiting for its next chunk ends later, by the signal; nobody is interested in how.
      iterator.return?.().then(undefined, () => {});
    },
  };
}
