import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { minecraftNamespace } from "../end-to-end/minecraft-story.ts";
import type { ClusterWorld } from "./world.ts";

/** The cluster provisions nothing by itself: a folder of this machine becomes the volume that the server's claim asks for. */
export async function giveVolume(world: ClusterWorld): Promise<void> {
  const path = join(dirname(world.kubeconfig), "survival-data");
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  await world.apply({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "survival-data" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "",
      claimRef: { namespace: minecraftNamespace, name: "data-survival-0" },
      hostPath: { path },
    },
  } as never);
}
