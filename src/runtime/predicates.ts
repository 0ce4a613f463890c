import { deepEqual } from "../kube/equality.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Change } from "./change.ts";

/** Says whether a change is worth a reconcile. Additions and deletions always are, for the ones below. */
export type Predicate<T extends KubeObject = KubeObject> = (change: Change<T>) => boolean;

/** The specification has changed (the server counts that), not just status or metadata. */
export const generationChanged: Predicate = onUpdate(
  (old, object) => old.metadata.generation !== object.metadata.generation,
);
export const labelsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.labels, object.metadata.labels),
);
export const annotationsChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.annotations, object.metadata.annotations),
);
export const ownersChanged: Predicate = onUpdate(
  (old, object) => !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences),
);
export const resourceVersionChanged: Predicate = onUpdate(
  (old, object) => old.metadata.resourceVersion !== object.metadata.resourceVersion,
);
/** A deletion was asked for, or a finalizer came or went. */
export const deletionChanged: Predicate = onUpdate(
  (old, object) =>
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    !deepEqual(old.metadata.finalizers, object.metadata.finalizers),
);

export const and =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (change) =>
    predicates.every((predicate) => predicate(change));
export const or =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (change) =>
    predicates.some((predicate) => predicate(change));
export const not =
  <T extends KubeObject>(predicate: Predicate<T>): Predicate<T> =>
  (change) =>
    !predicate(change);

function onUpdate(differs: (old: KubeObject, object: KubeObject) => boolean): Predicate {
  return (change) => change.kind !== "Updated" || differs(change.old, change.object);
}
