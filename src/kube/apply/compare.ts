/** What changed between two values of one type, as three sets of fields. */
import type { ListType, MapType, Type } from "./compile.ts";
import { emptySet, type FieldSet, isEmpty, leaf, union } from "./field-set.ts";
import { equalJson, fieldOf, isEmptyMap, isList, isMap, type JsonMap } from "./json-value.ts";
import type { PathElement } from "./path-element.ts";
import { fieldElementOf, itemElement, type Shape, shapeOf, type TypedValue } from "./typed-value.ts";

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

export const noChange: Comparison = { added: emptySet, modified: emptySet, removed: emptySet };

export function compareTyped(before: TypedValue, after: TypedValue): Comparison {
  const found = compare(before.type, before.value, after.value);
  if (!found) return noChange;
  return {
    added: withoutSelf(found.added),
    modified: withoutSelf(found.modified),
    removed: withoutSelf(found.removed),
  };
}

// The whole object belongs to nobody.
const withoutSelf = (set: FieldSet): FieldSet => (set.own ? { own: false, children: set.children } : set);

const leafModified: Comparison = { added: emptySet, modified: leaf, removed: emptySet };

function compare(type: Type, before: unknown, after: unknown): Comparison | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: everything(type, after), modified: emptySet, removed: emptySet };
  if (after === undefined) return { added: emptySet, modified: emptySet, removed: everything(type, before) };
  const shapeBefore = shapeOf(type, before);
  const shapeAfter = shapeOf(type, after);
  const changes = compareAs(shapeAfter, before, after);
  if (shapeBefore === shapeAfter) return changes;
  // The value changed its shape: what was in the old one is gone, what is in the new one has come.
  const old = compareAs(shapeBefore, before, after);
  return old && changes ? join(old, changes) : (old ?? changes);
}

function compareAs(shape: Shape, before: unknown, after: unknown): Comparison | undefined {
  switch (shape.kind) {
    case "Map": {
      const left = isMap(before) && !isEmptyMap(before) ? before : undefined;
      const right = isMap(after) && !isEmptyMap(after) ? after : undefined;
      if (shape.atomic || (!left && !right)) return compareLeaves(before, after);
      return compareMaps(shape, left ?? {}, right ?? {});
    }
    case "List": {
      const left = isList(before) ? before : [];
      const right = isList(after) ? after : [];
      if (shape.relationship === "atomic" || (left.length === 0 && right.length === 0))
        return compareLeaves(before, after);
      return compareLists(shape, left, right);
    }
    default:
      return compareLeaves(before, after);
  }
}

const compareLeaves = (before: unknown, after: unknown): Comparison | undefined =>
  equalJson(before, after) ? undefined : leafModified;

function compareMaps(map: MapType, before: JsonMap, after: JsonMap): Comparison | undefined {
  const changes = new Changes();
  const visit = (name: string, left: unknown, right: unknown): void => {
    if (left === right) return;
    const field = map.fields.get(name);
    const type = field ? field.type : map.element;
    if (type) changes.add(fieldElementOf(field, name), compare(type, left, right));
  };
  for (const name of Object.keys(before)) visit(name, before[name], fieldOf(after, name));
  for (const name of Object.keys(after)) if (fieldOf(before, name) === undefined) visit(name, undefined, after[name]);
  return changes.found();
}

function compareLists(list: ListType, before: readonly unknown[], after: readonly unknown[]): Comparison | undefined {
  const changes = new Changes();
  const left = groupItems(list, before);
  const right = groupItems(list, after);
  for (const [element, items] of left) changes.add(element, compareItems(list, items, right.get(element) ?? []));
  for (const [element, items] of right) if (!left.has(element)) changes.add(element, compareItems(list, [], items));
  return changes.found();
}

/** Items that share a key count as one leaf; as soon as there is only one, it is a normal item again. */
function compareItems(list: ListType, before: readonly unknown[], after: readonly unknown[]): Comparison | undefined {
  const manyBefore = before.length > 1;
  const manyAfter = after.length > 1;
  if (manyBefore && manyAfter) return equalJson(before, after) ? undefined : leafModified;
  if (manyBefore) {
    const added = after.length > 0 ? everything(list.element, after[0]) : emptySet;
    return { added, modified: emptySet, removed: leaf };
  }
  if (manyAfter) {
    const removed = before.length > 0 ? everything(list.element, before[0]) : emptySet;
    return { added: leaf, modified: emptySet, removed };
  }
  return compare(list.element, before[0], after[0]);
}

function groupItems(list: ListType, items: readonly unknown[]): Map<PathElement, readonly unknown[]> {
  const groups = new Map<PathElement, readonly unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const group = groups.get(element);
    groups.set(element, group ? [...group, item] : [item]);
  }
  return groups;
}

/** Every field of a value that has come or gone as a whole, containers included. */
function everything(type: Type, value: unknown): FieldSet {
  const shape = shapeOf(type, value);
  if (shape.kind === "Map" && !shape.atomic && isMap(value)) return everyField(shape, value);
  if (shape.kind === "List" && shape.relationship !== "atomic" && isList(value)) return everyItem(shape, value);
  return leaf;
}

function everyField(map: MapType, value: JsonMap): FieldSet {
  let children: Map<PathElement, FieldSet> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    const field = map.fields.get(name);
    const type = field ? field.type : map.element;
    if (member === undefined || !type) continue;
    children ??= new Map();
    children.set(fieldElementOf(field, name), everything(type, member));
  }
  return children ? { own: true, children } : leaf;
}

function everyItem(list: ListType, value: readonly unknown[]): FieldSet {
  if (value.length === 0) return leaf;
  const children = new Map<PathElement, FieldSet>();
  for (const item of value) {
    const element = itemElement(list, item);
    children.set(element, children.has(element) ? leaf : everything(list.element, item));
  }
  return { own: true, children };
}

/** Gathers the changes of one container; most have none, so nothing is made before the first. */
class Changes {
  #added: Map<PathElement, FieldSet> | undefined;
  #modified: Map<PathElement, FieldSet> | undefined;
  #removed: Map<PathElement, FieldSet> | undefined;

  add(element: PathElement, change: Comparison | undefined): void {
    if (!change) return;
    if (!isEmpty(change.added)) this.#added = (this.#added ?? new Map()).set(element, change.added);
    if (!isEmpty(change.modified)) this.#modified = (this.#modified ?? new Map()).set(element, change.modified);
    if (!isEmpty(change.removed)) this.#removed = (this.#removed ?? new Map()).set(element, change.removed);
  }

  found(): Comparison | undefined {
    if (!this.#added && !this.#modified && !this.#removed) return undefined;
    return { added: nodeOf(this.#added), modified: nodeOf(this.#modified), removed: nodeOf(this.#removed) };
  }
}

const nodeOf = (children: ReadonlyMap<PathElement, FieldSet> | undefined): FieldSet =>
  children ? { own: false, children } : emptySet;

function join(left: Comparison, right: Comparison): Comparison {
  return {
    added: union(left.added, right.added),
    modified: union(left.modified, right.modified),
    removed: union(left.removed, right.removed),
  };
}
