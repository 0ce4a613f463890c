/** Filters that keep fields out of ownership, such as the status of an object that is written without its sub-resource. */
import { emptySet, type FieldSet, isEmpty, type Path, recursiveDifference, setOf } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";

export type FieldFilter = (set: FieldSet) => FieldSet;

/** Leaves out the given paths and everything below them. */
export function excludeFields(...paths: readonly Path[]): FieldFilter {
  const excluded = setOf(...paths);
  return (set) => recursiveDifference(set, excluded);
}

/** Stands for any element in a pattern of `includeFields`. */
export const anyElement = "*";

/** Keeps only what lies at or below one of the patterns, such as `["f:spec", "f:containers", "*", "f:resources"]`. */
export function includeFields(...patterns: readonly (readonly (PathElement | typeof anyElement)[])[]): FieldFilter {
  return (set) => include(set, patterns);
}

function include(set: FieldSet, patterns: readonly (readonly PathElement[])[]): FieldSet {
  if (patterns.some((pattern) => pattern.length === 0)) return set;
  const children = new Map<PathElement, FieldSet>();
  for (const [element, child] of set.children ?? []) {
    const matching = patterns.filter(([first]) => first === anyElement || first === element);
    if (matching.length === 0) continue;
    const rests = matching.map((pattern) => pattern.slice(1));
    const inner = include({ own: false, children: child.children }, rests);
    const own = child.own && rests.some((rest) => rest.length === 0);
    const node = { own, children: inner.children };
    if (!isEmpty(node)) children.set(element, node);
  }
  return children.size > 0 ? { own: false, children } : emptySet;
}
