import { type Env, sleep } from "../env/env.ts";
import { WholeBody } from "../http/body.ts";
import type { HttpHandler, HttpResponse } from "../http/message.ts";
import { ApiError, apiErrorFrom } from "./api-error.ts";
import type { ClientMetrics } from "./client-metrics.ts";
import { ConnectionError, CredentialError, MalformedAnswerError } from "./connection-error.ts";
import type { ProcessHold } from "./process-hold.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { ApiRequest } from "./requests.ts";
import { parseRetryAfter, type RetryPolicy, retryDelayMs } from "./retry.ts";
import { withinScope } from "./scope.ts";
import { parseWarnings } from "./warnings.ts";

/** Sends requests: limits, times, repeats and counts them, and turns failed answers into errors. */
export interface Exchange {
  /** The whole answer to a request, after as many attempts as the policy allows. */
  send(request: ApiRequest, options?: SendOptions): Promise<Answer>;
  /**
   * The beginning of a stream, tried once: whoever reads a stream knows best how to go on. The reader aborts the signal
   * when it is done with the stream, and also when this throws.
   */
  open(request: ApiRequest, signal: AbortSignal): Promise<HttpResponse>;
}

export interface SendOptions {
  readonly signal?: AbortSignal;
  readonly onWarning?: (warning: string) => void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface ExchangeSettings {
  readonly transport: HttpHandler;
  readonly env: Env;
  readonly userAgent: string;
  /** The label of metrics. */
  readonly host: string;
  readonly retry: RetryPolicy;
  readonly requestTimeoutMs: number;
  readonly metrics: ClientMetrics;
  readonly rateLimiter?: RateLimiter;
  readonly onWarning?: (warning: string, subject: string) => void;
  /** Keeps the process alive while a request waits for its next attempt. */
  readonly hold?: ProcessHold;
}

export function createExchange(settings: ExchangeSettings): Exchange {
  return {
    async send(request, options = {}) {
      const letGo = settings.hold?.take();
      const answer = await sendRepeatedly(settings, request, options.signal).finally(letGo);
      for (const warning of parseWarnings(answer.headers["warning"])) {
        options.onWarning?.(warning);
        settings.onWarning?.(warning, request.subject);
      }
      return answer;
    },
    async open(request, signal) {
      await settings.rateLimiter?.take(request.method, signal);
      const call = begin(settings, request);
      try {
        const response = await within(settings, request, signal, async () => {
          const started = await callTransport(settings, request, signal);
          if (started.status < 300) return started;
          throw failureOf(settings, request, started, await collect(request, started.body));
        });
        call.finished(String(response.status), 0);
        for (const warning of parseWarnings(response.headers["warning"]))
          settings.onWarning?.(warning, request.subject);
        return response;
      } catch (error) {
        call.finished(codeOf(error), 0);
        throw error;
      }
    },
  };
}

async function sendRepeatedly(settings: ExchangeSettings, request: ApiRequest, signal?: AbortSignal): Promise<Answer> {
  const { env, retry, metrics, host } = settings;
  const startedAtMs = env.monotonicMs();
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    await settings.rateLimiter?.take(request.method, signal);
    try {
      return await sendOnce(settings, request, signal);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const delayMs = retryDelayMs(retry, {
        error,
        repeatable: request.repeatable,
        attempt,
        elapsedMs: env.monotonicMs() - startedAtMs,
        random: env.random(),
      });
      if (delayMs === undefined) throw error;
      metrics.requestRetried?.({ method: request.method, host, code: codeOf(error) });
      await sleep(env, delayMs, signal);
    }
  }
}

async function sendOnce(settings: ExchangeSettings, request: ApiRequest, signal?: AbortSignal): Promise<Answer> {
  const call = begin(settings, request);
  let received = 0;
  try {
    const answer = await within(settings, request, signal, async (inner) => {
      const response = await callTransport(settings, request, inner);
      const body = await collect(request, response.body);
      received = body.length;
      if (response.status >= 300) throw failureOf(settings, request, response, body);
      return { status: response.status, headers: response.headers, body };
    });
    call.finished(String(answer.status), received);
    return answer;
  } catch (error) {
    call.finished(codeOf(error), received);
    throw error;
  }
}

function begin(
  { env, metrics, host }: ExchangeSettings,
  request: ApiRequest,
): { finished(code: string, responseBytes: number): void } {
  const startedAtMs = env.monotonicMs();
  return {
    finished(code, responseBytes) {
      metrics.requestFinished?.({
        method: request.method,
        host,
        code,
        seconds: (env.monotonicMs() - startedAtMs) / 1000,
        requestBytes: request.body?.length ?? 0,
        responseBytes,
      });
    },
  };
}

function within<T>(
  { env, requestTimeoutMs }: ExchangeSettings,
  request: ApiRequest,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const onTimeout = (): Error =>
    new ConnectionError(`${describe(request)}: no answer within ${requestTimeoutMs} ms`, {
      reason: "TimedOut",
      mayHaveBeenApplied: true,
    });
  return withinScope(env, { signal, timeoutMs: requestTimeoutMs, onTimeout }, work);
}

async function callTransport(
  settings: ExchangeSettings,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    return await settings.transport({
      method: request.method,
      target: request.target,
      headers: { ...request.headers, "user-agent": settings.userAgent },
      ...(request.body && { body: request.body }),
      signal,
    });
  } catch (error) {
    throw asConnectionError(request, error);
  }
}

/** Most bytes of one answer; a page of 500 large objects stays far below. */
const maxAnswerBytes = 512 * 1024 * 1024;

async function collect(request: ApiRequest, body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  if (body instanceof WholeBody) return body.chunk;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxAnswerBytes)
        throw new MalformedAnswerError(`${describe(request)}: the answer is longer than ${maxAnswerBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof MalformedAnswerError ? error : asConnectionError(request, error);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

function failureOf(
  settings: ExchangeSettings,
  request: ApiRequest,
  response: HttpResponse,
  body: Uint8Array,
): ApiError {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8");
  const retryAfter = parseRetryAfter(response.headers["retry-after"], settings.env.now());
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Proxies and the path router answer in plain text; the text is the message then.
  }
  return apiErrorFrom(`${request.method} ${request.target}`, response.status, parsed, retryAfter);
}

/** A transport that does not say whether a request left us is not asked to: it is taken to have arrived. */
export function asConnectionError(request: ApiRequest, error: unknown): Error {
  if (error instanceof ConnectionError || error instanceof CredentialError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ConnectionError(`${describe(request)}: ${message}`, {
    reason: "Broken",
    mayHaveBeenApplied: true,
    cause: error,
  });
}

export function describe(request: ApiRequest): string {
  const line = `${request.method} ${request.target}`;
  return request.subject === line ? line : `${request.subject}: ${line}`;
}

const codeOf = (error: unknown): string => (error instanceof ApiError ? String(error.status) : "<error>");
