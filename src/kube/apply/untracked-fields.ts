/** The fields that nobody owns: they name the object or are set by the server itself. */
import { difference, equalSets, isEmpty, setOf } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import type { Managers, Ownership } from "./updater.ts";

/** The owners, with the one of `key` freed of these fields, or without it when it owns nothing else. */
export function withoutUntracked(owners: Managers, key: string, previous?: Ownership): Map<string, Ownership> {
  const rest = new Map(owners);
  const ownership = rest.get(key);
  if (!ownership) return rest;
  const set = difference(ownership.set, untracked);
  if (isEmpty(set)) rest.delete(key);
  // The same fields as before keep the form that they have been written in.
  else rest.set(key, { ...ownership, set: previous && equalSets(previous.set, set) ? previous.set : set });
  return rest;
}

const untracked = setOf(
  [fieldElement("apiVersion")],
  [fieldElement("kind")],
  [fieldElement("metadata")],
  ...[
    ...["name", "namespace", "creationTimestamp", "selfLink", "uid"],
    ...["clusterName", "generation", "managedFields", "resourceVersion"],
  ].map((name) => [fieldElement("metadata"), fieldElement(name)]),
);
