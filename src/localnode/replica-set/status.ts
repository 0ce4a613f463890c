import type { Pod } from "../../api/builtin/pod.ts";
import type { ReplicaSet } from "../../api/builtin/workloads.ts";
import { findCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { PodsManaged } from "../workloads/manage-pods.ts";
import { isPodActive, isPodAvailable, isPodFinished, isPodReady, isPodTerminating } from "../workloads/pod-facts.ts";

export type ReplicaSetStatus = NonNullable<ReplicaSet["status"]>;

type Replicated = Pick<ReplicaSet, "metadata" | "status"> & { readonly spec: Omit<ReplicaSet["spec"], "selector"> };

/** What a ReplicaSet says about its pods. */
export function replicaSetStatus(
  set: Replicated,
  pods: readonly Pod[],
  managed: PodsManaged,
  now: Date,
): ReplicaSetStatus {
  const active = pods.filter(isPodActive);
  const labels = Object.entries(set.spec.template?.metadata?.labels ?? {});
  const count = (holds: (pod: Pod) => boolean): number => active.filter(holds).length;
  const conditions = failureConditions(set, managed, now);
  return {
    replicas: active.length,
    ...some(
      "fullyLabeledReplicas",
      count(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value)),
    ),
    ...some("readyReplicas", count(isPodReady)),
    ...some(
      "availableReplicas",
      count((pod) => isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now)),
    ),
    terminatingReplicas: pods.filter((pod) => isPodTerminating(pod) && !isPodFinished(pod)).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length > 0 && { conditions }),
  };
}

function failureConditions(
  set: Pick<ReplicaSet, "status">,
  managed: PodsManaged,
  now: Date,
): NonNullable<ReplicaSetStatus["conditions"]> {
  const conditions = set.status?.conditions ?? [];
  const current = findCondition(conditions, "ReplicaFailure");
  const others = conditions.filter(({ type }) => type !== "ReplicaFailure");
  if (managed.ok) return others;
  if (current?.status === "True" && current.reason === managed.reason) return conditions;
  const { reason, message } = managed;
  return [...others, { type: "ReplicaFailure", status: "True", lastTransitionTime: formatTime(now), reason, message }];
}

const some = (name: string, count: number): Readonly<Record<string, number>> => (count === 0 ? {} : { [name]: count });
