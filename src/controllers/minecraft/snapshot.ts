import { PersistentVolumeClaim, VolumeSnapshot } from "../../api/builtin/volume.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { BackupTrigger } from "../../api/papermc-server-status.ts";
import { labels } from "../../api/well-known.ts";
import type { NewObject } from "../../client/client.ts";
import { safeName } from "../../kube/names.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { dataVolume } from "./stateful-set.ts";

/** Snapshots of a server's volume. They have no owner: a backup that goes with what it saves is none. */
export function snapshotOf(server: PaperMCServer, name: string, trigger: BackupTrigger): NewObject<VolumeSnapshot> {
  const { backup } = server.spec;
  return {
    metadata: {
      name,
      namespace: server.metadata.namespace ?? "",
      labels: {
        [labels.minecraftServer]: server.metadata.name,
        [labels.backupTrigger]: trigger,
        [labels.managedBy]: "minecraft-operator",
        [labels.controller]: "backup",
      },
    },
    spec: {
      source: { persistentVolumeClaimName: `${dataVolume}-${server.metadata.name}-0` },
      ...(backup?.volumeSnapshotClassName !== undefined && { volumeSnapshotClassName: backup.volumeSnapshotClassName }),
    },
  };
}

/**
 * One name for each reason to make a snapshot, so that making it twice makes it once. The trigger is part of it: a
 * snapshot that was asked for in the second in which an update begins is not the one from before the update.
 */
export const snapshotName = ({ metadata }: PaperMCServer, at: Date, trigger: BackupTrigger): string =>
  safeName(`${metadata.name}-backup-${Math.floor(at.getTime() / 1_000)}-${trigger}`);

export const isSnapshotServed = async ({ live }: Pick<ReconcileContext, "live">): Promise<boolean> =>
  (await live.discover(VolumeSnapshot.group, VolumeSnapshot.kind)) !== undefined;

/** Why there is nothing to take a snapshot of. */
export async function missingVolume(
  { metadata: { name, namespace = "" } }: PaperMCServer,
  { live }: Pick<ReconcileContext, "live">,
): Promise<string | undefined> {
  const claim = `${dataVolume}-${name}-0`;
  const { items } = await live.list(PersistentVolumeClaim, { namespace, fieldSelector: `metadata.name=${claim}` });
  return items.length > 0 ? undefined : `there is no volume ${claim} to take a snapshot of`;
}

/** Oldest first. */
export async function listSnapshots(
  server: PaperMCServer,
  { live }: Pick<ReconcileContext, "live">,
): Promise<readonly VolumeSnapshot[]> {
  const { items } = await live.list(VolumeSnapshot, {
    namespace: server.metadata.namespace ?? "",
    labelSelector: `${labels.minecraftServer}=${server.metadata.name},${labels.managedBy}=minecraft-operator`,
  });
  const createdAt = ({ metadata }: VolumeSnapshot): string => `${metadata.creationTimestamp} ${metadata.name}`;
  return [...items].sort((a, b) => (createdAt(a) < createdAt(b) ? -1 : 1));
}
