import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, nameColumn, wide } from "../columns.ts";
import { child, type Draft, descend, ensure, fill, strings, text } from "../draft.ts";
import { validateClaim, validateClaimUpdate } from "../validation/core.ts";
import { validatePersistentVolume, validatePersistentVolumeUpdate } from "../validation/persistent-volume.ts";
import { claimWarnings } from "../warnings.ts";

/** PersistentVolume and PersistentVolumeClaim. */

export const persistentVolume: Behaviour = {
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  fill(draft) {
    const spec = child(draft, "spec");
    if (!spec) return;
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    const hostPath = child(spec, "hostPath");
    if (hostPath) fill(hostPath, "type", "");
  },
  prepareCreate(draft) {
    const since = text(child(draft, "metadata"), "creationTimestamp");
    draft["status"] = { phase: "Pending", ...(since !== "" && { lastPhaseTransitionTime: since }) };
  },
  columns: [
    nameColumn,
    column("Capacity", (object) => text(descend(object, "spec", "capacity"), "storage")),
    column("Access Modes", (object) => accessModes(strings(child(object, "spec"), "accessModes"))),
    column("Reclaim Policy", (object) => text(child(object, "spec"), "persistentVolumeReclaimPolicy")),
    column("Status", phase),
    column("Claim", claimOf),
    column("StorageClass", (object) => annotatedClass(object) || text(child(object, "spec"), "storageClassName")),
    column("VolumeAttributesClass", (object) => text(child(object, "spec"), "volumeAttributesClassName") || "<unset>"),
    column("Reason", (object) => text(child(object, "status"), "reason")),
    ageColumn,
    wide("VolumeMode", (object) => text(child(object, "spec"), "volumeMode") || "<unset>"),
  ],
};

export const persistentVolumeClaim: Behaviour = {
  validate: validateClaim,
  warnings: claimWarnings,
  validateUpdate: validateClaimUpdate,
  prepareCreate(draft) {
    draft["status"] = { phase: "Pending" };
    sameDataSources(draft);
  },
  prepareUpdate: sameDataSources,
  columns: [
    nameColumn,
    column("Status", phase),
    column("Volume", (object) => text(child(object, "spec"), "volumeName")),
    column("Capacity", (object) =>
      isBound(object) ? text(descend(object, "status", "capacity"), "storage") || "0" : "",
    ),
    column("Access Modes", (object) =>
      isBound(object) ? accessModes(strings(child(object, "status"), "accessModes")) : "",
    ),
    column("StorageClass", (object) => annotatedClass(object) || text(child(object, "spec"), "storageClassName")),
    column("VolumeAttributesClass", (object) => text(child(object, "spec"), "volumeAttributesClassName") || "<unset>"),
    ageColumn,
    wide("VolumeMode", (object) => text(child(object, "spec"), "volumeMode") || "<unset>"),
  ],
};

function phase(object: Draft): string {
  const isGoing = text(child(object, "metadata"), "deletionTimestamp") !== "";
  return isGoing ? "Terminating" : text(child(object, "status"), "phase");
}

function claimOf(volume: Draft): string {
  const claim = descend(volume, "spec", "claimRef");
  return claim ? `${text(claim, "namespace")}/${text(claim, "name")}` : "";
}

const annotatedClass = (object: Draft): string =>
  text(descend(object, "metadata", "annotations"), "volume.beta.kubernetes.io/storage-class");

const isBound = (claim: Draft): boolean => text(child(claim, "spec"), "volumeName") !== "";

/** The old and the new way to name a data source say the same. */
function sameDataSources(draft: Draft): void {
  const spec = ensure(draft, "spec");
  if (spec["dataSource"] !== undefined) fill(spec, "dataSourceRef", spec["dataSource"]);
  else {
    const reference = child(spec, "dataSourceRef");
    if (reference && text(reference, "namespace") === "") spec["dataSource"] = { ...reference };
  }
}

const accessModeNames: readonly (readonly [string, string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

const accessModes = (modes: readonly string[]): string =>
  accessModeNames
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
