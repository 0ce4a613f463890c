import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { findCondition } from "../../kube/condition.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import type { EventNote } from "../../runtime/events.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow } from "../../runtime/permission.ts";
import {
  annotationsChanged,
  deletionChanged,
  generationChanged,
  labelsChanged,
  or,
  ownersChanged,
} from "../../runtime/predicates.ts";
import { act, type Outcome } from "./act.ts";
import { controllerName } from "./desired-bindings.ts";
import { type Decision, evaluate } from "./evaluate.ts";
import { logSelections } from "./log-selections.ts";
import { resolverMetrics } from "./metrics.ts";
import { createObserve, indexes, worldOfBinding, worldsOfGame, worldsOfModule } from "./observe.ts";
import { reduce } from "./reduce.ts";
import { traceSelections } from "./trace-selections.ts";
import { afterRefusals } from "./verdict.ts";

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
        predicates: [or(generationChanged, labelsChanged, ownersChanged, deletionChanged)],
      }),
    ],
    indexes,
    permissions: [allow(CapabilityBinding, ["create", "patch", "delete"])],
    observe: (world, { read }) => observe(world, read),
    evaluate,
    async act(decision, { object, read, write, log }) {
      if (decision.kind === "Stopped") return metrics.counted(async () => undefined);
      logSelections(object, decision, log);
      traceSelections(object, decision);
      const outcome = await metrics.counted(() => act(decision.plan, write));
      metrics.observe(object, decision, outcome, read);
      return outcome;
    },
    reduce: ({ object, decision, outcome, now }) => {
      const status = reduce(object, decision, now, outcome);
      return {
        status,
        events: eventsOf(object, status, decision, outcome),
        ...(outcome && outcome.refused.length > 0 && { requeueAfterMs: askAgainAfterMs }),
      };
    },
  });
}

/** What the API refused today it may take later, and nothing else would tell. */
const askAgainAfterMs = 30_000;

/** Events say what happened: a changed verdict, a newer provider that is not taken, and bindings that were written. */
export function eventsOf(
  world: WorldInstance,
  status: NonNullable<WorldInstance["status"]>,
  decision: Decision,
  outcome: Outcome | undefined,
): readonly EventNote[] {
  if (decision.kind === "Stopped") return [];
  const { applied = 0, removed = 0, refused = [] } = outcome ?? {};
  const { event } = afterRefusals(decision.verdict, refused);
  const isNews = (type: string): boolean => {
    const [before, after] = [world.status, status].map((each) => findCondition(each?.conditions, type));
    return before?.reason !== after?.reason || before?.message !== after?.message;
  };
  const frozen = findCondition(status.conditions, "BindingsFrozen");
  return [
    ...(isNews("BindingsResolved") ? [{ ...event, message: status.message ?? "" }] : []),
    ...(frozen?.reason === "NewerProviderAvailable" && isNews("BindingsFrozen")
      ? [{ type: "Normal" as const, reason: frozen.reason, message: frozen.message ?? "" }]
      : []),
    ...(applied + removed > 0
      ? [
          {
            type: "Normal" as const,
            reason: "BindingsApplied",
            message: `${applied} bindings written, ${removed} removed`,
          },
        ]
      : []),
  ];
}
