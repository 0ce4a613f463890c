import type { HorizontalPodAutoscaler } from "../../../api/builtin/scaling.ts";
import type { NfrDimension } from "../../../api/class-runtime.ts";
import { childId } from "../child-kinds.ts";
import type { ClassRuntimeSettings } from "../settings.ts";
import { heldReplicas, heldResources, type ReplicaHolder } from "./held-values.ts";
import type { EnforcementChange, Facts } from "./plan.ts";
import { cpuSize, isWorthwhile, memoryAlwaysAbove, memorySize } from "./sizes.ts";

export interface Targets {
  readonly value: number;
  /** Only those that do not have the value yet. */
  readonly holders: EnforcementChange["holders"];
}

/** Who has to change, and to what, for a recommendation to be in force. */
export function targetsOf(
  dimension: NfrDimension,
  recommended: number,
  holders: readonly ReplicaHolder[],
  { observed }: Pick<Facts, "observed">,
  bounds: ClassRuntimeSettings["enforcement"],
): Targets {
  if (dimension === "replicas") {
    const value = Math.min(Math.max(recommended, 1), bounds.maxReplicas);
    return {
      value,
      holders: holders.flatMap((holder): EnforcementChange["holders"] => {
        const current = heldReplicas(holder) ?? 0;
        const step = Math.min(Math.max(value, current - bounds.maxReplicaDelta), current + bounds.maxReplicaDelta);
        const replicas = Math.min(Math.max(1, step), maxReplicasOf(holder));
        return replicas === current ? [] : [{ holder, values: { replicas } }];
      }),
    };
  }
  const workloads = holders.flatMap((holder): readonly ReplicaHolder[] => {
    if (holder.kind !== "HorizontalPodAutoscaler") return [holder];
    const found = observed.get(childId("Deployment", holder.workload.name));
    return found ? [{ ...holder, kind: "Deployment", object: found.object }] : [];
  });
  const pods = workloads.reduce((sum, holder) => sum + (heldReplicas(holder) ?? 1), 0);
  return {
    value: recommended,
    holders: workloads.flatMap((holder): EnforcementChange["holders"] => {
      const held = heldResources(holder.object);
      if (dimension === "memory") {
        const { goalBytes, requestBytes, limitBytes } = memorySize(recommended, pods, held.memoryBytes);
        if (!isWorthwhile(held.memoryBytes, goalBytes, memoryAlwaysAbove)) return [];
        return [{ holder, values: { memoryBytes: requestBytes, memoryLimitBytes: limitBytes } }];
      }
      const { goalMillis, requestMillis } = cpuSize(recommended, pods, held.cpuMillis);
      return isWorthwhile(held.cpuMillis, goalMillis, Number.POSITIVE_INFINITY)
        ? [{ holder, values: { cpuMillis: requestMillis } }]
        : [];
    }),
  };
}

const maxReplicasOf = ({ kind, object }: ReplicaHolder): number =>
  kind === "HorizontalPodAutoscaler" ? (object as HorizontalPodAutoscaler).spec.maxReplicas : Number.MAX_SAFE_INTEGER;
