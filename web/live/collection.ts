import type { KubeObject } from "../../src/kube/object.ts";

/** What a feed has told so far, sorted by namespace and name. Every change makes a new list; the old one stays as it is. */
export interface Collection<T> {
  readonly items: readonly T[];
  readonly columns: readonly Column[];
}

/** A column of what `kubectl get` would print. */
export interface Column {
  readonly name: string;
  readonly priority: number;
}

export interface Row {
  readonly cells: readonly unknown[];
  readonly object: KubeObject;
}

export interface Change<T> {
  readonly type: string;
  readonly item: T;
}

export const keyOf = (item: unknown): string => {
  const { metadata } = objectOf(item);
  return `${metadata.namespace ?? ""}/${metadata.name}`;
};

/** A row of a table carries its object; an object is its own. */
const objectOf = (item: unknown): KubeObject => {
  const { object, metadata } = item as { readonly object?: KubeObject; readonly metadata?: KubeObject["metadata"] };
  return metadata === undefined && object ? object : (item as KubeObject);
};

export const sortByKey = <T>(items: readonly T[]): readonly T[] =>
  items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ item }) => item);

/** All changes of a burst at once: a place is found by halving, so that ten thousand rows cost no more than ten. */
export function applyChanges<T>(items: readonly T[], changes: readonly Change<T>[]): readonly T[] {
  const next = [...items];
  for (const { type, item } of changes) {
    const key = keyOf(item);
    const place = placeOf(next, key);
    const known = next[place];
    const isKnown = known !== undefined && keyOf(known) === key;
    if (type === "DELETED") {
      // A late word about an object that has been made anew must not take the new one away.
      if (isKnown && objectOf(known).metadata.uid === objectOf(item).metadata.uid) next.splice(place, 1);
    } else next.splice(place, isKnown ? 1 : 0, item);
  }
  return next;
}

function placeOf<T>(items: readonly T[], key: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(keyOf(items[middle]), key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
