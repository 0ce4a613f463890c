import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim, StorageClass } from "../../api/builtin/volume.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import type { Read } from "../../runtime/read.ts";
import { done, type Result, requeue } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import { isPodFinished } from "../workloads/pod-facts.ts";
import { chooseVolume } from "./choose-volume.ts";
import { ownProvisioner, PersistentVolume, provisionedBy } from "./volume.ts";

/** Where the node keeps the content of a claim's volume. */
export type FolderOf = (namespace: string, name: string) => string;

/** PersistentVolumeClaims: bound to a volume that fits, or to a new folder of this node; kept while a pod uses them. */
export function claimController(folderOf: FolderOf): Controller {
  return defineReconciler({
    name: "persistentvolume-binder",
    reconciles: PersistentVolumeClaim,
    watches: [
      watch(Pod, { predicates: [({ kind, object }) => kind === "Deleted" || isPodFinished(object)], map: claimsOf }),
      watch(PersistentVolume, { map: waitingClaims }),
    ],
    reads: [StorageClass],
    fieldManager: controllerManager,
    permissions: [allow(PersistentVolumeClaim, ["patch"]), allow(PersistentVolume, ["create", "patch"])],
    async reconcile(key, context) {
      const claim = context.read.get(PersistentVolumeClaim, key);
      if (claim === undefined) return done;
      if (claim.metadata.deletionTimestamp !== undefined) return release(claim, context);
      return claim.status?.phase === "Bound" ? done : bind(claim, folderOf, context);
    },
  });
}

async function release(claim: PersistentVolumeClaim, { read, write }: ReconcileContext): Promise<Result> {
  const { uid, resourceVersion, finalizers = [], namespace } = claim.metadata;
  const users = read.list(Pod, namespace === undefined ? {} : { namespace }).filter((pod) => uses(pod, claim));
  if (users.some((pod) => !isPodFinished(pod)) || !finalizers.includes(protection)) return done;
  const left = finalizers.filter((name) => name !== protection);
  const value = { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
  const released = await write.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", value });
  return released.ok || released.reason === "NotFound" ? done : requeue;
}

async function bind(claim: PersistentVolumeClaim, folderOf: FolderOf, context: ReconcileContext): Promise<Result> {
  const choice = chooseVolume(claim, context.read.list(PersistentVolume));
  if (choice.kind === "Wait") {
    context.events.record(claim, { type: "Normal", reason: "FailedBinding", message: choice.why });
    return done;
  }
  const volume =
    choice.kind === "Bind" ? await reserve(choice.volume, claim, context) : await provision(claim, folderOf, context);
  if (volume === undefined) return requeue;
  if (claim.spec.volumeName !== volume.metadata.name) {
    const { uid, resourceVersion } = claim.metadata;
    const annotations = { "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" };
    const value = { metadata: { uid, resourceVersion, annotations }, spec: { volumeName: volume.metadata.name } };
    const bound = await context.write.patch(PersistentVolumeClaim, keyOf(claim), { type: "merge", value });
    if (!bound.ok) return requeue;
  }
  const latest = context.read.get(PersistentVolumeClaim, keyOf(claim)) ?? claim;
  const status = {
    ...latest.status,
    phase: "Bound",
    accessModes: volume.spec.accessModes ?? ["ReadWriteOnce"],
    capacity: volume.spec.capacity ?? {},
  };
  const written = await writeStatus(PersistentVolumeClaim, latest, status, context);
  return written === "Outdated" ? requeue : done;
}

/** Writes the claim's name on a volume, so that no other claim takes it. */
async function reserve(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  { write }: ReconcileContext,
): Promise<PersistentVolume | undefined> {
  if (volume.spec.claimRef?.uid === claim.metadata.uid) return volume;
  const { uid, resourceVersion } = volume.metadata;
  const annotations = { "pv.kubernetes.io/bound-by-controller": "yes" };
  const value = { metadata: { uid, resourceVersion, annotations }, spec: { claimRef: referenceTo(claim) } };
  const reserved = await write.patch(PersistentVolume, keyOf(volume), { type: "merge", value });
  return reserved.ok ? reserved.object : undefined;
}

async function provision(
  claim: PersistentVolumeClaim,
  folderOf: FolderOf,
  { read, write, live, events }: ReconcileContext,
): Promise<PersistentVolume | undefined> {
  const { namespace = "", name, uid } = claim.metadata;
  const { storageClassName = "", accessModes, volumeMode, resources } = claim.spec;
  const volumeName = `pvc-${uid}`;
  const storageClass = storageClassName === "" ? undefined : read.get(StorageClass, { name: storageClassName });
  const made = await write.create(PersistentVolume, {
    metadata: { name: volumeName, annotations: { [provisionedBy]: ownProvisioner } },
    spec: {
      accessModes: accessModes ?? ["ReadWriteOnce"],
      capacity: { storage: resources?.requests?.["storage"] ?? "1Gi" },
      claimRef: referenceTo(claim),
      persistentVolumeReclaimPolicy: storageClass?.reclaimPolicy ?? "Delete",
      ...(storageClassName !== "" && { storageClassName }),
      ...(volumeMode !== undefined && { volumeMode }),
      hostPath: { path: folderOf(namespace, name), type: "DirectoryOrCreate" },
    },
  });
  if (made.ok) {
    const message = `Successfully provisioned volume ${volumeName}`;
    events.record(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
    return made.object;
  }
  if (made.reason !== "AlreadyExists") {
    throw new Error(`cannot create PersistentVolume ${volumeName}: ${made.reason}: ${made.message}`);
  }
  return live.get(PersistentVolume, { name: volumeName });
}

const referenceTo = ({ metadata: { namespace = "", name, uid = "" } }: PersistentVolumeClaim) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  namespace,
  name,
  uid,
});

const protection = "kubernetes.io/pvc-protection";

export const claimNamesOf = ({ spec }: Pod): readonly string[] =>
  (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [persistentVolumeClaim.claimName] : [],
  );

const uses = (pod: Pod, { metadata }: PersistentVolumeClaim): boolean => claimNamesOf(pod).includes(metadata.name);

function claimsOf(pod: Pod): readonly ObjectKey[] {
  const { namespace } = pod.metadata;
  return namespace === undefined ? [] : claimNamesOf(pod).map((name) => ({ namespace, name }));
}

const waitingClaims = (_volume: PersistentVolume, read: Read): readonly ObjectKey[] =>
  read
    .list(PersistentVolumeClaim)
    .filter(({ status, metadata }) => status?.phase !== "Bound" && metadata.deletionTimestamp === undefined)
    .map(keyOf);

const keyOf = ({ metadata: { namespace, name } }: KubeObject): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };
