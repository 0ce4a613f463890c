import { Namespace, Node } from "../../api/builtin/cluster.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { isConflict, isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow, type Permission } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, type Result } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { scheduler } from "../identity.ts";
import { byNode, podNodeIndex } from "../pod/pod-index.ts";
import { parseSimulation, simulateAnnotation } from "../pod/simulate.ts";
import { claimNamesOf } from "../storage/claims.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";
import { BoundPods } from "./bound-pods.ts";
import { wantsNode } from "./node-affinity.ts";
import { type Placement, podAffinityObjection } from "./pod-affinity.ts";
import { tolerates } from "./tolerate.ts";

/**
 * Gives pods to a node that will have them; with one node the only question is whether it does. How much pods ask for is
 * not a question: containers that are stood in for use nothing, and a manifest made for large machines comes alive too.
 */
export function schedulerController(client: Client, maxPods: number): Controller {
  const bound = new BoundPods();
  return defineReconciler({
    name: "default-scheduler",
    reconciles: Pod,
    predicates: [({ object }) => isUnscheduled(object)],
    watches: [
      watch(Node, {
        map: (_node, read) => waiting(read),
      }),
      watch(PersistentVolumeClaim, {
        map: ({ metadata }, read) => waiting(read).filter(({ namespace }) => namespace === metadata.namespace),
      }),
      // A pod that ends makes room for one that waits.
      watch(Pod, {
        predicates: [
          ({ kind, object }) => object.spec.nodeName !== undefined && (kind === "Deleted" || isPodFinished(object)),
        ],
        map: (_pod, read) => waiting(read),
      }),
      // And one that has come to a node may be what others wanted to be near to.
      watch(Pod, {
        predicates: [(change) => change.kind === "Updated" && isPlaced(change.object) && !isPlaced(change.old)],
        map: () => bound.wantedNear(),
      }),
    ],
    reads: [Namespace],
    indexes: [byNode],
    fieldManager: scheduler,
    permissions: [allow(Pod, ["patch"], "status"), bindingPermission],
    async reconcile(key, context) {
      const pod = context.read.get(Pod, key);
      bound.forget(key);
      if (pod === undefined || !isUnscheduled(pod)) return done;
      const nodes = context.read.list(Node);
      const claims = claimObjection(pod, context);
      if (claims !== undefined) {
        return reportUnschedulable(pod, `0/${nodes.length} nodes are available: ${claims}.`, context);
      }
      const placement = placementOf(nodes, bound, context.read);
      const objections = nodes.map((node) => objectionOf(pod, node, placement, maxPods));
      const node = nodes[objections.indexOf(undefined)];
      if (node === undefined) {
        if (pod.spec.affinity !== undefined) bound.wantNear(key);
        return reportUnschedulable(pod, unschedulableMessage(objections), context);
      }
      bound.add(pod, node.metadata.name);
      if (!(await bind(client, pod, node, context))) bound.drop(pod);
      return done;
    },
  });
}

const waiting = (read: Read): readonly ObjectKey[] =>
  read
    .byIndex(Pod, podNodeIndex, "")
    .filter(isUnscheduled)
    .map(({ metadata }) => keyOf(metadata));

const bindingPermission: Permission = { group: "", resource: "pods/binding", verbs: ["create"] };

const isUnscheduled = (pod: Pod): boolean => {
  const {
    nodeName,
    schedulerName = "default-scheduler",
    schedulingGates = [],
  } = pod.spec as Pod["spec"] & {
    readonly schedulerName?: string;
    readonly schedulingGates?: readonly unknown[];
  };
  return (
    !nodeName &&
    schedulerName === "default-scheduler" &&
    schedulingGates.length === 0 &&
    pod.metadata.deletionTimestamp === undefined &&
    !isPodFinished(pod)
  );
};

const isPlaced = ({ spec }: Pod): boolean => spec.nodeName !== undefined && spec.nodeName !== "";

/** As it is now; every rule of one decision sees the same. */
function placementOf(nodes: readonly Node[], bound: BoundPods, read: Read): Placement {
  const known = new Map<string, readonly Pod[]>();
  return {
    nodes,
    podsOn(node) {
      const pods = known.get(node) ?? bound.on(node, read).filter((pod) => !isPodFinished(pod));
      known.set(node, pods);
      return pods;
    },
    namespaceLabels: (name) => read.get(Namespace, { name })?.metadata.labels,
  };
}

