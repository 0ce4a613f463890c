import type { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { isOwnVolume, PersistentVolume } from "../storage/volume.ts";
import { NotStartable } from "./config-source.ts";
import type { Places } from "./places.ts";

export interface ClaimFolder {
  readonly folder: string;
  /** Ours to make; another one must be there. */
  readonly isOwn: boolean;
}

/** Where the volume of a claim is on this machine. */
export async function claimFolder(
  { client, pod, places, signal }: { client: Client; pod: Pod; places: Places; signal: AbortSignal },
  name: string,
): Promise<ClaimFolder> {
  const namespace = pod.metadata.namespace ?? "";
  const claim = await found(`persistentvolumeclaim ${JSON.stringify(name)}`, () =>
    client.get(PersistentVolumeClaim, { namespace, name }, { signal }),
  );
  const { volumeName } = claim.spec;
  if (!volumeName) throw new NotStartable("ContainerCreating", "pod has unbound immediate PersistentVolumeClaims");
  const volume = await found(`persistentvolume ${JSON.stringify(volumeName)}`, () =>
    client.get(PersistentVolume, { name: volumeName }, { signal }),
  );
  const { hostPath, local } = volume.spec;
  // The folder of an own volume is where the data directory is now, which may have been moved.
  if (isOwnVolume(volume)) return { folder: places.claim(namespace, name), isOwn: true };
  const path = hostPath?.path ?? local?.path;
  if (path !== undefined) return { folder: path, isOwn: hostPath?.type === "DirectoryOrCreate" };
  throw new NotStartable("ContainerCreating", `persistentvolume ${JSON.stringify(volumeName)} is not on this machine`);
}

async function found<T>(what: string, get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (isNotFound(error)) throw new NotStartable("ContainerCreating", `${what} not found`);
    throw error;
  }
}
