import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { findCondition } from "../../kube/condition.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import type { EventNote } from "../../runtime/events.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow } from "../../runtime/permission.ts";
import { annotationsChanged, deletionChanged, generationChanged, labelsChanged, or } from "../../runtime/predicates.ts";
import { act, type Outcome } from "./act.ts";
import { controllerName } from "./desired-bindings.ts";
import { type Decision, evaluate } from "./evaluate.ts";
import { logSelections } from "./log-selections.ts";
import { resolverMetrics } from "./metrics.ts";
import { createObserve, indexes, worldOfBinding, worldsOfGame, worldsOfModule } from "./observe.ts";
import { reduce } from "./reduce.ts";
import { traceSelections } from "./trace-selections.ts";

/** Gives every world its bindings: the controller of spec/capability-resolver.md. */
export function capabilityResolver(registry: MetricsRegistry): Controller {
  const observe = createObserve();
  const metrics = resolverMetrics(registry);
  return defineController({
    name: controllerName,
    reconciles: WorldInstance,
    predicates: [or(generationChanged, annotationsChanged, deletionChanged)],
    watches: [
      watch(GameDefinition, { map: worldsOfGame, predicates: [generationChanged] }),
      watch(ModuleManifest, { map: worldsOfModule, predicates: [generationChanged] }),
      watch(CapabilityBinding, {
        map: worldOfBinding,
        predicates: [or(generationChanged, labelsChanged, deletionChanged)],
      }),
    ],
    indexes,
    permissions: [allow(CapabilityBinding, ["create", "patch", "delete"])],
    observe: (world, { read }) => observe(world, read),
    evaluate,
    async act(decision, { object, read, write, log }) {
      if (decision.kind === "Stopped") return undefined;
      logSelections(object, decision, log);
      traceSelections(object, decision);
      const outcome = await metrics.counted(() => act(decision.plan, write));
      metrics.observe(object, decision, outcome, read);
      return outcome;
    },
    reduce: ({ object, decision, outcome, now }) => ({
      status: reduce(object, decision, now),
      events: eventsOf(object, decision, outcome),
    }),
  });
}

/** Events say what happened: a changed verdict, and bindings that were written. */
function eventsOf(world: WorldInstance, decision: Decision, outcome: Outcome | undefined): readonly EventNote[] {
  if (decision.kind === "Stopped") return [];
  const { verdict } = decision;
  const before = findCondition(world.status?.conditions, "BindingsResolved");
  const isNews = before?.reason !== verdict.bindings.reason || before.message !== verdict.bindings.message;
  const { applied = 0, removed = 0, refused = [] } = outcome ?? {};
  return [
    ...(isNews ? [{ type: verdict.event.type, reason: verdict.event.reason, message: verdict.message }] : []),
    ...(applied + removed > 0
      ? [
          {
            type: "Normal" as const,
            reason: "BindingsApplied",
            message: `${applied} bindings written, ${removed} removed`,
          },
        ]
      : []),
    ...refused.map((message) => ({
      type: "Warning" as const,
      reason: "UnresolvedBindings",
      message: `The API refused ${message}`,
    })),
  ];
}
