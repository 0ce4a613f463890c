import { Pod } from "../../api/builtin/pod.ts";
import { Deployment, ReplicaSet } from "../../api/builtin/workloads.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue, requeueAfter } from "../../runtime/result.ts";
import { mergeDifference, writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { calmly } from "../workloads/calmly.ts";
import { claim, ownersSelecting } from "../workloads/claim.ts";
import { isNamespaceLeaving } from "../workloads/manage-pods.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";
import { type DeploymentDecision, evaluate } from "./evaluate.ts";
import { revisionAnnotation } from "./names.ts";
import { hasTemplateOf } from "./revisions.ts";
import { stuckInMs } from "./status.ts";

/** Deployments: a ReplicaSet per template, and a way from one to the next. */
export const deploymentController: Controller = defineReconciler({
  name: "deployment-controller",
  reconciles: Deployment,
  owns: [ReplicaSet],
  watches: [
    // A Deployment that recreates waits for the last old pod to end, which no ReplicaSet tells.
    watch(Pod, {
      predicates: [({ kind, object }) => kind === "Deleted" || isPodFinished(object)],
      map: (pod, read) => deploymentOf(pod, read),
    }),
    watch(ReplicaSet, { map: (set, read) => (controllerOf(set) ? [] : ownersSelecting(read, Deployment, set)) }),
  ],
  objectRate: calmly,
  fieldManager: controllerManager,
  permissions: [allow(Deployment, ["patch"]), allow(ReplicaSet, ["create", "patch", "delete"])],
  reconcile,
});

async function reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
  const { read, write, now } = context;
  const deployment = read.get(Deployment, key);
  if (deployment === undefined) return done;
  const { namespace } = deployment.metadata;
  const sets = await claim(
    write,
    { kind: Deployment, object: deployment, selector: deployment.spec.selector, live: context.live },
    ReplicaSet,
    read.list(ReplicaSet, namespace === undefined ? {} : { namespace }),
  );
  const setsWithPods = new Set(
    sets
      .filter((set) => read.owned(Pod, set).some((pod) => !isPodFinished(pod)))
      .map(({ metadata }) => metadata.uid ?? ""),
  );
  const decision = evaluate({ deployment, sets, setsWithPods, now });
  if (!(await carryOut(deployment, decision, context))) return requeue;
  if (!(await report(deployment, decision, context))) return requeue;
  const waitMs = stuckInMs(deployment, decision.status, now);
  return waitMs === undefined ? done : requeueAfter(waitMs);
}

/** False when somebody else was faster; everything is looked at again then. */
async function carryOut(
  deployment: Deployment,
  { draft }: DeploymentDecision,
  context: ReconcileContext,
): Promise<boolean> {
  const { write, events } = context;
  for (const set of draft.created) {
    const made = await write.create(ReplicaSet, set);
    if (made.ok) continue;
    if (isNamespaceLeaving(made)) return true;
    if (made.reason === "AlreadyExists") return avoidCollision(deployment, set, context);
    if (made.reason === "Forbidden" || made.reason === "Invalid") {
      events.record(deployment, {
        type: "Warning",
        reason: "ReplicaSetCreateError",
        message: `Failed to create new replica set "${set.metadata.name}": ${made.message}`,
      });
    }
    throw new Error(`cannot create ReplicaSet ${set.metadata.name}: ${made.reason}: ${made.message}`);
  }
  for (const { after } of draft.changed) {
    const { uid, resourceVersion, annotations } = after.metadata;
    const { replicas, minReadySeconds } = after.spec;
    const value = {
      metadata: { uid, resourceVersion, annotations },
      spec: { replicas, ...(minReadySeconds !== undefined && { minReadySeconds }) },
    };
    const changed = await write.patch(ReplicaSet, after.metadata, { type: "merge", value });
    if (!changed.ok) return false;
  }
  for (const set of draft.doomed) await write.delete(ReplicaSet, set, { propagationPolicy: "Background" });
  for (const note of draft.events) events.record(deployment, note);
  return true;
}

/** The revision goes with the status: written as a change of the object, it would count as a new generation of it. */
async function report(
  deployment: Deployment,
  { status, revision }: DeploymentDecision,
  { write }: ReconcileContext,
): Promise<boolean> {
  const { uid, resourceVersion, annotations } = deployment.metadata;
  const isMarked = revision === undefined || annotations?.[revisionAnnotation] === revision;
  const difference = mergeDifference(deployment.status ?? {}, status);
  if (isMarked && difference === undefined) return true;
  const value = {
    metadata: { uid, resourceVersion, ...(!isMarked && { annotations: { [revisionAnnotation]: revision } }) },
    status: difference ?? {},
  };
  const written = await write.patch(
    Deployment,
    deployment.metadata,
    { type: "merge", value },
    { subresource: "status" },
  );
  if (written.ok || written.reason === "NotFound") return true;
  if (written.reason === "Conflict") return false;
  throw new Error(`cannot write the status of Deployment ${deployment.metadata.name}: ${written.message}`);
}

/** Another set has the name that our hash gives: it may be ours after all, otherwise the next hash is tried. */
async function avoidCollision(deployment: Deployment, wanted: ReplicaSet, context: ReconcileContext): Promise<boolean> {
  const found = await context.live.get(ReplicaSet, wanted.metadata);
  const isOurs = controllerOf(found)?.uid === deployment.metadata.uid && hasTemplateOf(found, deployment);
  if (isOurs) return false;
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await writeStatus(Deployment, deployment, { ...deployment.status, collisionCount }, context);
  return false;
}

function deploymentOf(pod: Pod, read: ReconcileContext["read"]): readonly ObjectKey[] {
  const owner = controllerOf(pod);
  if (owner?.kind !== "ReplicaSet") return [];
  const set = read.get(ReplicaSet, inNamespace(pod, owner.name));
  const deployment = set && controllerOf(set);
  if (set === undefined || deployment?.kind !== "Deployment") return [];
  const found = read.get(Deployment, inNamespace(pod, deployment.name));
  return found?.spec.strategy?.type === "Recreate" ? [inNamespace(pod, deployment.name)] : [];
}

const inNamespace = ({ metadata: { namespace } }: KubeObject, name: string): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };
