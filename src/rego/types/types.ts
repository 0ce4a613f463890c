/** Types of the checker: what is known about a value before anything is evaluated. */
import { equalValues } from "../values/compare.ts";
import { formatValue } from "../values/format.ts";
import { isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";

export type Type =
  | { readonly kind: "any" }
  | { readonly kind: "null" | "boolean" | "number" | "string" }
  | { readonly kind: "array"; readonly items: readonly Type[]; readonly rest: Type | undefined }
  | { readonly kind: "set"; readonly item: Type }
  | {
      readonly kind: "object";
      readonly fields: readonly (readonly [Value, Type])[];
      readonly rest: { readonly key: Type; readonly value: Type } | undefined;
    }
  | { readonly kind: "union"; readonly of: readonly Type[] };

export const anyType: Type = { kind: "any" };
export const booleanType: Type = { kind: "boolean" };
export const numberType: Type = { kind: "number" };
export const stringType: Type = { kind: "string" };

export function typeOfValue(value: Value): Type {
  if (value === null) return { kind: "null" };
  if (isNumber(value)) return numberType;
  if (typeof value === "string") return stringType;
  if (typeof value === "boolean") return booleanType;
  if (isArray(value)) return { kind: "array", items: value.map(typeOfValue), rest: undefined };
  if (value instanceof RegoSet) return { kind: "set", item: unionOf(value.items().map(typeOfValue)) };
  if (value instanceof RegoObject) {
    return {
      kind: "object",
      fields: [...value.entries()].map(([key, field]) => [key, typeOfValue(field)]),
      rest: undefined,
    };
  }
  return anyType;
}

/** Types that share parts may be endless to go through; what is known of such a value is not worth knowing. */
export function withinReason(type: Type): Type {
  return sizeOf(type) > maxTypeSize ? anyType : type;
}

const maxTypeSize = 10_000;
const knownSizes = new WeakMap<Type, number>();

function sizeOf(type: Type): number {
  const known = knownSizes.get(type);
  if (known !== undefined) return known;
  const size = 1 + partsOf(type).reduce((sum, part) => sum + sizeOf(part), 0);
  knownSizes.set(type, size);
  return size;
}

function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "array":
      return type.rest === undefined ? type.items : [...type.items, type.rest];
    case "set":
      return [type.item];
    case "object": {
      const fields = type.fields.map(([, field]) => field);
      return type.rest === undefined ? fields : [...fields, type.rest.key, type.rest.value];
    }
    case "union":
      return type.of;
    default:
      return [];
  }
}

/** More alternatives than this are not worth telling apart. */
const maxAlternatives = 20;

export function unionOf(types: readonly Type[]): Type {
  const flat: Type[] = [];
  for (const type of types.flatMap((each) => (each.kind === "union" ? each.of : [each]))) {
    if (type.kind === "any") return anyType;
    if (!flat.some((known) => sameType(known, type))) flat.push(type);
  }
  const [only] = flat;
  if (only === undefined || flat.length > maxAlternatives) return anyType;
  return flat.length === 1 ? only : { kind: "union", of: flat };
}

function sameType(left: Type, right: Type): boolean {
  return left.kind === right.kind && formatType(left) === formatType(right);
}

/** Some value could have both types. */
export function mayUnify(left: Type, right: Type): boolean {
  if (left.kind === "any" || right.kind === "any") return true;
  if (left.kind === "union") return left.of.some((each) => mayUnify(each, right));
  if (right.kind === "union") return right.of.some((each) => mayUnify(left, each));
  if (left.kind !== right.kind) return false;
  if (left.kind === "array" && right.kind === "array") return arraysMayUnify(left, right);
  if (left.kind === "set" && right.kind === "set") return mayUnify(left.item, right.item);
  if (left.kind === "object" && right.kind === "object") return objectsMayUnify(left, right);
  return true;
}

type ArrayType = Type & { readonly kind: "array" };
type ObjectType = Type & { readonly kind: "object" };

