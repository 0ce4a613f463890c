/** How a strategic merge patch tells list items apart and puts them in order. */
import { fieldOf, isList, isMap } from "../apply/json-value.ts";
import { PatchFault } from "./patch-result.ts";

/** The field that identifies an item; undefined for lists of scalars, whose items identify themselves. */
export type MergeKey = string | undefined;

export function identityOf(item: unknown, mergeKey: MergeKey): unknown {
  if (mergeKey === undefined || !isMap(item)) return item;
  const identity = fieldOf(item, mergeKey);
  if (identity !== undefined) return identity;
  throw new PatchFault("Unsupported", `map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
}

export const presentIn = (list: readonly unknown[], item: unknown, mergeKey: MergeKey): boolean =>
  indexIn(list, item, mergeKey) >= 0;

function indexIn(list: readonly unknown[], item: unknown, mergeKey: MergeKey): number {
  const identity = identityOf(item, mergeKey);
  return list.findIndex((other) => identityOf(other, mergeKey) === identity);
}

/** All items of a mergeable list are maps, or none is. */
export function elementKind(...lists: readonly (readonly unknown[])[]): "Map" | "Scalar" {
  const items = lists.flat();
  const [first] = items;
  if (isList(first)) throw new PatchFault("Inapplicable", "lists of lists are not supported");
  const kind = goKind(first);
  if (items.some((item) => goKind(item) !== kind)) {
    throw new PatchFault("Unsupported", "list element types are not identical");
  }
  return kind === "map" ? "Map" : "Scalar";
}

const goKind = (value: unknown): string => {
  if (isMap(value)) return "map";
  if (isList(value)) return "list";
  return value === null ? "null" : typeof value;
};

export interface Ordering {
  readonly fromPatch: readonly unknown[];
  readonly fromServer: readonly unknown[];
  /** The order that the patch asks for. */
  readonly order: readonly unknown[];
  readonly serverOrder: readonly unknown[];
  readonly mergeKey: MergeKey;
}

/**
 * Items of the patch in the patch's order, all others in the server's; where the two meet, an item of the server goes first
 * if it stood before the patch's item on the server.
 */
export function orderItems({ fromPatch, fromServer, order, serverOrder, mergeKey }: Ordering): readonly unknown[] {
  const left = sortBy(fromServer, serverOrder, mergeKey);
  const right = sortBy(fromPatch, order, mergeKey);
  const merged: unknown[] = [];
  let next = 0;
  for (const item of right) {
    const place = indexIn(serverOrder, item, mergeKey);
    while (next < left.length && place >= 0) {
      const other = indexIn(serverOrder, left[next], mergeKey);
      if (other < 0 || other >= place) break;
      merged.push(left[next]);
      next += 1;
    }
    merged.push(item);
  }
  return [...merged, ...left.slice(next)];
}

function sortBy(items: readonly unknown[], order: readonly unknown[], mergeKey: MergeKey): readonly unknown[] {
  const places = new Map(items.map((item) => [item, indexIn(order, item, mergeKey)]));
  const placeOf = (item: unknown): number => places.get(item) ?? -1;
  return [...items].sort((left, right) => {
    const before = placeOf(left);
    const after = placeOf(right);
    return before < 0 || after < 0 ? 0 : before - after;
  });
}
