import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "node:test";
import { type Context, context, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { evaluate } from "./evaluate.ts";
import { game, manifest, provides, requires, world } from "./example-world.ts";
import { resolveGame } from "./resolution.ts";
import { traceSelections } from "./trace-selections.ts";

test("a recorded reconcile carries world, game and the number of bindings, and a span for each requirement", () => {
  const spans: { name: string; attributes: Record<string, unknown> }[] = [];
  installRecorder(spans);
  const modules = [
    manifest("clock", [provides("time.source")]),
    manifest("physics", [], [requires("time.source"), requires("a.b")]),
  ];
  const definition = game(["clock", "physics"]);
  const resolution = resolveGame(definition, (name) => modules.find(({ metadata }) => metadata.name === name));
  const subject = world();
  const decision = evaluate({ world: subject, bindings: [], game: { definition, resolution } });
  assert.ok(decision.kind === "Resolve");
  const tracer = trace.getTracer("test");
  const span = tracer.startSpan("reconcile");
  context.with(trace.setSpan(context.active(), span), () => traceSelections(subject, decision));
  assert.deepEqual(spans, [
    { name: "reconcile", attributes: { world: "anvil-sample-world", game: "anvil-sample", desiredBindings: 1 } },
    {
      name: "select provider",
      attributes: {
        consumerModule: "physics",
        capabilityId: "time.source",
        scope: "world",
        candidateCount: 1,
        chosenProvider: "clock",
      },
    },
    {
      name: "select provider",
      attributes: {
        consumerModule: "physics",
        capabilityId: "a.b",
        scope: "world",
        candidateCount: 0,
        chosenProvider: "",
      },
    },
  ]);
});

/** The smallest recording SDK that the API accepts. */
function installRecorder(spans: { name: string; attributes: Record<string, unknown> }[]): void {
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.call(self as never, ...args)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  const startSpan = (name: string, options?: { attributes?: Record<string, unknown> }): Span => {
    const recorded = { name, attributes: { ...options?.attributes } };
    spans.push(recorded);
    const span = {
      isRecording: () => true,
      setAttributes: (attributes: Record<string, unknown>) => Object.assign(recorded.attributes, attributes) && span,
      end: () => undefined,
    };
    return span as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: () => undefined as never }) });
}
