/** Volumes: claims on storage, and snapshots of them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, dateTime, intOrString, map, optional, string } from "../../kube/schema/build.ts";
import { looseConditions, templateMetadata } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const claimSpec = openObject({
  accessModes: optional(array(string())),
  resources: optional(openObject({ requests: optional(map(intOrString())), limits: optional(map(intOrString())) })),
  storageClassName: optional(string()),
  volumeMode: optional(string()),
  volumeName: optional(string()),
  dataSource: optional(openObject({ apiGroup: optional(string()), kind: string(), name: string() })),
});

const claimStatus = openObject({
  phase: optional(string()),
  accessModes: optional(array(string())),
  capacity: optional(map(intOrString())),
  conditions: optional(looseConditions),
});

/** A claim that a StatefulSet makes for each of its pods. */
export const claimTemplate = openObject({
  apiVersion: optional(string()),
  kind: optional(string()),
  metadata: optional(templateMetadata),
  spec: optional(claimSpec),
  status: optional(claimStatus),
});

export const PersistentVolumeClaim = defineKind({
  group: "",
  version: "v1",
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  shortNames: ["pvc"],
  description: "A claim on storage.",
  spec: claimSpec,
  status: claimStatus,
});
export type PersistentVolumeClaim = ResourceOf<typeof PersistentVolumeClaim>;

export const StorageClass = defineKind({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  scope: "Cluster",
  shortNames: ["sc"],
  description: "A way of making volumes.",
  fields: {
    provisioner: string(),
    parameters: optional(map(string())),
    reclaimPolicy: optional(string()),
    allowVolumeExpansion: optional(boolean()),
    volumeBindingMode: optional(string()),
  },
});
export type StorageClass = ResourceOf<typeof StorageClass>;

/** Served only where the snapshot controller is installed. */
export const VolumeSnapshot = defineKind({
  group: "snapshot.storage.k8s.io",
  version: "v1",
  kind: "VolumeSnapshot",
  plural: "volumesnapshots",
  shortNames: ["vs"],
  description: "A snapshot of a volume.",
  spec: openObject({
    source: openObject({
      persistentVolumeClaimName: optional(string()),
      volumeSnapshotContentName: optional(string()),
    }),
    volumeSnapshotClassName: optional(string()),
  }),
  status: openObject({
    boundVolumeSnapshotContentName: optional(string()),
    creationTime: optional(dateTime()),
    readyToUse: optional(boolean()),
    restoreSize: optional(intOrString()),
    error: optional(openObject({ time: optional(dateTime()), message: optional(string()) })),
  }),
});
export type VolumeSnapshot = ResourceOf<typeof VolumeSnapshot>;
