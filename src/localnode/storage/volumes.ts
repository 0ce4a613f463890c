import { rm } from "node:fs/promises";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { isNotFound } from "../../client/api-error.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineReconciler, type ReconcileContext, watch } from "../../runtime/controller.ts";
import { allow } from "../../runtime/permission.ts";
import { done, type Result, requeue } from "../../runtime/result.ts";
import { writeStatus } from "../../runtime/status-write.ts";
import { controllerManager } from "../identity.ts";
import type { FolderOf } from "./claims.ts";
import { isClaimedBy, isOwnVolume, PersistentVolume } from "./volume.ts";

/** PersistentVolumes: in which phase they are, and what becomes of them when their claim is gone. */
export function volumeController(folderOf: FolderOf): Controller {
  return defineReconciler({
    name: "persistentvolume-reclaimer",
    reconciles: PersistentVolume,
    watches: [
      watch(PersistentVolumeClaim, {
        map: ({ spec: { volumeName } }) => (volumeName ? [{ name: volumeName }] : []),
      }),
    ],
    fieldManager: controllerManager,
    permissions: [allow(PersistentVolume, ["patch"], "status"), allow(PersistentVolume, ["patch", "delete"])],
    async reconcile(key, context) {
      const volume = context.read.get(PersistentVolume, key);
      if (volume === undefined) return done;
      const phase = phaseOf(volume, context);
      if (volume.metadata.deletionTimestamp !== undefined) return phase === "Bound" ? done : unprotect(volume, context);
      if (phase === "Released" && (await isGone(volume, context)) && mayBeRemoved(volume)) {
        return remove(volume, folderOf, context);
      }
      if (volume.status?.phase === phase) return done;
      const status = { ...volume.status, phase, lastPhaseTransitionTime: formatTime(context.now) };
      const written = await writeStatus(PersistentVolume, volume, status, context);
      return written === "Outdated" ? requeue : done;
    },
  });
}

type Phase = "Available" | "Bound" | "Released";

function phaseOf(volume: PersistentVolume, { read }: ReconcileContext): Phase {
  const { claimRef } = volume.spec;
  if (claimRef === undefined) return "Available";
  const claim = read.get(PersistentVolumeClaim, { namespace: claimRef.namespace ?? "", name: claimRef.name ?? "" });
  if (claim !== undefined && isClaimedBy(volume, claim)) {
    return claim.spec.volumeName === volume.metadata.name ? "Bound" : "Available";
  }
  // Reserved by hand for a claim that is still to come.
  return claimRef.uid ? "Released" : "Available";
}

/** Asks the server itself: a cache that lags behind must not cost anybody's data. */
async function isGone(volume: PersistentVolume, { live }: ReconcileContext): Promise<boolean> {
  const { namespace = "", name = "" } = volume.spec.claimRef ?? {};
  try {
    return !isClaimedBy(volume, await live.get(PersistentVolumeClaim, { namespace, name }));
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

const mayBeRemoved = (volume: PersistentVolume): boolean =>
  isOwnVolume(volume) && volume.spec.persistentVolumeReclaimPolicy === "Delete";

async function remove(
  volume: PersistentVolume,
  folderOf: FolderOf,
  { read, write }: ReconcileContext,
): Promise<Result> {
  const { namespace = "", name = "" } = volume.spec.claimRef ?? {};
  // A claim of the same name that came later has the same folder, and its content by now.
  if (read.get(PersistentVolumeClaim, { namespace, name }) === undefined) {
    await rm(folderOf(namespace, name), { recursive: true, force: true });
  }
  const removed = await write.delete(PersistentVolume, volume);
  return removed.ok ? done : requeue;
}

const protection = "kubernetes.io/pv-protection";

async function unprotect(volume: PersistentVolume, { write }: ReconcileContext): Promise<Result> {
  const { uid, resourceVersion, finalizers = [], name } = volume.metadata;
  if (!finalizers.includes(protection)) return done;
  const left = finalizers.filter((one) => one !== protection);
  const value = { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
  const released = await write.patch(PersistentVolume, { name }, { type: "merge", value });
  return released.ok || released.reason === "NotFound" ? done : requeue;
}
