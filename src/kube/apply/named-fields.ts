/**
 * Appliers do not own declared containers, only what is in them. When fields are removed the containers count as well,
 * otherwise an emptied struct would stay behind.
 */
import type { Type } from "./compile.ts";
import type { FieldSet } from "./field-set.ts";
import { isFieldElement, isKeyElement, type PathElement } from "./path-element.ts";

export function withNamedFields(set: FieldSet, type: Type | undefined): FieldSet {
  if (!set.children) return set;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const [element, child] of set.children) {
    if (!child.children) continue;
    const declared = isFieldElement(element) ? type?.map?.fields.get(element.slice(2)) : undefined;
    const inner = withNamedFields(child, declared ? declared.type : typeOfChild(element, type));
    const named = declared && !inner.own ? { own: true, children: inner.children } : inner;
    if (named === child) continue;
    children ??= new Map(set.children);
    children.set(element, named);
  }
  return children ? { own: set.own, children } : set;
}

function typeOfChild(element: PathElement, type: Type | undefined): Type | undefined {
  if (isFieldElement(element)) return type?.map?.element;
  return isKeyElement(element) ? type?.list?.element : undefined;
}
