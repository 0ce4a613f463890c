import { Pod } from "../../api/builtin/pod.ts";
import { ReplicaSet, ReplicationController } from "../../api/builtin/workloads.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { LabelSelector } from "../../kube/label-selector.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { claim, selects } from "../workloads/claim.ts";
import { inDeletionOrder } from "../workloads/deletion-order.ts";
import { burst, createPods, deletePods, type PodsManaged } from "../workloads/manage-pods.ts";
import { newPod } from "../workloads/new-pod.ts";
import { isPodActive, nextAvailabilityMs } from "../workloads/pod-facts.ts";
import { roomInQuotas } from "../workloads/quota-room.ts";
import { type ReplicaSetStatus, replicaSetStatus } from "./status.ts";

/** ReplicaSets: as many pods of one template as wanted. */
export const replicaSetController: Controller = keepReplicas({
  name: "replicaset-controller",
  kind: ReplicaSet,
  selectorOf: ({ spec }) => spec.selector,
  statusOf: (status) => status,
});

/** ReplicationControllers, which came before them: the same, chosen by plain labels. */
export const replicationController: Controller = keepReplicas({
  name: "replication-controller",
  kind: ReplicationController,
  selectorOf: ({ spec }) => ({ matchLabels: spec.selector ?? {} }),
  statusOf: ({ terminatingReplicas: _, ...status }) => status,
});

type Replicated = KubeObject & Pick<ReplicaSet, "status"> & { readonly spec: Omit<ReplicaSet["spec"], "selector"> };

interface Keeper<T extends Replicated> {
  readonly name: string;
  readonly kind: KindRef<T> & { readonly statusSubresource?: boolean };
  selectorOf(set: T): LabelSelector;
  /** What of the status this kind knows. */
  statusOf(status: ReplicaSetStatus): unknown;
}

function keepReplicas<T extends Replicated>(keeper: Keeper<T>): Controller {
  const { name, kind, selectorOf } = keeper;
  const adopters = (pod: Pod, read: Read): readonly ObjectKey[] => {
    const { namespace } = pod.metadata;
    if (namespace === undefined || controllerOf(pod)) return [];
    const owners = read.list(kind, { namespace }).filter((set) => selects(selectorOf(set), pod));
    return owners.map(({ metadata }) => ({ namespace, name: metadata.name }));
  };
  return defineReconciler({
    name,
    reconciles: kind,
    owns: [Pod],
    watches: [watch(Pod, { map: adopters }), roomInQuotas(kind)],
    objectRate: calmly,
    fieldManager: controllerManager,
    permissions: [allow(Pod, ["create", "patch", "delete"])],
    reconcile: (key, context) => reconcile(keeper, key, context),
  });
}

async function reconcile<T extends Replicated>(
  { kind, selectorOf, statusOf }: Keeper<T>,
  key: ObjectKey,
  context: ReconcileContext,
): Promise<Result> {
  const { read, write, now } = context;
  const set = read.get(kind, key);
  if (set === undefined) return done;
  const owner = { kind, object: set, selector: selectorOf(set), live: context.live };
  const pods = await claim(write, owner, Pod, podsOf(read, key));
  const managed =
    set.metadata.deletionTimestamp === undefined ? await manage(kind, set, pods, context) : ({ ok: true } as const);
  const latest = await claim(write, owner, Pod, podsOf(read, key));
  const status = statusOf(replicaSetStatus(set, latest, managed, now));
  const written = await writeStatus(kind, set, status, context);
  if (written === "Outdated") return requeue;
  if (!managed.ok) return requeue;
  const waitMs = nextAvailabilityMs(latest.filter(isPodActive), set.spec.minReadySeconds ?? 0, now);
  return waitMs === undefined ? done : requeueAfter(waitMs);
}

const podsOf = (read: Read, { namespace }: ObjectKey): readonly Pod[] =>
  read.list(Pod, namespace === undefined ? {} : { namespace });

async function manage(
  kind: KindRef,
  set: Replicated,
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<PodsManaged> {
  const active = pods.filter(isPodActive);
  const missing = (set.spec.replicas ?? 1) - active.length;
  if (missing > 0) {
    const { template } = set.spec;
    if (template === undefined) return { ok: true };
    const pod = newPod(kind, set, template);
    return createPods(
      context,
      set,
      Array.from({ length: Math.min(missing, burst) }, () => pod),
    );
  }
  if (missing < 0) return deletePods(context, set, inDeletionOrder(active).slice(0, Math.min(-missing, burst)));
  return { ok: true };
}
