import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, Link, Span, SpanContext, SpanOptions, Tracer } from "@opentelemetry/api";
import { trace } from "@opentelemetry/api";
import { defineKind } from "../kube/kind.ts";
import { integer, object, optional } from "../kube/schema/build.ts";
import { settle } from "../testing/eventually.ts";
import { createWorld } from "../testing/world.ts";
import { defineController } from "./controller.ts";
import { createManager } from "./manager.ts";
import { createTracing } from "./tracing.ts";

interface Recorded {
  readonly name: string;
  readonly spanContext: SpanContext;
  readonly parent: string | undefined;
  readonly links: readonly string[];
  ended: boolean;
  failed: boolean;
}

/** What an SDK would do, as far as these tests look. */
function recordingTracer(): { readonly tracer: Tracer; readonly spans: Recorded[] } {
  const spans: Recorded[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, parent?: Context): Span => {
    const spanId = String(spans.length + 1).padStart(16, "0");
    const recorded: Recorded = {
      name,
      spanContext: { traceId: "1".repeat(32), spanId, traceFlags: 1 },
      parent: parent === undefined ? undefined : trace.getSpanContext(parent)?.spanId,
      links: (options.links ?? []).map((link: Link) => link.context.spanId),
      ended: false,
      failed: false,
    };
    spans.push(recorded);
    const span: Partial<Span> = {
      spanContext: () => recorded.spanContext,
      end: () => {
        recorded.ended = true;
      },
      recordException: () => {
        recorded.failed = true;
      },
      setStatus: () => span as Span,
    };
    return span as Span;
  };
  return { tracer: { startSpan } as Tracer, spans };
}

const Widget = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  description: "A thing.",
  spec: object({ size: integer() }),
  status: object({ size: optional(integer()) }),
});

test("an event, the reconcile that it caused and the write inside belong together", async () => {
  const world = createWorld({ kinds: [Widget] });
  const { tracer, spans } = recordingTracer();
  const manager = createManager({ env: world.env, client: world.client, tracing: createTracing(tracer) });
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
  await world.env.flush();
  await start;
  await world.direct.create(Widget, { metadata: { name: "one", namespace: "ns" }, spec: { size: 3 } });
  await settle(world.env, () => spans.length);
  const [event, reconcile, write] = spans;
  assert.deepEqual(
    spans.map(({ name }) => name),
    ["watch Widget Added", "reconcile widgets", "patch widgets"],
  );
  assert.deepEqual(reconcile?.links, [event?.spanContext.spanId]);
  assert.equal(write?.parent, reconcile?.spanContext.spanId);
  assert.ok(spans.every(({ ended }) => ended));
  world.faults.add({
    when: ({ isWrite }) => isWrite,
    times: 100,
    fault: { kind: "Answer", code: 403, reason: "Forbidden" },
  });
  await world.direct.patch(Widget, { name: "one", namespace: "ns" }, { type: "merge", value: { spec: { size: 4 } } });
  await world.env.advance(5);
  assert.ok(
    spans.some(({ name, failed }) => name === "reconcile widgets" && failed),
    "a failed reconcile is marked",
  );
  await manager.stop();
});
