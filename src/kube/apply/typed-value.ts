/** A value together with its type, and the decisions that every walk over the two shares. */
import type { FieldType, ListType, MapType, Type } from "./compile.ts";
import { elementJson, fieldOf, isList, isMap } from "./json-value.ts";
import { fieldElement, type PathElement, valueElement } from "./path-element.ts";

export interface TypedValue {
  readonly type: Type;
  readonly value: unknown;
}

/** How a value is walked; `None` where the schema says nothing. */
export type Shape = MapType | ListType | { readonly kind: "Scalar" } | { readonly kind: "None" };

const scalarShape: Shape = { kind: "Scalar" };
const noShape: Shape = { kind: "None" };

/** A type that allows several shapes takes the one of its value; null and misfits take the first that the type allows. */
export function shapeOf(type: Type, value: unknown): Shape {
  if (isMap(value)) {
    if (type.map) return type.map;
  } else if (isList(value)) {
    if (type.list) return type.list;
  } else if (value !== null && value !== undefined && type.scalar) {
    return scalarShape;
  }
  return declaredShape(type);
}

export function declaredShape(type: Type): Shape {
  if (type.map) return type.map;
  if (type.scalar) return scalarShape;
  return type.list ?? noShape;
}

export const fieldTypeOf = (map: MapType, name: string): Type | undefined => map.fields.get(name)?.type ?? map.element;

export const fieldElementOf = (field: FieldType | undefined, name: string): PathElement =>
  field ? field.element : fieldElement(name);

export class ItemWithoutIdentity extends Error {}

/** What identifies an item of an associative list: its keys, with their defaults, or its value when it is a set. */
export function itemElement(list: ListType, item: unknown): PathElement {
  if (list.relationship !== "associative") throw new ItemWithoutIdentity("invalid indexing of non-associative list");
  return list.keys.length > 0 ? keyedItemElement(list, item) : setItemElement(item);
}

/** Stands for an item that a removal has emptied: it is no item any more, but its list is not empty either. */
export const lostItem: PathElement = "";

/** As `itemElement`, for values that are half taken apart. */
export const itemElementOrLost = (list: ListType, item: unknown): PathElement =>
  item === null ? lostItem : itemElement(list, item);

function keyedItemElement(list: ListType, item: unknown): PathElement {
  if (item === null) throw new ItemWithoutIdentity("associative list with keys may not have a null element");
  if (!isMap(item)) throw new ItemWithoutIdentity("associative list with keys may not have non-map elements");
  let text = "";
  for (const { name, text: key } of list.orderedKeys) {
    const given = fieldOf(item, name);
    const value = given === undefined ? defaultOf(list, name) : given;
    // A key without value and default identifies another item than one that has it.
    if (value === undefined) continue;
    text += `${text === "" ? "" : ","}${key}${elementJson(value)}`;
  }
  if (text !== "") return `k:{${text}}`;
  const names = list.keys.map((name) => JSON.stringify(name)).join(" ");
  throw new ItemWithoutIdentity(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

function defaultOf(list: ListType, name: string): unknown {
  const { map } = list.element;
  if (!map) {
    throw new ItemWithoutIdentity(
      `couldn't find default value for ${name}: associative list may not have non-map types`,
    );
  }
  return map.fields.get(name)?.default ?? undefined;
}

function setItemElement(item: unknown): PathElement {
  if (isMap(item)) throw new ItemWithoutIdentity("associative list without keys has an element that's a map type");
  if (isList(item)) throw new ItemWithoutIdentity("not supported: associative list with lists as elements");
  if (item === null) {
    throw new ItemWithoutIdentity("associative list without keys has an element that's an explicit null");
  }
  return valueElement(item);
}
