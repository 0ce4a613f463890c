/**
 * An HTTP exchange as data. The client's transport and the embedded API server share this shape, so that the two can be
 * joined in one process without a socket.
 */
export interface HttpRequest {
  readonly method: string;
  /** Path and query as sent, percent-encoded: `/api/v1/pods?limit=500`. */
  readonly target: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** Aborted when the other side has gone; streams must end then. */
  readonly signal?: AbortSignal | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole bodies are one chunk; a watch is one chunk per event, flushed as it comes. */
  readonly body: AsyncIterable<Uint8Array>;
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;
