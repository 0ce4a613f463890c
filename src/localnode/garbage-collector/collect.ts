import type { KubeObject, OwnerReference } from "../../kube/object.ts";

/**
 * What is to become of one object, from what is known of its owners and dependents; pure.
 *
 *     an owner is  Solid    it is there, and stays
 *                  Leaving  it waits for its dependents to go first (foreground)
 *                  Absent   it is gone, or never was
 */
export type OwnerState = "Solid" | "Leaving" | "Absent";

export type Verdict =
  | { readonly kind: "Keep" }
  /** Some owners are gone, others are not: only the references go. */
  | { readonly kind: "Unlink"; readonly uids: readonly string[] }
  | { readonly kind: "Delete"; readonly policy: "Background" | "Foreground" | "Orphan" };

export function judge(
  object: KubeObject,
  owners: readonly { readonly reference: OwnerReference; readonly state: OwnerState }[],
  hasDependents: boolean,
): Verdict {
  if (object.metadata.deletionTimestamp !== undefined || owners.length === 0) return { kind: "Keep" };
  const gone = owners.filter(({ state }) => state !== "Solid");
  if (gone.length === 0) return { kind: "Keep" };
  if (gone.length < owners.length) return { kind: "Unlink", uids: gone.map(({ reference }) => reference.uid) };
  const isAwaited = owners.some(({ state }) => state === "Leaving");
  if (isAwaited && hasDependents) return { kind: "Delete", policy: "Foreground" };
  return { kind: "Delete", policy: ownPolicy(object) };
}

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export const hasFinalizer = ({ metadata }: KubeObject, name: string): boolean =>
  metadata.finalizers?.includes(name) ?? false;

/** Deleted, and waiting for its dependents to be deleted first. */
export const isLeavingForeground = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && hasFinalizer(object, foregroundFinalizer);

/** Dependents that an owner in foreground deletion has to wait for. */
export const isBlocking = ({ metadata }: KubeObject, ownerUid: string): boolean =>
  metadata.ownerReferences?.some(({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true) ??
  false;

function ownPolicy(object: KubeObject): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, orphanFinalizer)) return "Orphan";
  return hasFinalizer(object, foregroundFinalizer) ? "Foreground" : "Background";
}
