import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpHandler } from "../../http/message.ts";
import { defineKind } from "../../kube/kind.ts";
import { integer, object, optional } from "../../kube/schema/build.ts";
import { settle } from "../../testing/eventually.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { createWorld } from "../../testing/world.ts";
import { defineController } from "../controller.ts";
import { silentLogger } from "../log.ts";
import { createManager } from "../manager.ts";
import { MetricsRegistry } from "../metrics.ts";
import { createTracing } from "../tracing.ts";
import type { OtlpSpan } from "./otlp-span.ts";
import { createOtlpTracing, type OtlpOptions } from "./otlp-tracing.ts";

interface Collector {
  readonly fetch: HttpHandler;
  readonly requests: { readonly target: string; readonly body: ExportRequest }[];
  status: number;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly unknown[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

function collector(): Collector {
  const made: Collector = {
    status: 200,
    requests: [],
    fetch: async ({ target, body }) => {
      made.requests.push({ target, body: JSON.parse(Buffer.from(body ?? []).toString()) as ExportRequest });
      return { status: made.status, headers: {}, body: (async function* () {})() };
    },
  };
  return made;
}

const service = { name: "capstan", version: "0.1.0", instance: "one" };
const spansOf = ({ requests }: Collector): OtlpSpan[] =>
  requests.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

const Widget = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  description: "A thing.",
  spec: object({ size: integer() }),
  status: object({ size: optional(integer()) }),
});

test("the way from event to reconcile to write reaches the collector in one batch", async () => {
  const world = createWorld({ kinds: [Widget] });
  const to = collector();
  const { env } = world;
  const tracing = createOtlpTracing({
    env,
    fetch: to.fetch,
    endpoint: "http://collector:4318/",
    service,
    metrics: new MetricsRegistry(),
    log: silentLogger,
  });
  const manager = createManager({ env, client: world.client, tracing: createTracing(tracing.tracer) });
  manager.add(
    defineController({
      name: "widgets",
      reconciles: Widget,
      observe: (widget) => widget.spec.size,
      evaluate: (size) => size,
      reduce: ({ decision }) => ({ status: { size: decision } }),
    }),
  );
  const start = manager.start();
  await env.flush();
  await start;
  await world.direct.create(Widget, { metadata: { name: "one", namespace: "ns" }, spec: { size: 3 } });
  await settle(env, () => manager.controllers[0]?.reconciles ?? 0);
  await env.advance(1_000);
  assert.equal(to.requests.length, 1);
  assert.equal(to.requests[0]?.target, "http://collector:4318/v1/traces");
  assert.deepEqual(to.requests[0]?.body.resourceSpans[0]?.resource.attributes[0], {
    key: "service.name",
    value: { stringValue: "capstan" },
  });
  const [event, write, reconcile] = spansOf(to);
  assert.deepEqual(
    [event?.name, write?.name, reconcile?.name],
    ["watch Widget Added", "patch widgets", "reconcile widgets"],
  );
  assert.match(event?.traceId ?? "", /^[0-9a-f]{32}$/);
  assert.match(event?.spanId ?? "", /^[0-9a-f]{16}$/);
  assert.deepEqual(
    reconcile?.links.map(({ spanId }) => spanId),
    [event?.spanId],
  );
  assert.equal(write?.parentSpanId, reconcile?.spanId);
  assert.equal(write?.traceId, reconcile?.traceId);
  assert.deepEqual([event?.kind, reconcile?.kind, write?.kind], [5, 1, 3]);
  assert.match(reconcile?.startTimeUnixNano ?? "", /^\d{18,19}$/);
  await manager.stop();
  await tracing.stop();
});

const made = (to: Collector, more: Partial<OtlpOptions> = {}) => {
  const env = manualEnv();
  const metrics = new MetricsRegistry();
  const options = { env, fetch: to.fetch, endpoint: "http://collector", service, metrics, log: silentLogger, ...more };
  return { env, metrics, ...createOtlpTracing(options) };
};

test("a collector that refuses or is away costs spans, which are counted, and nothing else", async () => {
  const to = collector();
  to.status = 503;
  const { env, metrics, tracer, stop } = made(to);
  tracer.startSpan("lost").end();
  await env.advance(1_000);
  to.status = 200;
  tracer.startSpan("kept").end();
  await stop();
  assert.deepEqual(
    spansOf(to).map(({ name }) => name),
    ["lost", "kept"],
  );
  assert.match(metrics.expose(), /capstan_trace_spans_total\{result="failed"\} 1/);
  assert.match(metrics.expose(), /capstan_trace_spans_total\{result="sent"\} 1/);
});

test("a flood fills the queue and no more", async () => {
  const to = collector();
  const { metrics, tracer, stop } = made(to);
  for (let count = 0; count < 5_000; count++) tracer.startSpan(`span ${count}`).end();
  await stop();
  assert.equal(spansOf(to).length, 4_096);
  assert.equal(to.requests.length, 8);
  assert.match(metrics.expose(), /capstan_trace_spans_total\{result="dropped"\} 904/);
});

test("what is told of a span: attributes by type, exceptions, status; nothing after its end", async () => {
  const to = collector();
  const { tracer, stop } = made(to);
  const span = tracer.startSpan("work", { attributes: { text: "a", whole: 3, part: 0.5, yes: true, list: ["x"] } });
  span.recordException(new TypeError("broken"));
  span.setStatus({ code: 2, message: "broken" });
  span.end();
  span.setAttribute("late", 1).updateName("late").end();
  await stop();
  const [told] = spansOf(to);
  assert.equal(spansOf(to).length, 1);
  assert.equal(told?.name, "work");
  assert.deepEqual(told?.attributes, [
    { key: "text", value: { stringValue: "a" } },
    { key: "whole", value: { intValue: "3" } },
    { key: "part", value: { doubleValue: 0.5 } },
    { key: "yes", value: { boolValue: true } },
    { key: "list", value: { arrayValue: { values: [{ stringValue: "x" }] } } },
  ]);
  assert.deepEqual(told?.events[0]?.attributes[0], { key: "exception.type", value: { stringValue: "TypeError" } });
  assert.deepEqual(told?.status, { code: 2, message: "broken" });
});

test("a share of the traces is recorded, and children follow their parent", async () => {
  const to = collector();
  const { tracer, stop } = made(to, { sampleRatio: 0 });
  tracer.startActiveSpan("outer", (span) => {
    assert.equal(span.isRecording(), false);
    span.end();
  });
  await stop();
  assert.equal(to.requests.length, 0);
});
