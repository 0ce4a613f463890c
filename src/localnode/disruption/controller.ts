import { Pod } from "../../api/builtin/pod.ts";
import { PodDisruptionBudget } from "../../api/builtin/scaling.ts";
import { Deployment, ReplicaSet, StatefulSet } from "../../api/builtin/workloads.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import type { Read } from "../../runtime/read.ts";
import { done, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { ownersSelecting, selection } from "../workloads/claim.ts";
import { evaluate } from "./evaluate.ts";

/** PodDisruptionBudgets: how many pods may be evicted now. The API server asks them in every eviction. */
export const disruptionController: Controller = defineReconciler({
  name: "disruption-controller",
  reconciles: PodDisruptionBudget,
  watches: [
    watch(Pod, { map: (pod, read) => ownersSelecting(read, PodDisruptionBudget, pod) }),
    watch(ReplicaSet, { map: inNamespace }),
    watch(StatefulSet, { map: inNamespace }),
  ],
  reads: [Deployment],
  objectRate: calmly,
  fieldManager: controllerManager,
  async reconcile(key, context) {
    const { read, now } = context;
    const budget = read.get(PodDisruptionBudget, key);
    if (budget === undefined) return done;
    const { namespace } = budget.metadata;
    const pods = read.list(Pod, namespace === undefined ? {} : { namespace }).filter(selection(budget.spec.selector));
    const { status, lookAgainMs } = evaluate({ budget, pods, expected: expectedPods(pods, read), now });
    const written = await writeStatus(PodDisruptionBudget, budget, status, context);
    if (written === "Outdated") return requeue;
    return lookAgainMs === undefined ? done : requeueAfter(lookAgainMs);
  },
});

function inNamespace({ metadata }: ReplicaSet | StatefulSet, read: Read): readonly ObjectKey[] {
  const { namespace } = metadata;
  if (namespace === undefined) return [];
  return read.list(PodDisruptionBudget, { namespace }).map((budget) => ({ namespace, name: budget.metadata.name }));
}

/** How many pods their controllers want together, each controller counted once. */
function expectedPods(pods: readonly Pod[], read: Read): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const { namespace = "" } = pod.metadata;
    if (owner === undefined) {
      wanted.set(pod.metadata.uid ?? "", 1);
      continue;
    }
    const key = { namespace, name: owner.name };
    if (owner.kind === "StatefulSet") wanted.set(owner.uid, read.get(StatefulSet, key)?.spec.replicas ?? 1);
    else if (owner.kind === "ReplicaSet") {
      const set = read.get(ReplicaSet, key);
      const above = set && controllerOf(set);
      const deployment =
        above?.kind === "Deployment" ? read.get(Deployment, { namespace, name: above.name }) : undefined;
      wanted.set(above?.uid ?? owner.uid, deployment?.spec.replicas ?? set?.spec.replicas ?? 1);
    } else wanted.set(pod.metadata.uid ?? "", 1);
  }
  return [...wanted.values()].reduce((sum, count) => sum + count, 0);
}
