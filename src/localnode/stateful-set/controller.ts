import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { ControllerRevision, StatefulSet } from "../../api/builtin/workloads.ts";
import type { NewObject } from "../../client/client.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeue, requeueAfter } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { revisionHashLabel, settleHistory, templateOf, trimHistory } from "../revision/history.ts";
import { calmly } from "../workloads/calmly.ts";
import { claim, ownersSelecting } from "../workloads/claim.ts";
import { createPods, deletePods, lookAfterDeletionMs, type PodWords } from "../workloads/manage-pods.ts";
import { newPod } from "../workloads/new-pod.ts";
import { nextAvailabilityMs } from "../workloads/pod-facts.ts";
import { roomInQuotas } from "../workloads/quota-room.ts";
import { claimNames, ensureClaims, releaseClaims } from "./claims.ts";
import { evaluate, ordinalOf, startOf } from "./evaluate.ts";

/** StatefulSets: pods that keep their name and their volumes. */
export const statefulSetController: Controller = defineReconciler({
  name: "statefulset-controller",
  reconciles: StatefulSet,
  owns: [Pod, ControllerRevision],
  watches: [
    watch(Pod, { map: (pod, read) => (controllerOf(pod) ? [] : ownersSelecting(read, StatefulSet, pod)) }),
    roomInQuotas(StatefulSet),
  ],
  reads: [PersistentVolumeClaim],
  objectRate: calmly,
  fieldManager: controllerManager,
  permissions: [
    allow(Pod, ["create", "patch", "delete"]),
    allow(PersistentVolumeClaim, ["create", "patch"]),
    allow(ControllerRevision, ["create", "patch", "delete"]),
  ],
  async reconcile(key, context) {
    const { read, write, now } = context;
    const set = read.get(StatefulSet, key);
    if (set === undefined) return done;
    const owner = { kind: StatefulSet, object: set, selector: set.spec.selector, live: context.live };
    const candidates = read.list(
      Pod,
      set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace },
    );
    const mine = await claim(
      write,
      owner,
      Pod,
      candidates.filter((pod) => ordinalOf(set, pod) !== undefined),
    );
    const history = await settleHistory(StatefulSet, set, context);
    const updateRevision = history.update.metadata.name;
    const currentRevision = set.status?.currentRevision || updateRevision;
    const plan = evaluate({ set, pods: mine, currentRevision, updateRevision, now });
    for (const { ordinal } of plan.create) await ensureClaims(set, ordinal, context);
    for (const pod of plan.remove) {
      const ordinal = ordinalOf(set, pod) ?? -1;
      if (ordinal >= startOf(set) + (set.spec.replicas ?? 1)) await releaseClaims(set, pod, ordinal, context);
    }
    const pods = plan.create.map(({ ordinal, revision }) => {
      const former = history.all.find(({ metadata }) => metadata.name === revision);
      return podOf(set, ordinal, revision, (former && templateOf(former)) ?? set.spec.template);
    });
    const words = wordsOf(set);
    const made = await createPods(context, set, pods, words);
    const removed = await deletePods(context, set, plan.remove, words);
    const written = await writeStatus(StatefulSet, set, plan.status, context);
    const inUse = new Set([...mine.map(({ metadata }) => metadata.labels?.[revisionHashLabel] ?? ""), currentRevision]);
    await trimHistory(history, inUse, set.spec.revisionHistoryLimit ?? 10, context);
    if (!made.ok || !removed.ok || written === "Outdated") return requeue;
    if (plan.remove.length > 0) return requeueAfter(lookAfterDeletionMs);
    const waitMs = nextAvailabilityMs(mine, set.spec.minReadySeconds ?? 0, now);
    return waitMs === undefined ? done : requeueAfter(waitMs);
  },
});

const wordsOf = ({ metadata }: StatefulSet): PodWords => ({
  created: (pod) => `create Pod ${pod} in StatefulSet ${metadata.name} successful`,
  deleted: (pod) => `delete Pod ${pod} in StatefulSet ${metadata.name} successful`,
});

function podOf(
  set: StatefulSet,
  ordinal: number,
  revision: string,
  template: StatefulSet["spec"]["template"],
): NewObject<Pod> {
  const name = `${set.metadata.name}-${ordinal}`;
  const claims = claimNames(set, ordinal);
  const others = (template.spec.volumes ?? []).filter((volume) => !claims.some((one) => one.volume === volume.name));
  const volumes = [
    ...others,
    ...claims.map(({ volume, claim: claimName }) => ({ name: volume, persistentVolumeClaim: { claimName } })),
  ];
  const { serviceName } = set.spec;
  const spec = {
    ...template.spec,
    hostname: name,
    ...(serviceName && { subdomain: serviceName }),
    ...(volumes.length > 0 && { volumes }),
  };
  const labels = {
    "statefulset.kubernetes.io/pod-name": name,
    "apps.kubernetes.io/pod-index": String(ordinal),
    [revisionHashLabel]: revision,
  };
  return newPod(StatefulSet, set, { ...template, spec }, { name, labels });
}
