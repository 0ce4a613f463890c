import type { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import type { KindRef } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";

/** A volume of the cluster, as far as claims and processes care. */
export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly capacity?: Readonly<Record<string, string | number>>;
    readonly accessModes?: readonly string[];
    readonly claimRef?: ClaimReference;
    readonly persistentVolumeReclaimPolicy?: string;
    readonly storageClassName?: string;
    readonly volumeMode?: string;
    readonly hostPath?: { readonly path: string; readonly type?: string };
    readonly local?: { readonly path: string };
  };
  readonly status?: { readonly phase?: string; readonly lastPhaseTransitionTime?: string };
}

export interface ClaimReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

export const PersistentVolume: KindRef<PersistentVolume> = {
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
};

/** Which volumes this node has made itself, and may therefore remove. */
export const provisionedBy = "pv.kubernetes.io/provisioned-by";
export const ownProvisioner = "localnode.capstan.dev/folder";

export const isOwnVolume = ({ metadata }: PersistentVolume): boolean =>
  metadata.annotations?.[provisionedBy] === ownProvisioner;

/** A reference that was written by hand has no uid, and means whichever claim has the name. */
export const isClaimedBy = ({ spec: { claimRef } }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean =>
  claimRef !== undefined &&
  claimRef.namespace === metadata.namespace &&
  claimRef.name === metadata.name &&
  (claimRef.uid === undefined || claimRef.uid === "" || claimRef.uid === metadata.uid);
