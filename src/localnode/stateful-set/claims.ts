import { Pod } from "../../api/builtin/pod.ts";
import { PersistentVolumeClaim } from "../../api/builtin/volume.ts";
import { StatefulSet } from "../../api/builtin/workloads.ts";
import type { ObjectKey } from "../../kube/object.ts";
import { ownerReference, setOwnerReference } from "../../kube/owner-reference.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";

/** The claims of one pod of a StatefulSet: made before it, and kept after it unless the set says otherwise. */
export function claimNames(
  { metadata, spec }: StatefulSet,
  ordinal: number,
): readonly { readonly volume: string; readonly claim: string }[] {
  return (spec.volumeClaimTemplates ?? []).map((template) => {
    const volume = template.metadata?.name ?? "";
    return { volume, claim: `${volume}-${metadata.name}-${ordinal}` };
  });
}

export async function ensureClaims(
  set: StatefulSet,
  ordinal: number,
  { read, write, events }: ReconcileContext,
): Promise<void> {
  const { namespace, name } = set.metadata;
  for (const [index, { claim }] of claimNames(set, ordinal).entries()) {
    if (read.get(PersistentVolumeClaim, keyOf(namespace, claim)) !== undefined) continue;
    const template = set.spec.volumeClaimTemplates?.[index];
    const goesWithSet = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Delete";
    const made = await write.create(PersistentVolumeClaim, {
      metadata: {
        ...keyOf(namespace, claim),
        labels: { ...template?.metadata?.labels, ...set.spec.selector.matchLabels },
        ...(template?.metadata?.annotations && { annotations: template.metadata.annotations }),
        ...(goesWithSet && { ownerReferences: [ownerReference(StatefulSet, set)] }),
      },
      spec: template?.spec ?? {},
    });
    const message = `create Claim ${claim} Pod ${name}-${ordinal} in StatefulSet ${name} success`;
    if (made.ok) events.record(set, { type: "Normal", reason: "SuccessfulCreate", message });
    if (!made.ok && made.reason !== "AlreadyExists") {
      throw new Error(`cannot create PersistentVolumeClaim ${claim}: ${made.reason}: ${made.message}`);
    }
  }
}

/** A claim that goes with its pod when the set is made smaller: the pod becomes its owner. */
export async function releaseClaims(
  set: StatefulSet,
  pod: Pod,
  ordinal: number,
  { read, write }: ReconcileContext,
): Promise<void> {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== "Delete") return;
  for (const { claim } of claimNames(set, ordinal)) {
    const found = read.get(PersistentVolumeClaim, keyOf(set.metadata.namespace, claim));
    if (found === undefined) continue;
    const owners = setOwnerReference(found.metadata.ownerReferences, ownerReference(Pod, pod));
    if (!owners.ok) continue;
    const value = { metadata: { ownerReferences: owners.references } };
    await write.patch(PersistentVolumeClaim, keyOf(set.metadata.namespace, claim), { type: "merge", value });
  }
}

const keyOf = (namespace: string | undefined, name: string): ObjectKey =>
  namespace === undefined ? { name } : { namespace, name };
