import { Node } from "../../api/builtin/cluster.ts";
import { Lease } from "../../api/builtin/lease.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { ownerReference } from "../../kube/owner-reference.ts";
import { formatMicroTime, formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, type ReconcileContext } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeueAfter } from "../../runtime/result.ts";
import { kubelet } from "../identity.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import { nodeChanged } from "./node-changed.ts";
import { type NodeFacts, nodeLabels, nodeStatus } from "./node-object.ts";

/** Registers the one node, and keeps saying that it is alive. */
export function nodeController(facts: NodeFacts): Controller {
  return defineReconciler({
    name: "kubelet-node",
    reconciles: Node,
    predicates: [({ object }) => object.metadata.name === facts.name, nodeChanged],
    sources: [{ start: (enqueue) => enqueue({ name: facts.name }) }],
    concurrency: 1,
    fieldManager: kubelet,
    permissions: [allow(Node, ["create", "patch"]), allow(Lease, ["create", "patch"])],
    async reconcile(key, context) {
      if (key.name !== facts.name) return done;
      const node = context.read.get(Node, key) ?? (await register(facts, context));
      await report(facts, node, context);
      await settleTaints(node, context);
      await renewLease(facts, node, context);
      return requeueAfter(renewEveryMs);
    },
  });
}

const renewEveryMs = 10_000;
const leaseSeconds = 40;
const heartbeatMs = 300_000;
const leaseNamespace = "kube-node-lease";

async function register({ name }: NodeFacts, { write }: ReconcileContext): Promise<Node> {
  const made = await write.create(Node, { metadata: { name, labels: nodeLabels(name) }, spec: {} });
  if (made.ok) return made.object;
  throw new Error(`cannot register node ${name}: ${made.reason}: ${made.message}`);
}

/** The status is written when it changes, and otherwise just often enough to be seen alive. */
async function report(facts: NodeFacts, node: Node, { write, now }: ReconcileContext): Promise<void> {
  const before = node.status;
  const beat = (before?.conditions?.[0] as { readonly lastHeartbeatTime?: string } | undefined)?.lastHeartbeatTime;
  const isFresh = now.getTime() - (timeMs(beat) ?? 0) < heartbeatMs;
  const status = nodeStatus(facts, before, now);
  const isSame = JSON.stringify({ ...before, conditions: 0 }) === JSON.stringify({ ...status, conditions: 0 });
  if (isFresh && isSame) return;
  const written = await write.patch(Node, key(node), { type: "merge", value: { status } }, { subresource: "status" });
  if (!written.ok) throw new Error(`cannot report node ${facts.name}: ${written.reason}: ${written.message}`);
}

/** A ready node takes pods, and a cordoned one does not; the taints say so to every scheduler. */
async function settleTaints(node: Node, { write, now }: ReconcileContext): Promise<void> {
  const before = node.spec.taints ?? [];
  const kept = before.filter(({ key: taint }) => taint !== notReadyTaint && taint !== unschedulableTaint);
  const cordon = before.find(({ key: taint }) => taint === unschedulableTaint) ?? {
    key: unschedulableTaint,
    effect: "NoSchedule" as const,
    timeAdded: formatTime(now),
  };
  const taints = node.spec.unschedulable ? [...kept, cordon] : kept;
  if (deepEqual(before, taints)) return;
  const value = { spec: { taints: taints.length > 0 ? taints : null } };
  const written = await write.patch(Node, key(node), { type: "merge", value });
  if (!written.ok) throw new Error(`cannot change the taints of node ${node.metadata.name}: ${written.message}`);
}

const notReadyTaint = "node.kubernetes.io/not-ready";
const unschedulableTaint = "node.kubernetes.io/unschedulable";

async function renewLease(facts: NodeFacts, node: Node, { write, now }: ReconcileContext): Promise<void> {
  const lease = { name: facts.name, namespace: leaseNamespace };
  const spec = { holderIdentity: facts.name, leaseDurationSeconds: leaseSeconds, renewTime: formatMicroTime(now) };
  const renewed = await write.patch(Lease, lease, { type: "merge", value: { spec } });
  if (renewed.ok || renewed.reason !== "NotFound") return;
  const metadata = { ...lease, ownerReferences: [ownerReference(Node, node)] };
  const made = await write.create(Lease, { metadata, spec });
  if (!made.ok) throw new Error(`cannot create the lease of node ${facts.name}: ${made.reason}: ${made.message}`);
}

const key = ({ metadata }: Node): ObjectKey => ({ name: metadata.name });
