import { Node } from "../../../api/builtin/cluster.ts";
import { Pod } from "../../../api/builtin/pod.ts";
import type { KubeObject } from "../../../kube/object.ts";
import { allow } from "../../../runtime/permission.ts";
import { uncordon } from "./cordon-node.ts";
import { defineAction } from "./definition.ts";

type Parameters = {
  readonly force?: boolean;
  readonly deleteLocalData?: boolean;
  readonly ignoreDaemonSets?: boolean;
};

/** Cordons a node and evicts its pods; disruption budgets are honoured because evictions are refused while they must be. */
export const drainNode = defineAction({
  action: "drain_node",
  permissions: [allow(Node, ["get", "patch"]), allow(Pod, ["get", "list"]), allow(Pod, ["create"], "eviction")],
  idempotent: true,
  estimatedDuration: "5m",
  seenBy: "Read",
  target: ({ node }) => ({ kind: Node, name: node }),
  related: ({ node }) => ({ kind: Pod, fieldSelector: `spec.nodeName=${node}` }),
  objection({ related }, parameters) {
    const reasons = podsOf(related).flatMap((pod) => {
      const reason = whyNotEvicted(pod, parameters);
      return reason ? [`${pod.metadata.namespace}/${pod.metadata.name} ${reason}`] : [];
    });
    return reasons.length === 0 ? undefined : `it has pods that cannot be removed: ${reasons.sort().join("; ")}`;
  },
  plan({ object, related }, { gracePeriodSeconds }) {
    const pods = toEvict(related);
    return {
      effects: [
        { kind: "Patch", patch: { type: "merge", value: { spec: { unschedulable: true } } }, isPart: true },
        { kind: "Evict", pods, ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }) },
        // Last: a drain that was interrupted goes on with the pods that are still there.
        { kind: "Stamp" },
      ],
      verb: "drained",
      before: `unschedulable: ${object?.spec.unschedulable ?? false}, ${pods.length} pods to evict`,
      after: "unschedulable: true, 0 pods to evict",
      also: pods.map(({ metadata }) => ({
        kind: "Pod",
        namespace: metadata.namespace ?? "",
        name: metadata.name,
        action: "evicted",
      })),
    };
  },
  rollback: ({ object }, { node }) => uncordon(object, node),
});

/** Pods of DaemonSets come back at once, and mirror pods belong to the node. One that is about to go is waited for. */
const toEvict = (related: readonly KubeObject[]): readonly Pod[] =>
  podsOf(related).filter((pod) => !isDaemonPod(pod) && !isMirror(pod));

function whyNotEvicted(pod: Pod, { force, deleteLocalData, ignoreDaemonSets }: Parameters): string | undefined {
  if (isMirror(pod) || isFinished(pod)) return undefined;
  if (isDaemonPod(pod)) return ignoreDaemonSets ? undefined : "belongs to a DaemonSet (set ignoreDaemonSets)";
  if (!force && !pod.metadata.ownerReferences?.some(({ controller }) => controller))
    return "has no controller that would start it again (set force)";
  if (!deleteLocalData && pod.spec.volumes?.some(({ emptyDir }) => emptyDir !== undefined))
    return "has local data that would be lost (set deleteLocalData)";
  return undefined;
}

const podsOf = (related: readonly KubeObject[]): readonly Pod[] => related as readonly Pod[];
const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
const isFinished = ({ status }: Pod): boolean => status?.phase === "Succeeded" || status?.phase === "Failed";
const isDaemonPod = ({ metadata }: Pod): boolean =>
  metadata.ownerReferences?.some(({ controller, kind }) => controller && kind === "DaemonSet") ?? false;
