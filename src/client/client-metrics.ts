/**
 * What the client tells about its requests. The runtime turns it into the metrics that existing dashboards show; `method`
 * is the label `method` or `verb`, `host` the label `host`.
 */
export interface ClientMetrics {
  /** Each send: `rest_client_requests_total`, `…_request_duration_seconds`, `…_request_size_bytes`, `…_response_size_bytes`. */
  requestFinished?(sample: RequestSample): void;
  /** `rest_client_request_retries_total`: one more send after a failed one; the code is that of the failure. */
  requestRetried?(sample: { readonly method: string; readonly host: string; readonly code: string }): void;
  /** `rest_client_rate_limiter_duration_seconds`. */
  requestDelayed?(sample: { readonly method: string; readonly host: string; readonly seconds: number }): void;
  /** `rest_client_dns_resolution_duration_seconds`. */
  nameResolved?(sample: { readonly host: string; readonly seconds: number }): void;
}

export interface RequestSample {
  readonly method: string;
  readonly host: string;
  /** The status code, or `<error>` when there was no answer. */
  readonly code: string;
  /** Until the whole answer was there; for a stream, until its first byte could be read. */
  readonly seconds: number;
  readonly requestBytes: number;
  /** 0 for streams. */
  readonly responseBytes: number;
}
