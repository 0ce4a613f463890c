/**
 * A set of field paths, kept as a tree: a node is `own` when the path to it is in the set, whatever its children are.
 * Nodes are never changed once they are shared, and a node that is neither own nor has children never exists, except as
 * the empty set itself.
 */
import { compareElements, type PathElement } from "./path-element.ts";

export interface FieldSet {
  readonly own: boolean;
  readonly children: ReadonlyMap<PathElement, FieldSet> | undefined;
}

export type Path = readonly PathElement[];

export const emptySet: FieldSet = { own: false, children: undefined };

/** The node of a path that is in the set and has nothing below it. */
export const leaf: FieldSet = { own: true, children: undefined };

/** The whole object is never owned as such, so a path without elements adds nothing. */
export function setOf(...paths: readonly Path[]): FieldSet {
  let set = emptySet;
  for (const path of paths) if (path.length > 0) set = union(set, chain(path));
  return set;
}

function chain(path: Path): FieldSet {
  let node = leaf;
  for (let index = path.length - 1; index >= 0; index -= 1) {
    node = { own: false, children: new Map([[path[index] ?? "", node]]) };
  }
  return node;
}

export const isEmpty = (set: FieldSet): boolean => !set.own && (set.children === undefined || set.children.size === 0);

/** How many paths are in the set. */
export function sizeOf(set: FieldSet): number {
  let size = set.own ? 1 : 0;
  if (set.children) for (const child of set.children.values()) size += sizeOf(child);
  return size;
}

export function has(set: FieldSet, path: Path): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node.children?.get(element);
    if (node === undefined) return false;
  }
  return node.own;
}

export function equalSets(left: FieldSet, right: FieldSet): boolean {
  if (left === right) return true;
  if (left.own !== right.own || (left.children?.size ?? 0) !== (right.children?.size ?? 0)) return false;
  if (left.children) {
    for (const [element, child] of left.children) {
      const other = right.children?.get(element);
      if (other === undefined || !equalSets(child, other)) return false;
    }
  }
  return true;
}

/** True when every path of `inner` is in `outer`. */
export function contains(outer: FieldSet, inner: FieldSet): boolean {
  if (outer === inner) return true;
  if (inner.own && !outer.own) return false;
  if (inner.children) {
    for (const [element, child] of inner.children) {
      const other = outer.children?.get(element);
      if (other === undefined || !contains(other, child)) return false;
    }
  }
  return true;
}

export function union(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right || isEmpty(right)) return left;
  if (isEmpty(left)) return right;
  const own = left.own || right.own;
  if (!right.children) return own === left.own ? left : { own, children: left.children };
  if (!left.children) return own === right.own ? right : { own, children: right.children };
  let children: Map<PathElement, FieldSet> | undefined;
  for (const [element, child] of right.children) {
    const mine = left.children.get(element);
    const joined = mine ? union(mine, child) : child;
    if (joined !== mine) {
      children ??= new Map(left.children);
      children.set(element, joined);
    }
  }
  if (!children && own === left.own) return left;
  return { own, children: children ?? left.children };
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  if (left === right) return left;
  let children: Map<PathElement, FieldSet> | undefined;
  if (left.children && right.children) {
    const [few, many] = left.children.size <= right.children.size ? [left, right] : [right, left];
    for (const [element, child] of few.children ?? []) {
      const other = many.children?.get(element);
      if (other === undefined) continue;
      const common = intersection(child, other);
      if (!isEmpty(common)) {
        children ??= new Map();
        children.set(element, common);
      }
    }
  }
  return { own: left.own && right.own, children };
}

/** The paths of `left` that are not in `right`; what lies below a path of `right` stays. */
export const difference = (left: FieldSet, right: FieldSet): FieldSet => subtract(left, right, false);

/** As `difference`, but a path of `right` takes everything below it along. */
export const recursiveDifference = (left: FieldSet, right: FieldSet): FieldSet => subtract(left, right, true);

function subtract(left: FieldSet, right: FieldSet, recursive: boolean): FieldSet {
  const own = left.own && !right.own;
  let rest = left.children;
  if (left.children && right.children) {
    let kept: Map<PathElement, FieldSet> | undefined;
    for (const [element, taken] of right.children) {
      const child = left.children.get(element);
      if (child === undefined) continue;
      const remainder = recursive && taken.own ? emptySet : subtract(child, taken, recursive);
      if (remainder === child) continue;
      kept ??= new Map(left.children);
      if (isEmpty(remainder)) kept.delete(element);
      else kept.set(element, remainder);
    }
    if (kept) rest = kept.size > 0 ? kept : undefined;
  }
  return own === left.own && rest === left.children ? left : { own, children: rest };
}

/** The paths that have nothing below them. */
export function leaves(set: FieldSet): FieldSet {
  if (!set.children || set.children.size === 0) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children) children.set(element, leaves(child));
  return { own: false, children };
}

/** Every path, parents before what is below them in the way Kubernetes lists them: all members of a level first. */
export function pathsOf(set: FieldSet): readonly Path[] {
  const paths: Path[] = [];
  collect(set, [], paths);
  return paths;
}

function collect(set: FieldSet, prefix: Path, paths: Path[]): void {
  const children = sortedChildren(set);
  for (const [element, child] of children) if (child.own) paths.push([...prefix, element]);
  for (const [element, child] of children) if (child.children) collect(child, [...prefix, element], paths);
}

/** The children in the order in which they are written. */
export function sortedChildren(set: FieldSet): readonly (readonly [PathElement, FieldSet])[] {
  if (!set.children) return [];
  const entries = [...set.children];
  return isSorted(entries) ? entries : entries.sort(([left], [right]) => compareElements(left, right));
}

function isSorted(entries: readonly (readonly [PathElement, FieldSet])[]): boolean {
  for (let index = 1; index < entries.length; index += 1) {
    const [left] = entries[index - 1] ?? [""];
    const [right] = entries[index] ?? [""];
    if (compareElements(left, right) > 0) return false;
  }
  return true;
}
