import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type Controller, defineReconciler, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, requeue } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";

/** PersistentVolumeClaims: bound at once, to a folder of this node; kept while a pod uses them. */
export const claimController: Controller = defineReconciler({
  name: "persistentvolume-binder",
  reconciles: PersistentVolumeClaim,
  watches: [
    watch(Pod, { predicates: [({ kind, object }) => kind === "Deleted" || isPodFinished(object)], map: claimsOf }),
  ],
  fieldManager: controllerManager,
  permissions: [allow(PersistentVolumeClaim, ["patch"])],
  async reconcile(key, context) {
    const { read, write } = context;
    const claim = read.get(PersistentVolumeClaim, key);
    if (claim === undefined) return done;
    const { uid, resourceVersion, finalizers = [], deletionTimestamp, namespace } = claim.metadata;
    if (deletionTimestamp !== undefined) {
      const users = read.list(Pod, namespace === undefined ? {} : { namespace }).filter((pod) => uses(pod, claim));
      if (users.some((pod) => !isPodFinished(pod)) || !finalizers.includes(protection)) return done;
      const left = finalizers.filter((name) => name !== protection);
      const value = { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
      const released = await write.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", value });
      return released.ok || released.reason === "NotFound" ? done : requeue;
    }
    if (claim.status?.phase === "Bound") return done;
    if (!claim.spec.volumeName) {
      const value = {
        metadata: {
          uid,
          resourceVersion,
          annotations: { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" },
        },
        spec: { volumeName: `pvc-${uid}` },
      };
      const bound = await write.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", value });
      if (!bound.ok) return requeue;
    }
    const latest = read.get(PersistentVolumeClaim, key) ?? claim;
    const status = {
      ...latest.status,
      phase: "Bound",
      accessModes: latest.spec.accessModes ?? ["ReadWriteOnce"],
      capacity: { storage: latest.spec.resources?.requests?.["storage"] ?? "1Gi" },
    };
    const written = await writeStatus(PersistentVolumeClaim, latest, status, context);
    return written === "Outdated" ? requeue : done;
  },
});

const protection = "kubernetes.io/pvc-protection";

const claimNamesOf = ({ spec }: Pod): readonly string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : [],
  );

const uses = (pod: Pod, { metadata }: PersistentVolumeClaim): boolean => claimNamesOf(pod).includes(metadata.name);

function claimsOf(pod: Pod): readonly ObjectKey[] {
  const { namespace } = pod.metadata;
  return namespace === undefined ? [] : claimNamesOf(pod).map((name) => ({ namespace, name }));
}

const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };
