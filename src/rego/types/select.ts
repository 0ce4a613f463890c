/** What iterating over a value of some type gives, and what is found in it under a key. */
import { equalValues } from "../values/compare.ts";
import { isNumber, numberText } from "../values/number.ts";
import type { Value } from "../values/value.ts";
import { compareTypes } from "./order.ts";
import { type AnyType, anyType, isAny, type MaybeType, numberType, or, type Type, typeOfKey } from "./types.ts";

/** The type of the keys; undefined if there are none. */
export function keysOf(type: MaybeType): MaybeType {
  switch (type?.kind) {
    case "array":
      return numberType;
    case "set":
      return type.item;
    case "object": {
      const keys = type.fields.reduce<MaybeType>((known, [key]) => or(known, typeOfKey(key)), undefined);
      return type.rest === undefined ? keys : or(keys, type.rest.key);
    }
    case "any":
      return ofEach(type, keysOf);
    default:
      return undefined;
  }
}

/** The type of the members; undefined if there are none. */
export function valuesOf(type: MaybeType): MaybeType {
  switch (type?.kind) {
    case "array":
      return or(type.items.reduce<MaybeType>(or, undefined), type.rest);
    case "set":
      return type.item;
    case "object": {
      const values = type.fields.reduce<MaybeType>((known, [, field]) => or(known, field), undefined);
      return type.rest === undefined ? values : or(values, type.rest.value);
    }
    case "any":
      return ofEach(type, valuesOf);
    default:
      return undefined;
  }
}

/** The type of what is found under a constant key; undefined if nothing can be there. */
export function selectType(type: MaybeType, key: Value): MaybeType {
  switch (type?.kind) {
    case "array": {
      // Only what is written as an integer counts as one here: `2.0` is no index.
      const index = isNumber(key) && /^\d+$/.test(numberText(key)) ? Number(numberText(key)) : undefined;
      if (index === undefined) return undefined;
      return index < type.items.length ? type.items[index] : type.rest;
    }
    case "object": {
      const field = type.fields.find(([name]) => equalValues(name, key));
      if (field !== undefined) return field[1];
      return type.rest !== undefined && includes(type.rest.key, typeOfKey(key)) ? type.rest.value : undefined;
    }
    case "set": {
      const wanted = typeOfKey(key);
      if (compareTypes(type.item, wanted) === 0) return type.item;
      return type.item?.kind === "any" && includes(type.item, wanted) ? wanted : undefined;
    }
    case "any":
      return ofEach(type, (each) => selectType(each, key));
    default:
      return undefined;
  }
}

function ofEach(type: AnyType, select: (each: Type) => MaybeType): MaybeType {
  if (isAny(type)) return anyType;
  return type.of.reduce<MaybeType>((known, each) => or(select(each), known), undefined);
}

/** The second type is the first one, or one of its alternatives. */
function includes(type: MaybeType, wanted: Type): boolean {
  if (type?.kind !== "any") return compareTypes(type, wanted) === 0;
  return isAny(type) || type.of.some((each) => compareTypes(each, wanted) === 0);
}
