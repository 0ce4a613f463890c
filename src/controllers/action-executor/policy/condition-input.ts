import type { Action } from "../../../api/action.ts";
import type { Condition } from "../../../kube/condition.ts";
import type { Target, TargetState } from "../actions/definition.ts";

/** The facts of a target in the words that conditions use; pure. */
export function conditionInput(
  action: Action,
  parameters: Readonly<Record<string, unknown>>,
  target: Target,
  state: TargetState,
): Readonly<Record<string, unknown>> {
  const object = state.object as Loose | undefined;
  const { spec = {}, status = {} } = object ?? {};
  const lowerKind = target.kind.kind.toLowerCase();
  return {
    action,
    parameters,
    namespace: target.namespace ?? "",
    name: target.name,
    found: object !== undefined,
    [`${lowerKind}_found`]: object !== undefined,
    ...(object !== undefined && { target: object, [lowerKind]: object }),
    related: state.related,
    current_replicas: spec.replicas ?? 1,
    target_replicas: parameters["replicas"] ?? spec.replicas ?? 1,
    additional_replicas: Number(parameters["replicas"] ?? spec.replicas ?? 1) - (spec.replicas ?? 1),
    running_pods: status.replicas ?? 0,
    updated_pods: status.updatedReplicas ?? 0,
    ready_pods: status.readyReplicas ?? 0,
    available_pods: status.availableReplicas ?? 0,
    observed: (status.observedGeneration ?? 0) >= (object?.metadata.generation ?? 0),
    conditions: Object.fromEntries(
      (status.conditions ?? []).map(({ type, status: value }) => [type, value === "True"]),
    ),
    pods: target.kind.kind === "Node" ? state.related : [],
  };
}

interface Loose {
  readonly metadata: { readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}
