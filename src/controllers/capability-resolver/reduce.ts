import type { WorldInstance } from "../../api/world-instance.ts";
import { type ConditionState, removeCondition, setCondition } from "../../kube/condition.ts";
import type { Outcome } from "./act.ts";
import type { Decision } from "./evaluate.ts";
import { afterRefusals } from "./verdict.ts";

type WorldStatus = NonNullable<WorldInstance["status"]>;

/** The world's new status. Fields and conditions of other writers stay. */
export function reduce(world: WorldInstance, decision: Decision, now: Date, outcome?: Outcome): WorldStatus {
  const observedGeneration = world.metadata.generation;
  const old = world.status ?? {};
  if (decision.kind === "Stopped") {
    return {
      ...old,
      ...generation(observedGeneration),
      phase: "Stopped",
      message: "Stopped: bindings are kept as they were",
    };
  }
  const { plan, frozen } = decision;
  const verdict = afterRefusals(decision.verdict, outcome?.refused ?? []);
  const taken = plan.taken.length > 0 ? `; not ours and left alone: ${plan.taken.join(", ")}` : "";
  const state = (type: string, resolved: boolean, reason: string, message: string): ConditionState => ({
    type,
    status: resolved ? "True" : "False",
    reason,
    message,
    ...generation(observedGeneration),
  });
  let conditions = setCondition(
    old.conditions,
    state("ModulesResolved", verdict.modules.resolved, verdict.modules.reason, verdict.modules.message),
    now,
  );
  conditions = setCondition(
    conditions,
    state("BindingsResolved", verdict.bindings.resolved, verdict.bindings.reason, verdict.bindings.message),
    now,
  );
  conditions = frozen
    ? setCondition(conditions, frozenState(frozen.waiting, state), now)
    : removeCondition(conditions, "BindingsFrozen");
  return {
    ...old,
    ...generation(observedGeneration),
    phase: verdict.phase,
    message: `${verdict.message}${taken}`,
    conditions,
  };
}

function frozenState(
  waiting: readonly string[],
  state: (type: string, resolved: boolean, reason: string, message: string) => ConditionState,
): ConditionState {
  return waiting.length > 0
    ? state("BindingsFrozen", true, "NewerProviderAvailable", waiting.join("; "))
    : state("BindingsFrozen", true, "UpToDate", "Frozen; the world would take the same providers if it were not");
}

const generation = (observedGeneration: number | undefined): { readonly observedGeneration?: number } =>
  observedGeneration === undefined ? {} : { observedGeneration };
