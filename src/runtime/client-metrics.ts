import type { ClientMetrics } from "../client/client-metrics.ts";
import type { MetricsRegistry } from "./metrics.ts";

/** The `rest_client_*` metrics, under the names that existing dashboards use; give it to `createClient`. */
export function restClientMetrics(registry: MetricsRegistry): ClientMetrics {
  const perRequest = ["verb", "host"] as const;
  const requests = registry.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, partitioned by status code, method, and host.",
    labels: ["code", "method", "host"] as const,
  });
  const duration = registry.histogram({
    name: "rest_client_request_duration_seconds",
    help: "Request latency in seconds. Broken down by verb, and host.",
    labels: perRequest,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  const limiter = registry.histogram({
    name: "rest_client_rate_limiter_duration_seconds",
    help: "Client side rate limiter latency in seconds. Broken down by verb, and host.",
    labels: perRequest,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  });
  const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
  const requestSize = registry.histogram({
    name: "rest_client_request_size_bytes",
    help: "Request size in bytes. Broken down by verb and host.",
    labels: perRequest,
    buckets: sizes,
  });
  const responseSize = registry.histogram({
    name: "rest_client_response_size_bytes",
    help: "Response size in bytes. Broken down by verb and host.",
    labels: perRequest,
    buckets: sizes,
  });
  const retries = registry.counter({
    name: "rest_client_request_retries_total",
    help: "Number of request retries, partitioned by status code, verb, and host.",
    labels: ["code", "verb", "host"] as const,
  });
  const resolution = registry.histogram({
    name: "rest_client_dns_resolution_duration_seconds",
    help: "DNS resolver latency in seconds. Broken down by host.",
    labels: ["host"] as const,
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30],
  });
  return {
    requestFinished({ method, host, code, seconds, requestBytes, responseBytes }) {
      requests.inc({ code, method, host });
      duration.observe(seconds, { verb: method, host });
      requestSize.observe(requestBytes, { verb: method, host });
      responseSize.observe(responseBytes, { verb: method, host });
    },
    requestRetried: ({ method, host, code }) => retries.inc({ code, verb: method, host }),
    requestDelayed: ({ method, host, seconds }) => limiter.observe(seconds, { verb: method, host }),
    nameResolved: ({ host, seconds }) => resolution.observe(seconds, { host }),
  };
}
