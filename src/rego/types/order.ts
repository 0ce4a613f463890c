/** An order of types, which decides when two are the same and in which order alternatives stand. */
import { compareValues } from "../values/compare.ts";
import type { FunctionType, MaybeType, ObjectType, Type } from "./types.ts";

const order: readonly Type["kind"][] = [
  "null",
  "boolean",
  "number",
  "string",
  "array",
  "object",
  "set",
  "any",
  "function",
];

export function compareTypes(left: MaybeType, right: MaybeType): number {
  if (left === right) return 0;
  if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
  if (left.kind !== right.kind) return order.indexOf(left.kind) - order.indexOf(right.kind);
  if (left.kind === "array" && right.kind === "array") {
    return compareTypes(left.rest, right.rest) || compareLists(left.items, right.items);
  }
  if (left.kind === "object" && right.kind === "object") return compareObjects(left, right);
  if (left.kind === "set" && right.kind === "set") return compareTypes(left.item, right.item);
  if (left.kind === "any" && right.kind === "any") return compareLists(left.of, right.of);
  if (left.kind === "function" && right.kind === "function") return compareFunctions(left, right);
  return 0;
}

function compareLists(left: readonly MaybeType[], right: readonly MaybeType[]): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const result = compareTypes(left[index], right[index]);
    if (result !== 0) return result;
  }
  return left.length - right.length;
}

function compareObjects(left: ObjectType, right: ObjectType): number {
  if ((left.rest === undefined) !== (right.rest === undefined)) return left.rest === undefined ? -1 : 1;
  const rest = compareTypes(left.rest?.key, right.rest?.key) || compareTypes(left.rest?.value, right.rest?.value);
  if (rest !== 0) return rest;
  for (let index = 0; index < Math.min(left.fields.length, right.fields.length); index++) {
    const [leftKey = null, leftField] = left.fields[index] ?? [];
    const [rightKey = null, rightField] = right.fields[index] ?? [];
    const result = compareValues(leftKey, rightKey) || compareTypes(leftField, rightField);
    if (result !== 0) return result;
  }
  return left.fields.length - right.fields.length;
}

function compareFunctions(left: FunctionType, right: FunctionType): number {
  return (
    left.args.length - right.args.length ||
    compareLists(left.args, right.args) ||
    compareTypes(left.result, right.result) ||
    compareTypes(left.variadic, right.variadic)
  );
}
