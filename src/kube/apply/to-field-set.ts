/** The fields that an applied value speaks about, which are the fields that its applier comes to own. */
import type { ListType, MapType, Type } from "./compile.ts";
import { emptySet, type FieldSet, leaf } from "./field-set.ts";
import { isEmptyMap, isList, isMap, type JsonMap } from "./json-value.ts";
import type { PathElement } from "./path-element.ts";
import { fieldElementOf, itemElementOrLost, shapeOf, type TypedValue } from "./typed-value.ts";

export function toFieldSet(typed: TypedValue): FieldSet {
  const { children } = walk(typed.type, typed.value);
  return children ? { own: false, children } : emptySet;
}

function walk(type: Type, value: unknown): FieldSet {
  const shape = shapeOf(type, value);
  switch (shape.kind) {
    case "Scalar":
      return leaf;
    case "List":
      if (shape.relationship === "atomic") return leaf;
      return isList(value) ? walkList(shape, value) : emptySet;
    case "Map":
      if (shape.atomic) return leaf;
      return isMap(value) ? walkMap(shape, value) : emptySet;
    case "None":
      return emptySet;
  }
}

function walkMap(map: MapType, value: JsonMap): FieldSet {
  let children: Map<PathElement, FieldSet> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const field = map.fields.get(name);
    const type = field ? field.type : map.element;
    let node = type ? walk(type, member) : emptySet;
    // A declared container belongs to nobody; only what is in it does, or its emptiness.
    const owns = field === undefined || member === null || (isMap(member) && isEmptyMap(member));
    if (owns && !node.own) node = node.children ? { own: true, children: node.children } : leaf;
    if (!node.own && !node.children) continue;
    children ??= new Map();
    children.set(fieldElementOf(field, name), node);
  }
  return children ? { own: false, children } : emptySet;
}

function walkList(list: ListType, value: readonly unknown[]): FieldSet {
  if (value.length === 0) return emptySet;
  const children = new Map<PathElement, FieldSet>();
  for (const item of value) {
    const element = itemElementOrLost(list, item);
    if (children.has(element)) {
      // Items that share a key cannot be told apart, so they are owned together and nothing in them is.
      children.set(element, leaf);
      continue;
    }
    const { children: inner } = walk(list.element, item);
    children.set(element, inner ? { own: true, children: inner } : leaf);
  }
  return { own: false, children };
}
