/**
 * Lays an applied value over the live one. Nothing is removed here; what does not change keeps its identity, so that a
 * later comparison can skip it.
 */
import type { ListType, MapType, Type } from "./compile.ts";
import { fieldOf, isEmptyMap, isList, isMap, type JsonMap, setField } from "./json-value.ts";
import type { PathElement } from "./path-element.ts";
import { fieldTypeOf, itemElement, shapeOf, type TypedValue } from "./typed-value.ts";

export const mergeTyped = (live: TypedValue, applied: TypedValue): TypedValue => ({
  type: live.type,
  value: merge(live.type, live.value, applied.value),
});

function merge(type: Type, live: unknown, applied: unknown): unknown {
  if (applied === undefined || live === applied) return live;
  if (live === undefined) return applied;
  const shape = shapeOf(type, applied);
  if (shape.kind === "Map") {
    const liveMap = isMap(live) && !isEmptyMap(live) ? live : undefined;
    const appliedMap = isMap(applied) && !isEmptyMap(applied) ? applied : undefined;
    if (shape.atomic || !liveMap) return applied;
    return appliedMap ? mergeMaps(shape, liveMap, appliedMap) : live;
  }
  if (shape.kind === "List") {
    const liveList = isList(live) && live.length > 0 ? live : undefined;
    const appliedList = isList(applied) && applied.length > 0 ? applied : undefined;
    if (shape.relationship === "atomic" || !liveList) return applied;
    return appliedList ? mergeLists(shape, liveList, appliedList) : live;
  }
  return applied;
}

function mergeMaps(map: MapType, live: JsonMap, applied: JsonMap): JsonMap {
  let merged: Record<string, unknown> | undefined;
  for (const name of Object.keys(applied)) {
    const value = applied[name];
    if (value === undefined) continue;
    const before = fieldOf(live, name);
    const type = fieldTypeOf(map, name);
    const after = type ? merge(type, before, value) : value;
    if (after === before) continue;
    merged ??= { ...live };
    setField(merged, name, after);
  }
  return merged ?? live;
}

/**
 * The applied order decides between items that both sides have; an item that only the live list has stays behind the
 * same neighbour as before.
 */
function mergeLists(list: ListType, live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const liveElements = live.map((item) => itemElement(list, item));
  const appliedElements = applied.map((item) => itemElement(list, item));
  const liveItems = indexItems(liveElements, live);
  const appliedItems = new Map(appliedElements.map((element, index) => [element, applied[index]]));
  const shared = appliedElements.filter((element) => liveItems.has(element));
  const taken = new Set<PathElement>();
  const merged: unknown[] = [];
  let nextShared = 0;

  const take = (element: PathElement): void => {
    taken.add(element);
    merged.push(merge(list.element, liveItems.get(element), appliedItems.get(element)));
  };

  let left = 0;
  let right = 0;
  while (left < live.length || right < applied.length) {
    const mine = liveElements[left];
    const theirs = appliedElements[right];
    if (mine !== undefined && mine === theirs) {
      take(mine);
      left += 1;
      right += 1;
      nextShared += 1;
      continue;
    }
    if (mine !== undefined) {
      const awaited = shared[nextShared];
      if (!appliedItems.has(mine)) {
        merged.push(live[left]);
        left += 1;
        continue;
      }
      if (theirs !== undefined && awaited !== undefined && awaited !== mine) {
        // Both sides have it, but its turn in the applied order is another one.
        left += 1;
        continue;
      }
      if (taken.has(mine)) left += 1;
    }
    if (theirs !== undefined) {
      take(theirs);
      right += 1;
      if (shared[nextShared] === theirs) nextShared += 1;
    }
  }
  return sameItems(merged, live) ? live : merged;
}

/** Items that share a key are not merged with: null stands for them. */
function indexItems(elements: readonly PathElement[], items: readonly unknown[]): Map<PathElement, unknown> {
  const index = new Map<PathElement, unknown>();
  elements.forEach((element, position) => index.set(element, index.has(element) ? null : items[position]));
  return index;
}

const sameItems = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);
