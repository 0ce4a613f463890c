import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { restClientMetrics } from "./client-metrics.ts";
import { MetricsRegistry } from "./metrics.ts";

describe("metrics", () => {
  test("counters, gauges and histograms in the text format, sorted, with labels escaped", () => {
    const registry = new MetricsRegistry();
    const requests = registry.counter({
      name: "b_requests_total",
      help: "All\nrequests \\ here",
      labels: ["path", "code"],
    });
    requests.inc({ path: 'a"b\\c\nd', code: "200" });
    requests.add(2, { path: "/", code: "404" });
    registry.gauge({ name: "a_temperature", help: "Now" }).set(-1.5);
    const times = registry.histogram({ name: "c_seconds", help: "Time", buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 7]) times.observe(value);
    assert.equal(
      registry.expose(),
      [
        "# HELP a_temperature Now",
        "# TYPE a_temperature gauge",
        "a_temperature -1.5",
        "# HELP b_requests_total All\\nrequests \\\\ here",
        "# TYPE b_requests_total counter",
        'b_requests_total{path="/",code="404"} 2',
        'b_requests_total{path="a\\"b\\\\c\\nd",code="200"} 1',
        "# HELP c_seconds Time",
        "# TYPE c_seconds histogram",
        'c_seconds_bucket{le="0.1"} 2',
        'c_seconds_bucket{le="1"} 3',
        'c_seconds_bucket{le="+Inf"} 4',
        "c_seconds_sum 7.65",
        "c_seconds_count 4",
        "",
      ].join("\n"),
    );
  });

  test("the same name gives the same metric; another shape under it is a mistake", () => {
    const registry = new MetricsRegistry();
    registry.counter({ name: "x_total", help: "x" }).inc();
    registry.counter({ name: "x_total", help: "x" }).inc();
    assert.equal(registry.counter({ name: "x_total", help: "x" }).get(), 2);
    assert.throws(() => registry.gauge({ name: "x_total", help: "x" }), /already registered/);
    assert.throws(() => registry.counter({ name: "x_total", help: "x", labels: ["a"] }), /already registered/);
    assert.throws(() => registry.counter({ name: "x total", help: "x" }), /invalid metric name/);
    assert.throws(() => registry.counter({ name: "y_total", help: "x", labels: ["a-b"] }), /invalid label name/);
    assert.throws(() => registry.counter({ name: "x_total", help: "x" }).add(-1), /never goes down/);
  });

  test("special numbers are written as Prometheus reads them", () => {
    const registry = new MetricsRegistry();
    const gauge = registry.gauge({ name: "g", help: "g", labels: ["n"] });
    gauge.set(Number.POSITIVE_INFINITY, { n: "1" });
    gauge.set(Number.NEGATIVE_INFINITY, { n: "2" });
    gauge.set(Number.NaN, { n: "3" });
    assert.deepEqual(registry.expose().split("\n").slice(2, 5), ['g{n="1"} +Inf', 'g{n="2"} -Inf', 'g{n="3"} NaN']);
  });

  test("values that are computed when somebody looks", () => {
    const registry = new MetricsRegistry();
    const gauge = registry.gauge({ name: "g", help: "g" });
    let value = 1;
    const stop = registry.onCollect(() => gauge.set(value++));
    assert.ok(registry.expose().endsWith("g 1\n"));
    assert.ok(registry.expose().endsWith("g 2\n"));
    stop();
    assert.ok(registry.expose().endsWith("g 2\n"));
  });

  test("the client's requests become the rest_client metrics", () => {
    const registry = new MetricsRegistry();
    const metrics = restClientMetrics(registry);
    metrics.requestFinished?.({
      method: "GET",
      host: "api:6443",
      code: "200",
      seconds: 0.2,
      requestBytes: 0,
      responseBytes: 900,
    });
    metrics.requestRetried?.({ method: "GET", host: "api:6443", code: "429" });
    metrics.requestDelayed?.({ method: "GET", host: "api:6443", seconds: 0 });
    metrics.nameResolved?.({ host: "api:6443", seconds: 0.01 });
    const text = registry.expose();
    for (const line of [
      'rest_client_requests_total{code="200",method="GET",host="api:6443"} 1',
      'rest_client_request_duration_seconds_sum{verb="GET",host="api:6443"} 0.2',
      'rest_client_request_size_bytes_count{verb="GET",host="api:6443"} 1',
      'rest_client_response_size_bytes_sum{verb="GET",host="api:6443"} 900',
      'rest_client_request_retries_total{code="429",verb="GET",host="api:6443"} 1',
      'rest_client_rate_limiter_duration_seconds_count{verb="GET",host="api:6443"} 1',
      'rest_client_dns_resolution_duration_seconds_count{host="api:6443"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
  });
});
