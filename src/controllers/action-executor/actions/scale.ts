import type { KubeObject } from "../../../kube/object.ts";
import type { Plan, Rollback } from "./definition.ts";

/** What the actions that change a number of pods have in common. */
export interface Scalable extends KubeObject {
  readonly spec: { readonly replicas?: number };
}

/** A workload without a number has one pod. */
export const replicasOf = ({ spec }: Scalable): number => spec.replicas ?? 1;

export function scalePlan(object: Scalable | undefined, replicas: number): Plan {
  const before = object && replicasOf(object);
  return {
    effects: [{ kind: "Patch", patch: { type: "merge", value: { spec: { replicas } } } }],
    verb: "scaled",
    ...(before !== undefined && { before: `replicas: ${before}`, replicasChanged: `${before} -> ${replicas}` }),
    after: `replicas: ${replicas}`,
  };
}

export const rollbackTimes = (duration: string): Pick<Rollback, "estimatedDuration" | "estimatedRollbackDuration"> => ({
  estimatedDuration: duration,
  estimatedRollbackDuration: duration,
});
