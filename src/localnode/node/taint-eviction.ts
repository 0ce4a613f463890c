import { Node } from "../../api/builtin/cluster.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { byNode, podNodeIndex } from "../pod/pod-index.ts";
import { nodeChanged } from "./node-changed.ts";
import { tolerationLeftMs } from "./tolerate.ts";

/** NoExecute: a pod that does not tolerate such a taint goes from its node, at once or when its patience ends. */
export function taintEvictionController(): Controller {
  /** Since when a pod has stood a taint, by uid. */
  const patientSince = new Map<string, number>();
  return defineReconciler({
    name: "taint-eviction-controller",
    reconciles: Pod,
    predicates: [({ object }) => Boolean(object.spec.nodeName)],
    watches: [
      watch(Node, {
        predicates: [nodeChanged],
        map: ({ metadata }, read) =>
          read
            .byIndex(Pod, podNodeIndex, metadata.name)
            .map((pod) => ({ namespace: pod.metadata.namespace ?? "", name: pod.metadata.name })),
      }),
    ],
    indexes: [byNode],
    fieldManager: controllerManager,
    permissions: [allow(Pod, ["delete"]), allow(Pod, ["patch"], "status")],
    async reconcile(key, context) {
      const { read, write, now, events } = context;
      const pod = read.get(Pod, key);
      const uid = pod?.metadata.uid ?? "";
      const taints = (read.get(Node, { name: pod?.spec.nodeName ?? "" })?.spec.taints ?? []).filter(
        ({ effect }) => effect === "NoExecute",
      );
      const patienceMs = pod && tolerationLeftMs(pod.spec.tolerations, taints);
      if (pod === undefined || patienceMs === undefined || pod.metadata.deletionTimestamp !== undefined) {
        patientSince.delete(uid);
        return done;
      }
      const sinceMs = patientSince.get(uid) ?? now.getTime();
      patientSince.set(uid, sinceMs);
      const leftMs = sinceMs + patienceMs - now.getTime();
      if (leftMs > 0) return requeueAfter(leftMs);
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== evicted.type);
      const conditions = [...others, { ...evicted, lastTransitionTime: formatTime(now) }];
      const written = await writeStatus(Pod, pod, { ...pod.status, conditions }, context);
      if (written === "Outdated") return requeue;
      const gone = await write.delete(Pod, pod);
      if (!gone.ok) return gone.reason === "Conflict" ? requeue : done;
      const message = `Marking for deletion Pod ${key.namespace}/${key.name}`;
      events.record(pod, { type: "Normal", reason: "TaintManagerEviction", message });
      return done;
    },
  });
}

const evicted = {
  type: "DisruptionTarget",
  status: "True",
  reason: "DeletionByTaintManager",
  message: "Taint manager: deleting due to NoExecute taint",
} as const;