function arraysMayUnify(left: ArrayType, right: ArrayType): boolean {
  if (left.rest === undefined && right.items.length > left.items.length) return false;
  if (right.rest === undefined && left.items.length > right.items.length) return false;
  const length = Math.max(left.items.length, right.items.length);
  for (let index = 0; index < length; index++) {
    const a = left.items[index] ?? left.rest;
    const b = right.items[index] ?? right.rest;
    if (a !== undefined && b !== undefined && !mayUnify(a, b)) return false;
  }
  return true;
}

function objectsMayUnify(left: ObjectType, right: ObjectType): boolean {
  const check = (one: ObjectType, other: ObjectType): boolean =>
    one.fields.every(([key, type]) => {
      const own = other.fields.find(([candidate]) => equalValues(candidate, key));
      if (own !== undefined) return mayUnify(type, own[1]);
      return other.rest !== undefined && mayUnify(other.rest.key, typeOfValue(key)) && mayUnify(other.rest.value, type);
    });
  // Fields that one side may have beyond those that are known could be the ones that the other side names.
  const isOpen = left.rest !== undefined || right.rest !== undefined;
  return isOpen
    ? check(left.rest === undefined ? left : right, left.rest === undefined ? right : left)
    : check(left, right) && check(right, left);
}

/** The type of what is found under a key; undefined if nothing can be there. */
export function selectType(type: Type, key: Value | undefined, keyType: Type): Type | undefined {
  switch (type.kind) {
    case "any":
      return anyType;
    case "union": {
      const found = type.of.map((each) => selectType(each, key, keyType)).filter((each) => each !== undefined);
      return found.length === 0 ? undefined : unionOf(found);
    }
    case "array": {
      if (key !== undefined) {
        if (typeof key !== "number" || key < 0) return undefined;
        return type.items[key] ?? type.rest;
      }
      if (!mayUnify(keyType, numberType)) return undefined;
      const all = type.rest === undefined ? type.items : [...type.items, type.rest];
      return all.length === 0 ? undefined : unionOf(all);
    }
    case "set":
      return mayUnify(type.item, key === undefined ? keyType : typeOfValue(key)) ? type.item : undefined;
    case "object": {
      if (key !== undefined) {
        const field = type.fields.find(([candidate]) => equalValues(candidate, key));
        if (field !== undefined) return field[1];
        return type.rest !== undefined && mayUnify(type.rest.key, typeOfValue(key)) ? type.rest.value : undefined;
      }
      const fields = type.fields.filter(([name]) => mayUnify(typeOfValue(name), keyType)).map(([, field]) => field);
      if (type.rest !== undefined && mayUnify(type.rest.key, keyType)) fields.push(type.rest.value);
      return fields.length === 0 ? undefined : unionOf(fields);
    }
    default:
      return undefined;
  }
}

/** The type of the keys that iterating gives. */
export function keysOf(type: Type): Type {
  switch (type.kind) {
    case "array":
      return numberType;
    case "set":
      return type.item;
    case "object":
      return unionOf([
        ...type.fields.map(([key]) => typeOfValue(key)),
        ...(type.rest === undefined ? [] : [type.rest.key]),
      ]);
    case "union":
      return unionOf(type.of.map(keysOf));
    default:
      return anyType;
  }
}

export function formatType(type: Type): string {
  switch (type.kind) {
    case "array": {
      const items = type.items.length === 0 ? "" : `<${type.items.map(formatType).join(", ")}>`;
      return `array${items}${type.rest === undefined ? "" : `[${formatType(type.rest)}]`}`;
    }
    case "set":
      return `set[${formatType(type.item)}]`;
    case "object": {
      const fields = type.fields.map(
        ([key, field]) => `${typeof key === "string" ? key : formatValue(key)}: ${formatType(field)}`,
      );
      const shown = fields.length === 0 ? "" : `<${fields.join(", ")}>`;
      const rest = type.rest === undefined ? "" : `[${formatType(type.rest.key)}: ${formatType(type.rest.value)}]`;
      return `object${shown}${rest}`;
    }
    case "union":
      return `any<${type.of.map(formatType).sort().join(", ")}>`;
    default:
      return type.kind;
  }
}
