import { Pod } from "../../api/builtin/pod.ts";
import { ReplicaSet } from "../../api/builtin/workloads.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { claim, ownersSelecting } from "../workloads/claim.ts";
import { inDeletionOrder } from "../workloads/deletion-order.ts";
import { burst, createPods, deletePods, type PodsManaged } from "../workloads/manage-pods.ts";
import { newPod } from "../workloads/new-pod.ts";
import { isPodActive, nextAvailabilityMs } from "../workloads/pod-facts.ts";
import { replicaSetStatus } from "./status.ts";

/** ReplicaSets: as many pods of one template as wanted. */
export const replicaSetController: Controller = defineReconciler({
  name: "replicaset-controller",
  reconciles: ReplicaSet,
  owns: [Pod],
  watches: [watch(Pod, { map: (pod, read) => (controllerOf(pod) ? [] : ownersSelecting(read, ReplicaSet, pod)) })],
  objectRate: calmly,
  fieldManager: controllerManager,
  permissions: [allow(Pod, ["create", "patch", "delete"])],
  reconcile,
});

async function reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
  const { read, write, now } = context;
  const set = read.get(ReplicaSet, key);
  if (set === undefined) return done;
  const owner = { kind: ReplicaSet, object: set, selector: set.spec.selector, live: context.live };
  const pods = await claim(write, owner, Pod, podsOf(read, key));
  const managed =
    set.metadata.deletionTimestamp === undefined ? await manage(set, pods, context) : ({ ok: true } as const);
  const latest = await claim(write, owner, Pod, podsOf(read, key));
  const status = replicaSetStatus(set, latest, managed, now);
  const written = await writeStatus(ReplicaSet, set, status, context);
  if (written === "Outdated") return requeue;
  if (!managed.ok) return requeue;
  const waitMs = nextAvailabilityMs(latest.filter(isPodActive), set.spec.minReadySeconds ?? 0, now);
  return waitMs === undefined ? done : requeueAfter(waitMs);
}

const podsOf = (read: ReconcileContext["read"], { namespace }: ObjectKey): readonly Pod[] =>
  read.list(Pod, namespace === undefined ? {} : { namespace });

async function manage(set: ReplicaSet, pods: readonly Pod[], context: ReconcileContext): Promise<PodsManaged> {
  const active = pods.filter(isPodActive);
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing > 0) {
    const { template } = set.spec;
    if (template === undefined) return { ok: true };
    const pod = newPod(ReplicaSet, set, template);
    return createPods(
      context,
      set,
      Array.from({ length: Math.min(missing, burst) }, () => pod),
    );
  }
  if (missing < 0) return deletePods(context, set, inDeletionOrder(active).slice(0, Math.min(-missing, burst)));
  return { ok: true };
}
