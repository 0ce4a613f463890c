/**
 * Types of the checker: what is known about a value before anything is evaluated. Where a type may be `undefined`,
 * nothing is known at all yet; `any` is a type of its own that every value has.
 */
import { compareValues } from "../values/compare.ts";
import { isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { compareTypes } from "./order.ts";
import { withinReason } from "./size.ts";

export type MaybeType = Type | undefined;
export type ScalarType = { readonly kind: "null" | "boolean" | "number" | "string" };
export type ArrayType = { readonly kind: "array"; readonly items: readonly MaybeType[]; readonly rest: MaybeType };
/** Without an item type: the empty set. */
export type SetType = { readonly kind: "set"; readonly item: MaybeType };
export type ObjectType = {
  readonly kind: "object";
  /** In the order of their keys. */
  readonly fields: readonly (readonly [Value, MaybeType])[];
  readonly rest: { readonly key: MaybeType; readonly value: MaybeType } | undefined;
};
/** One of several types, in the order of `compareTypes`; none at all means that nothing is excluded. */
export type AnyType = { readonly kind: "any"; readonly of: readonly Type[] };
export type FunctionType = {
  readonly kind: "function";
  readonly args: readonly MaybeType[];
  readonly variadic: MaybeType;
  readonly result: MaybeType;
};
export type Type = ScalarType | ArrayType | SetType | ObjectType | AnyType | FunctionType;

export const anyType: AnyType = { kind: "any", of: [] };
export const nullType: Type = { kind: "null" };
export const booleanType: Type = { kind: "boolean" };
export const numberType: Type = { kind: "number" };
export const stringType: Type = { kind: "string" };

export function arrayType(items: readonly MaybeType[], rest: MaybeType): Type {
  return withinReason({ kind: "array", items, rest });
}

export function setType(item: MaybeType): Type {
  return withinReason({ kind: "set", item });
}

export function objectType(fields: ObjectType["fields"], rest: ObjectType["rest"]): Type {
  const sorted = fields.length < 2 ? fields : [...fields].sort(([left], [right]) => compareValues(left, right));
  return withinReason({ kind: "object", fields: sorted, rest });
}

/** The type that a value has once it is written as JSON, where sets are arrays; keys of objects are such values. */
export function typeOfKey(value: Value): Type {
  if (value === null) return nullType;
  if (isNumber(value)) return numberType;
  if (typeof value === "string") return stringType;
  if (typeof value === "boolean") return booleanType;
  if (isArray(value)) return arrayType(value.map(typeOfKey), undefined);
  if (value instanceof RegoSet) return arrayType(value.items().map(typeOfKey), undefined);
  if (value instanceof RegoObject) {
    return objectType(
      [...value.entries()].map(([key, field]) => [key, typeOfKey(field)]),
      undefined,
    );
  }
  return anyType;
}

/** Either of two types; undefined for a function and something else. */
export function or(left: MaybeType, right: MaybeType): MaybeType {
  if (left === undefined) return right;
  if (right === undefined) return left;
  if (left.kind === "function" || right.kind === "function") {
    return left.kind === "function" && right.kind === "function" ? eitherFunction(left, right) : undefined;
  }
  if (left.kind === "any") return mergeAny(left, right);
  if (right.kind === "any") return mergeAny(right, left);
  return compareTypes(left, right) === 0 ? left : alternatives([left, right]);
}

/** What OPA makes of two functions that take different numbers of operands: still a function, but of no use. */
const noFunction: FunctionType = { kind: "function", args: [], variadic: undefined, result: undefined };

function eitherFunction(left: FunctionType, right: FunctionType): MaybeType {
  if (left === noFunction) return right;
  if (right === noFunction) return left;
  if (left.args.length !== right.args.length) return noFunction;
  return {
    kind: "function",
    args: left.args.map((arg, index) => or(arg, right.args[index])),
    variadic: or(left.variadic, right.variadic),
    result: or(left.result, right.result),
  };
}

function mergeAny(left: AnyType, right: Type): Type {
  if (left.of.length === 0) return left;
  if (right.kind !== "any")
    return left.of.some((each) => compareTypes(each, right) === 0) ? left : alternatives([...left.of, right]);
  if (right.of.length === 0) return right;
  const added = right.of.filter((each) => !left.of.some((known) => compareTypes(known, each) === 0));
  return added.length === 0 ? left : alternatives([...left.of, ...added]);
}

export function alternatives(types: readonly Type[]): Type {
  return withinReason({ kind: "any", of: [...types].sort(compareTypes) });
}

export function isAny(type: MaybeType): boolean {
  return type?.kind === "any" && type.of.length === 0;
}

/** Something inside the type is not known yet. */
export function isUnknown(type: MaybeType): boolean {
  if (type === undefined) return true;
  switch (type.kind) {
    case "function":
      return type.args.some(isUnknown) || isUnknown(type.result);
    case "array":
      return type.items.some(isUnknown) || (type.rest !== undefined && isUnknown(type.rest));
    case "object":
      return (
        type.fields.some(([, field]) => isUnknown(field)) ||
        (type.rest !== undefined && (isUnknown(type.rest.key) || isUnknown(type.rest.value)))
      );
    case "set":
      return isUnknown(type.item);
    default:
      return false;
  }
}