type Rule = (pod: Pod, node: Node, placement: Placement) => string | undefined;

/** The first objection is the reason; the words are the ones that people search for. */
const rules: readonly Rule[] = [
  (_pod, node) => (isConditionTrue(node.status?.conditions, "Ready") ? undefined : "node(s) were not ready"),
  (pod, node) =>
    node.spec.unschedulable &&
    !tolerates(pod.spec.tolerations, { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" })
      ? "node(s) were unschedulable"
      : undefined,
  (pod, node) => {
    const taint = (node.spec.taints ?? []).find(
      (one) => one.effect !== "PreferNoSchedule" && !tolerates(pod.spec.tolerations, one),
    );
    return taint && `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`;
  },
  (pod, node) => (wantsNode(pod.spec, node) ? undefined : "node(s) didn't match Pod's node affinity/selector"),
  (pod) => {
    const simulation = parseSimulation(pod.metadata.annotations?.[simulateAnnotation]);
    const lacking = simulation.ok ? simulation.value.unschedulable : undefined;
    return lacking && `Insufficient ${lacking}`;
  },
  podAffinityObjection,
];

function objectionOf(pod: Pod, node: Node, placement: Placement, maxPods: number): string | undefined {
  for (const rule of rules) {
    const objection = rule(pod, node, placement);
    if (objection !== undefined) return objection;
  }
  return placement.podsOn(node.metadata.name).length >= maxPods ? "Too many pods" : undefined;
}

/** A pod waits for its claims wherever it would run. */
function claimObjection(pod: Pod, { read }: ReconcileContext): string | undefined {
  const { namespace } = pod.metadata;
  for (const name of claimNamesOf(pod)) {
    const claim = read.get(PersistentVolumeClaim, namespace === undefined ? { name } : { namespace, name });
    if (claim === undefined) return `persistentvolumeclaim ${JSON.stringify(name)} not found`;
    if (claim.metadata.deletionTimestamp !== undefined) {
      return `persistentvolumeclaim ${JSON.stringify(name)} is being deleted`;
    }
    if (claim.status?.phase !== "Bound") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return undefined;
}

/** Answers whether the pod is there now. */
async function bind(client: Client, pod: Pod, node: Node, { events, signal }: ReconcileContext): Promise<boolean> {
  const { namespace, name, uid } = pod.metadata;
  const target = { apiVersion: "v1", kind: "Node", name: node.metadata.name };
  const body = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
  try {
    await client.raw({ method: "POST", target: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body, signal });
  } catch (error) {
    // Gone, or bound by somebody else meanwhile: nothing is left to do.
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
  const message = `Successfully assigned ${namespace}/${name} to ${node.metadata.name}`;
  events.record(pod, { type: "Normal", reason: "Scheduled", message });
  return true;
}

function unschedulableMessage(objections: readonly (string | undefined)[]): string {
  if (objections.length === 0) return "no nodes available to schedule pods";
  const counts = new Map<string, number>();
  for (const objection of objections) if (objection) counts.set(objection, (counts.get(objection) ?? 0) + 1);
  const why = [...counts].map(([objection, count]) => `${count} ${objection}`).join(", ");
  return `0/${objections.length} nodes are available: ${why}.`;
}

async function reportUnschedulable(pod: Pod, message: string, context: ReconcileContext): Promise<Result> {
  const before = findCondition(pod.status?.conditions, "PodScheduled");
  if (before?.status === "False" && before.message === message) return done;
  const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== "PodScheduled");
  const lastTransitionTime =
    (before?.status === "False" ? before.lastTransitionTime : undefined) ?? formatTime(context.now);
  const condition = {
    type: "PodScheduled",
    status: "False" as const,
    reason: "Unschedulable",
    message,
    lastTransitionTime,
  };
  await writeStatus(Pod, pod, { ...pod.status, conditions: [...others, condition] }, context);
  context.events.record(pod, { type: "Warning", reason: "FailedScheduling", message });
  return done;
}

const keyOf = ({ namespace, name }: ObjectKey): ObjectKey => (namespace === undefined ? { name } : { namespace, name });
