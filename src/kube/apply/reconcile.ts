/**
 * Brings a stored field set in line with a schema that changed since: what has become atomic is now owned as a whole by
 * everyone who owned a part of it. The other direction needs nothing.
 */
import type { Type } from "./compile.ts";
import { type FieldSet, leaf } from "./field-set.ts";
import { isFieldElement, type PathElement } from "./path-element.ts";
import { declaredShape } from "./typed-value.ts";

export const reconcileFieldSet = (set: FieldSet, type: Type): FieldSet => {
  const children = reconcileChildren(set, type);
  return children === set.children ? set : { own: set.own, children };
};

function reconcile(set: FieldSet, type: Type): FieldSet {
  const shape = declaredShape(type);
  if (shape.kind === "List" && shape.relationship === "atomic") return leaf;
  if (shape.kind === "Map" && shape.atomic && !shape.deduced) return leaf;
  return reconcileFieldSet(set, type);
}

function reconcileChildren(set: FieldSet, type: Type): ReadonlyMap<PathElement, FieldSet> | undefined {
  if (!set.children) return set.children;
  const shape = declaredShape(type);
  if (shape.kind !== "Map" && shape.kind !== "List") return set.children;
  if (shape.kind === "Map" && shape.deduced) return set.children;
  let children: Map<PathElement, FieldSet> | undefined;
  for (const [element, child] of set.children) {
    // A path with nothing below it is right whether its value is atomic or not.
    if (!child.children) continue;
    const inner =
      shape.kind === "List"
        ? shape.element
        : ((isFieldElement(element) ? shape.fields.get(element.slice(2))?.type : undefined) ?? shape.element);
    if (!inner) continue;
    const reconciled = reconcile(child, inner);
    if (reconciled === child) continue;
    children ??= new Map(set.children);
    children.set(element, reconciled);
  }
  return children ?? set.children;
}
