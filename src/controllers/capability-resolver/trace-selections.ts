import { trace } from "@opentelemetry/api";
import type { WorldInstance } from "../../api/world-instance.ts";
import type { Decision } from "./evaluate.ts";

/** Adds to the reconcile's span what the specification asks for; costs nothing while nobody records. */
export function traceSelections(
  world: WorldInstance,
  { plan, resolution }: Extract<Decision, { kind: "Resolve" }>,
): void {
  const span = trace.getActiveSpan();
  if (!span?.isRecording()) return;
  span.setAttributes({
    world: world.metadata.name,
    game: world.spec.gameRef.name,
    desiredBindings: plan.apply.length + plan.unchanged,
  });
  const tracer = trace.getTracer("capstan");
  for (const { consumer, requirement, candidates, outcome } of resolution?.requirements ?? []) {
    const providers =
      outcome.kind === "Bound" ? outcome.providers.map(({ moduleManifestName }) => moduleManifestName) : [];
    const attributes = {
      consumerModule: consumer,
      capabilityId: requirement.capabilityId,
      scope: requirement.scope,
      candidateCount: candidates.length,
      chosenProvider: providers.join(","),
    };
    tracer.startSpan("select provider", { attributes }).end();
  }
}
