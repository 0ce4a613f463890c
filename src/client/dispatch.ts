import type { Dispatcher, Pool } from "undici";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { ConnectionError, type ConnectionReason } from "./connection-error.ts";
import { codeOf, reasonOf } from "./connector.ts";

/** One exchange on a pool of connections: resolves with the head of the answer; the body comes as it is read. */
export function dispatch(
  pool: Pool,
  request: HttpRequest,
  path: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted) return reject(signal.reason);
    const exchange = new Exchange(request, resolve, reject);
    const options: Dispatcher.DispatchOptions = {
      path,
      method: request.method,
      headers: headers as Record<string, string | string[]>,
      body: request.body ?? null,
    };
    pool.dispatch(options, exchange);
  });
}

/** Bytes that wait for a slow reader before the server is told to pause. */
const maxWaitingBytes = 512 * 1024;

type State = "Waiting" | "Open" | "Over";

class Exchange implements Dispatcher.DispatchHandler, AsyncIterator<Uint8Array, undefined> {
  readonly #request: HttpRequest;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #state: State = "Waiting";
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #failure: { readonly error: unknown } | undefined;
  #reader: PromiseWithResolvers<IteratorResult<Uint8Array, undefined>> | undefined;
  readonly #onAbort = (): void => this.#end({ error: this.#request.signal?.reason });

  constructor(request: HttpRequest, resolve: (response: HttpResponse) => void, reject: (reason: unknown) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Given up while it was waiting for a connection: it must not be sent any more.
    if (this.#state === "Over") controller.abort(new Error("given up by the caller"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200 || this.#state !== "Waiting") return;
    this.#state = "Open";
    this.#resolve({ status, headers: flatten(headers), body: { [Symbol.asyncIterator]: () => this } });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#reader) {
      this.#reader.resolve({ done: false, value: chunk });
      this.#reader = undefined;
      return;
    }
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > maxWaitingBytes) controller.pause();
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error: asConnectionError(this.#request, error) });
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#waitingBytes -= chunk.length;
      if (this.#controller?.paused && this.#waitingBytes <= maxWaitingBytes / 2) this.#controller.resume();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#failure) return Promise.reject(this.#failure.error);
    if (this.#state === "Over") return Promise.resolve({ done: true, value: undefined });
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  /** The reader wants no more: the rest is not worth waiting for, so the connection is given up with it. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#end(undefined);
    return { done: true, value: undefined };
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (this.#state === "Over") return;
    const wasWaiting = this.#state === "Waiting";
    this.#state = "Over";
    this.#failure = failure;
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
    if (wasWaiting) this.#reject(failure?.error);
    else if (failure) this.#reader?.reject(failure.error);
    else this.#reader?.resolve({ done: true, value: undefined });
    this.#reader = undefined;
    // Before the end of the answer this closes the connection; after it there is no controller left.
    if (this.#controller && !this.#controller.aborted) this.#controller.abort(new Error("given up by the caller"));
  }
}

function asConnectionError(request: HttpRequest, error: Error): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const code = codeOf(error);
  const reason: ConnectionReason = reasonOf(code) === "TlsRejected" ? "TlsRejected" : "Broken";
  return new ConnectionError(`${request.method} ${request.target}: ${error.message}`, {
    reason,
    // With TLS 1.3 the server judges our certificate after the handshake, but before it reads a request.
    mayHaveBeenApplied: reason !== "TlsRejected",
    cause: error,
  });
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === "string" ? value : value.join(", ");
  }
  return flat;
}
