import type { Env } from "../../env/env.ts";
import type { HttpHandler, HttpResponse } from "../../http/message.ts";

/**
 * A polite client of services that are not ours: time limits, size limits, nothing asked twice that has not changed, and
 * a host that has trouble is left alone for a while. `fetch` is an HttpHandler whose target is a whole URL.
 */
export interface Outside {
  /** A parsed answer; from memory when the server says that nothing has changed. */
  json(url: string, options?: OutsideOptions): Promise<unknown>;
  /** An answer as it comes. Whoever asks must read or cancel it. */
  open(url: string, options?: OpenOptions): Promise<HttpResponse>;
}

export interface OutsideOptions {
  readonly signal?: AbortSignal;
}
export interface OpenOptions extends OutsideOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Redirects are answers, to be followed by whoever asked; otherwise they are refusals. */
  readonly followsRedirects?: boolean;
}

export type OutsideReason =
  | "Unreachable"
  | "TimedOut"
  | "RateLimited"
  | "NotFound"
  | "Refused"
  | "TooLarge"
  | "Malformed";

/** The host and the reason, never the whole address: it may carry a secret. */
export class OutsideError extends Error {
  override readonly name = "OutsideError";
  readonly reason: OutsideReason;
  readonly retryAfterMs: number | undefined;
  constructor(reason: OutsideReason, message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface CreateOutsideOptions {
  readonly env: Env;
  readonly fetch: HttpHandler;
  readonly userAgent: string;
}

const requestTimeoutMs = 30_000;
export const maxJsonBytes = 16 * 1024 * 1024;
const maxDiscardedBytes = 64 * 1024;
const maxHosts = 1_000;
const maxRememberedBytes = 64 * 1024 * 1024;
const concurrencyPerHost = 4;
const firstPauseMs = 2_000;
/** Even where a host says that it may be asked again at once. */
const minPauseMs = 1_000;
const maxPauseMs = 5 * 60_000;
const maxRetryAfterMs = 60 * 60_000;

export function createOutside({ env, fetch: send, userAgent }: CreateOutsideOptions): Outside {
  const hosts = new Map<string, Host>();
  const hostOf = (url: string): Host => {
    const { host } = new URL(url);
    const known = hosts.get(host) ?? new Host(env, host);
    // The one that was asked least recently goes first; what is forgotten is only asked earlier.
    hosts.delete(host);
    hosts.set(host, known);
    const [oldest] = hosts;
    if (hosts.size > maxHosts && oldest?.[1].isIdle) hosts.delete(oldest[0]);
    return known;
  };
  const remembered = new Remembered();

  const open = async (
    url: string,
    { signal, headers, timeoutMs = requestTimeoutMs, followsRedirects = false }: OpenOptions = {},
  ): Promise<HttpResponse> => {
    const host = hostOf(url);
    const release = await host.enter(signal);
    const limit = timeLimit(env, timeoutMs, `${host.name} did not answer within ${timeoutMs / 1_000} s`, signal);
    try {
      const response = await send({
        method: "GET",
        target: url,
        headers: { "user-agent": userAgent, accept: "application/json", ...headers },
        signal: limit.signal,
      });
      const failure = host.judge(response, followsRedirects);
      if (failure) {
        await discard(response);
        throw failure;
      }
      return { ...response, body: guarded(response.body, limit, release) };
    } catch (error) {
      limit.end();
      release();
      if (signal?.aborted) throw error;
      throw host.blame(error, limit.signal);
    }
  };

  return {
    open,
    async json(url, options) {
      const before = remembered.get(url);
      const response = await open(url, { ...options, headers: before ? { "if-none-match": before.etag } : {} });
      if (response.status === 304 && before) {
        await discard(response);
        return before.value;
      }
      const bytes = await readWhole(response, maxJsonBytes);
      const value = parseJson(bytes, new URL(url).host);
      const { etag } = response.headers;
      if (etag !== undefined) remembered.set(url, { etag, value, bytes: bytes.length });
      return value;
    },
  };
}

/** What is known of one host: who is being served, and until when it is left alone. */
class Host {
  readonly name: string;
  readonly #env: Env;
  readonly #waiting: (() => void)[] = [];
  #active = 0;
  #failures = 0;
  #quietUntilMs = 0;
  /** Why it is left alone. Said again to all who ask meanwhile, so that a status that shows it does not change by the second. */
  #trouble = "";

  constructor(env: Env, name: string) {
    this.#env = env;
    this.name = name;
  }

  get isIdle(): boolean {
    return this.#active === 0;
  }

  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    this.#refuseWhileQuiet();
    if (this.#active < concurrencyPerHost) this.#active++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isReleased = false;
    // A slot goes straight to whoever waits for it, so that nobody who comes in between can take it too.
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      const next = this.#waiting.shift();
      if (next) next();
      else this.#active--;
    };
    try {
      // While we waited the host may have asked to be left alone.
      signal?.throwIfAborted();
      this.#refuseWhileQuiet();
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  #refuseWhileQuiet(): void {
    const pauseMs = this.#quietUntilMs - this.#env.monotonicMs();
    if (pauseMs > 0) throw new OutsideError("RateLimited", this.#trouble, pauseMs);
  }

  /** Undefined for an answer that can be used. */
  judge({ status, headers }: HttpResponse, followsRedirects: boolean): OutsideError | undefined {
    const isRedirect = status >= 300 && status < 400 && followsRedirects;
    if ((status >= 200 && status < 300) || status === 304 || isRedirect) {
      this.#failures = 0;
      return undefined;
    }
    if (status === 404 || status === 410) {
      this.#failures = 0;
      return new OutsideError("NotFound", `${this.name} answered ${status}: there is no such thing`);
    }
    const isBusy = status === 429 || status === 503;
    const wantedMs = isBusy ? retryAfterMs(headers["retry-after"], this.#env.now()) : undefined;
    if (isBusy || status >= 500) {
      const message = `${this.name} answered ${status}`;
      return new OutsideError(isBusy ? "RateLimited" : "Unreachable", message, this.#pause(message, wantedMs));
    }
    return new OutsideError("Refused", `${this.name} answered ${status}`);
  }

  blame(error: unknown, signal: AbortSignal): OutsideError {
    if (error instanceof OutsideError) return error;
    const late = signal.aborted && signal.reason instanceof OutsideError ? signal.reason : undefined;
    const detail = error instanceof Error ? error.message : String(error);
    const message = late?.message ?? `${this.name} cannot be reached: ${detail}`;
    const pauseMs = this.#pause(message);
    return late ?? new OutsideError("Unreachable", message, pauseMs, { cause: error });
  }

  /** The host's own wish, or longer and longer. */
  #pause(trouble: string, wantedMs?: number): number {
    this.#trouble = trouble;
    const pauseMs =
      (wantedMs === undefined ? undefined : Math.max(wantedMs, minPauseMs)) ??
      Math.min(maxPauseMs, firstPauseMs * 2 ** this.#failures) * (0.5 + this.#env.random() / 2);
    this.#failures++;
    this.#quietUntilMs = this.#env.monotonicMs() + pauseMs;
    return pauseMs;
  }
}

/** Seconds, or a date. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^[0-9]+$/.test(header.trim()) ? Number(header) : Number.NaN;
  // A date has the name of its month; what has none would be read as some year.
  const date = /[a-z]{3}/i.test(header) ? Date.parse(header) - now.getTime() : Number.NaN;
  const waitMs = Number.isNaN(seconds) ? date : seconds * 1_000;
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), maxRetryAfterMs) : undefined;
}

export async function readWhole({ body }: HttpResponse, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limitBytes) throw new OutsideError("TooLarge", `the answer is larger than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(bytes: Uint8Array, host: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch (error) {
    throw new OutsideError("Malformed", `${host} answered with something that is not JSON`, undefined, {
      cause: error,
    });
  }
}

interface TimeLimit {
  readonly signal: AbortSignal;
  end(): void;
}

function timeLimit(env: Env, timeoutMs: number, message: string, outer: AbortSignal | undefined): TimeLimit {
  const own = new AbortController();
  const end = env.setTimer(timeoutMs, () => own.abort(new OutsideError("TimedOut", message)));
  return { signal: outer ? AbortSignal.any([own.signal, outer]) : own.signal, end };
}

/** The time limit covers the body too, and a slot is free again when the body ends, however it ends. */
async function* guarded(
  body: AsyncIterable<Uint8Array>,
  limit: TimeLimit,
  release: () => void,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) {
      limit.signal.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    if (error instanceof OutsideError) throw error;
    if (limit.signal.aborted) throw limit.signal.reason;
    const detail = error instanceof Error ? error.message : String(error);
    throw new OutsideError("Unreachable", `the answer broke off: ${detail}`, undefined, { cause: error });
  } finally {
    limit.end();
    release();
  }
}

/** Reads what is left of an answer, so that its connection can be used again; one that does not end is broken off. */
export async function discard({ body }: HttpResponse): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxDiscardedBytes) return;
    }
  } catch {
    // Nobody needs the rest of an answer that is not used.
  }
}

interface Memory {
  readonly etag: string;
  readonly value: unknown;
  readonly bytes: number;
}

/** The latest answers, as many as fit. */
class Remembered {
  readonly #answers = new Map<string, Memory>();
  #bytes = 0;

  get(url: string): Memory | undefined {
    const found = this.#answers.get(url);
    if (found) {
      this.#answers.delete(url);
      this.#answers.set(url, found);
    }
    return found;
  }

  set(url: string, memory: Memory): void {
    this.#forget(url);
    this.#answers.set(url, memory);
    this.#bytes += memory.bytes;
    while (this.#bytes > maxRememberedBytes) {
      const [oldest] = this.#answers.keys();
      if (oldest === undefined) return;
      this.#forget(oldest);
    }
  }

  #forget(url: string): void {
    this.#bytes -= this.#answers.get(url)?.bytes ?? 0;
    this.#answers.delete(url);
  }
}
