import type { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import { compareQuantities, parseQuantity, type Quantity } from "../../kube/quantity.ts";
import { isClaimedBy, type PersistentVolume } from "./volume.ts";

/** Which volume a claim gets. */
export type VolumeChoice =
  | { readonly kind: "Bind"; readonly volume: PersistentVolume }
  /** None fits, and one may be made. */
  | { readonly kind: "Provision" }
  | { readonly kind: "Wait"; readonly why: string };

export function chooseVolume(claim: PersistentVolumeClaim, volumes: readonly PersistentVolume[]): VolumeChoice {
  const living = volumes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const { volumeName, storageClassName } = claim.spec;
  if (volumeName) {
    const named = living.find(({ metadata }) => metadata.name === volumeName);
    if (named === undefined) return { kind: "Wait", why: `volume ${JSON.stringify(volumeName)} not found` };
    if (named.spec.claimRef !== undefined && !isClaimedBy(named, claim)) {
      return { kind: "Wait", why: `volume ${JSON.stringify(volumeName)} already bound to a different claim.` };
    }
    return { kind: "Bind", volume: named };
  }
  const reserved = living.find((volume) => isClaimedBy(volume, claim));
  if (reserved !== undefined) return { kind: "Bind", volume: reserved };
  const [smallest] = living
    .filter((volume) => volume.spec.claimRef === undefined && satisfies(volume, claim))
    .toSorted(
      (a, b) => compareQuantities(capacityOf(a), capacityOf(b)) || (a.metadata.name < b.metadata.name ? -1 : 1),
    );
  if (smallest !== undefined) return { kind: "Bind", volume: smallest };
  // An empty class says: only what is there already.
  if (storageClassName === "") {
    return { kind: "Wait", why: "no persistent volumes available for this claim and no storage class is set" };
  }
  return { kind: "Provision" };
}

type Claim = PersistentVolumeClaim["spec"] & { readonly selector?: LabelSelector };

function satisfies({ metadata, spec }: PersistentVolume, { spec: wanted }: PersistentVolumeClaim): boolean {
  const { selector, accessModes = [], volumeMode = "Filesystem", storageClassName = "" } = wanted as Claim;
  const requirements = labelSelectorRequirements(selector ?? {});
  return (
    (spec.storageClassName ?? "") === storageClassName &&
    (spec.volumeMode ?? "Filesystem") === volumeMode &&
    accessModes.every((mode) => spec.accessModes?.includes(mode)) &&
    requirements.ok &&
    matchesLabels(requirements.value, metadata.labels) &&
    compareQuantities(quantityOf(spec.capacity?.["storage"]), requestOf(wanted)) >= 0
  );
}

const capacityOf = ({ spec }: PersistentVolume): Quantity => quantityOf(spec.capacity?.["storage"]);
const requestOf = ({ resources }: PersistentVolumeClaim["spec"]): Quantity =>
  quantityOf(resources?.requests?.["storage"]);

function quantityOf(value: string | number | undefined): Quantity {
  const parsed = parseQuantity(String(value ?? "0"));
  return parsed.ok ? parsed.value : quantityOf("0");
}
