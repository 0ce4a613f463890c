import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { KindRef } from "../../kube/kind.ts";
import { type LabelSelector, labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { KubeObject, ObjectKey } from "../../kube/object.ts";
import { controllerOf, controllerReference } from "../../kube/owner-reference.ts";
import type { Read } from "../../runtime/read.ts";
import type { Write } from "../../runtime/write.ts";

export const selects = (selector: LabelSelector | undefined, object: KubeObject): boolean =>
  selection(selector)(object);

/** For a selector that many objects are held against. */
export function selection(selector: LabelSelector | undefined): (object: KubeObject) => boolean {
  const requirements = labelSelectorRequirements(selector);
  return ({ metadata }) => requirements.ok && matchesLabels(requirements.value, metadata.labels);
}

/**
 * The children that belong to an owner, after orphans that its selector matches were adopted and children that it no
 * longer matches were let go. An object that another owner controls is left alone.
 */
export async function claim<C extends KubeObject>(
  write: Write,
  owner: ClaimingOwner,
  childKind: KindRef<C>,
  candidates: readonly C[],
): Promise<readonly C[]> {
  const claimed: C[] = [];
  const isSelected = selection(owner.selector);
  const reference = controllerReference(owner.kind, owner.object);
  let ownerLeaves = owner.object.metadata.deletionTimestamp !== undefined;
  let isAsked = false;
  for (const child of candidates) {
    const controller = controllerOf(child);
    if (controller !== undefined && controller.uid !== reference.uid) continue;
    const matches = isSelected(child);
    if (controller !== undefined && matches) {
      claimed.push(child);
      continue;
    }
    if (ownerLeaves || (controller === undefined && (!matches || child.metadata.deletionTimestamp !== undefined)))
      continue;
    if (controller === undefined && !isAsked) {
      isAsked = true;
      ownerLeaves = await hasLeft(owner);
      if (ownerLeaves) continue;
    }
    const others = (child.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== reference.uid);
    const ownerReferences = controller === undefined ? [...others, reference] : others;
    const { uid, resourceVersion } = child.metadata;
    const value = {
      metadata: { uid, resourceVersion, ownerReferences: ownerReferences.length ? ownerReferences : null },
    };
    const written = await write.patch(childKind, child.metadata, { type: "merge", value });
    if (written.ok && controller === undefined) claimed.push(written.object);
  }
  return claimed;
}

export interface ClaimingOwner {
  readonly kind: KindRef;
  readonly object: KubeObject;
  readonly selector: LabelSelector | undefined;
  /** Asked before anything is adopted: a cache may not know yet that the owner is being deleted. */
  readonly live: Pick<Client, "get">;
}

async function hasLeft({ kind, object, live }: ClaimingOwner): Promise<boolean> {
  try {
    const { metadata } = await live.get(kind, object.metadata);
    return metadata.uid !== object.metadata.uid || metadata.deletionTimestamp !== undefined;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** The objects of a kind that would adopt this orphan. */
export function ownersSelecting<T extends KubeObject & { readonly spec: { readonly selector?: LabelSelector } }>(
  read: Read,
  kind: KindRef<T>,
  orphan: KubeObject,
): readonly ObjectKey[] {
  const { namespace } = orphan.metadata;
  if (namespace === undefined) return [];
  return read
    .list(kind, { namespace })
    .filter(({ spec }) => selects(spec.selector, orphan))
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
}
