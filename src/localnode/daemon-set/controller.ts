import { Node } from "../../api/builtin/cluster.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { ControllerRevision, DaemonSet } from "../../api/builtin/workloads.ts";
import type { NewObject } from "../../client/client.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { nodeChanged } from "../node/node-changed.ts";
import { revisionHashLabel, settleHistory, trimHistory } from "../revision/history.ts";
import { calmly } from "../workloads/calmly.ts";
import { claim, ownersSelecting } from "../workloads/claim.ts";
import { createPods, deletePods, lookAfterDeletionMs } from "../workloads/manage-pods.ts";
import { newPod } from "../workloads/new-pod.ts";
import { nextAvailabilityMs } from "../workloads/pod-facts.ts";
import { roomInQuotas } from "../workloads/quota-room.ts";
import { daemonTolerations, evaluate } from "./evaluate.ts";

/** DaemonSets: a pod on every node that will have it. */
export const daemonSetController: Controller = defineReconciler({
  name: "daemonset-controller",
  reconciles: DaemonSet,
  owns: [Pod, ControllerRevision],
  watches: [
    watch(Pod, { map: (pod, read) => (controllerOf(pod) ? [] : ownersSelecting(read, DaemonSet, pod)) }),
    roomInQuotas(DaemonSet),
    watch(Node, {
      predicates: [nodeChanged],
      map: (_node, read) => read.list(DaemonSet).map(({ metadata: { namespace = "", name } }) => ({ namespace, name })),
    }),
  ],
  objectRate: calmly,
  fieldManager: controllerManager,
  permissions: [allow(Pod, ["create", "patch", "delete"]), allow(ControllerRevision, ["create", "patch", "delete"])],
  async reconcile(key, context) {
    const { read, write, now } = context;
    const set = read.get(DaemonSet, key);
    if (set === undefined) return done;
    const { namespace } = set.metadata;
    const owner = { kind: DaemonSet, object: set, selector: set.spec.selector, live: context.live };
    const pods = await claim(write, owner, Pod, read.list(Pod, namespace === undefined ? {} : { namespace }));
    const history = await settleHistory(DaemonSet, set, context);
    const hash = history.update.metadata.labels?.[revisionHashLabel] ?? "";
    const plan = evaluate({ set, pods, nodes: read.list(Node), hash, now });
    const made = await createPods(
      context,
      set,
      plan.create.map((node) => podOf(set, node, hash)),
    );
    const removed = await deletePods(context, set, plan.remove);
    const written = await writeStatus(DaemonSet, set, plan.status, context);
    const names = pods.map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[revisionHashLabel] ?? ""}`);
    await trimHistory(history, new Set(names), set.spec.revisionHistoryLimit ?? 10, context);
    if (!made.ok || !removed.ok || written === "Outdated") return requeue;
    if (plan.remove.length > 0) return requeueAfter(lookAfterDeletionMs);
    const waitMs = nextAvailabilityMs(pods, set.spec.minReadySeconds ?? 0, now);
    return waitMs === undefined ? done : requeueAfter(waitMs);
  },
});

/** The pod says which node it is for; the scheduler takes it there. */
function podOf(set: DaemonSet, node: string, hash: string): NewObject<Pod> {
  const { template } = set.spec;
  const generation = set.metadata.annotations?.["deprecated.daemonset.template.generation"];
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  const spec = {
    ...template.spec,
    affinity: {
      ...template.spec.affinity,
      nodeAffinity: {
        ...(template.spec.affinity?.["nodeAffinity"] as object | undefined),
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
      },
    },
    tolerations: [...(template.spec.tolerations ?? []), ...daemonTolerations],
  };
  const labels = { [revisionHashLabel]: hash, ...(generation && { "pod-template-generation": generation }) };
  return newPod(DaemonSet, set, { ...template, spec }, { labels });
}
