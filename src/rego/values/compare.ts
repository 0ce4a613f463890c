/** OPA's total order over values: null < false < true < numbers < strings < arrays < objects < sets. */
import { compareNumbers, Decimal } from "./number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "./value.ts";
import { visit } from "./work.ts";

export function compareValues(left: Value, right: Value): number {
  if (typeof left === "string" && typeof right === "string") return compareStrings(left, right);
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : 0;
  const leftRank = rankOf(left);
  const rightRank = rankOf(right);
  if (leftRank !== rightRank) return leftRank < rightRank ? -1 : 1;
  if (left === right) return 0;
  if (isArray(left) && isArray(right)) return compareLists(left, right);
  if (left instanceof RegoObject && right instanceof RegoObject) return compareObjects(left, right);
  if (left instanceof RegoSet && right instanceof RegoSet) return compareLists(left.items(), right.items());
  if (isNumeric(left) && isNumeric(right)) return compareNumbers(left, right);
  return left === false ? -1 : 1;
}

export function equalValues(left: Value, right: Value): boolean {
  if (left === right) return true;
  const kind = typeof left;
  if (kind === "string" || kind === "boolean" || left === null) return false;
  if (kind === "number" && typeof right === "number") return false;
  if (typeof right !== "object" || right === null) return isNumeric(right) && compareValues(left, right) === 0;
  visit();
  if (isArray(left)) {
    if (!isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) {
      if (!equalValues(left[index] ?? null, right[index] ?? null)) return false;
    }
    return true;
  }
  if (left instanceof RegoObject) {
    if (!(right instanceof RegoObject) || left.size !== right.size) return false;
    for (const key of left.keys()) {
      const other = right.get(key);
      if (other === undefined || !equalValues(left.get(key) ?? null, other)) return false;
    }
    return true;
  }
  if (left instanceof RegoSet) {
    if (!(right instanceof RegoSet) || left.size !== right.size) return false;
    for (const item of left.items()) if (!right.has(item)) return false;
    return true;
  }
  return compareValues(left, right) === 0;
}

/** Go compares bytes of UTF-8, which is the order of code points; JavaScript compares UTF-16 units. */
export function compareStrings(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    // Surrogates stand for code points above every single unit.
    if (a >= 0xd800 && b >= 0xd800 && isSurrogate(a) !== isSurrogate(b)) return isSurrogate(a) ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return left.length < right.length ? -1 : 1;
}

/** Truth in a body: everything but `false` (and undefined) lets evaluation go on. */
export function isTruthy(value: Value | undefined): boolean {
  return value !== undefined && value !== false;
}

/** The name that `type_name` and messages use. */
export function typeName(value: Value): string {
  if (value === null) return "null";
  if (isArray(value)) return "array";
  if (value instanceof RegoObject) return "object";
  if (value instanceof RegoSet) return "set";
  if (value instanceof Decimal) return "number";
  return typeof value;
}

function compareLists(left: readonly Value[], right: readonly Value[]): number {
  visit();
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const order = compareValues(left[index] ?? null, right[index] ?? null);
    if (order !== 0) return order;
  }
  return left.length < right.length ? -1 : left.length > right.length ? 1 : 0;
}

function compareObjects(left: RegoObject, right: RegoObject): number {
  visit();
  const leftKeys = left.keys();
  const rightKeys = right.keys();
  const length = Math.min(leftKeys.length, rightKeys.length);
  for (let index = 0; index < length; index++) {
    const leftKey = leftKeys[index] ?? null;
    const rightKey = rightKeys[index] ?? null;
    const keyOrder = compareValues(leftKey, rightKey);
    if (keyOrder !== 0) return keyOrder;
    const order = compareValues(left.get(leftKey) ?? null, right.get(rightKey) ?? null);
    if (order !== 0) return order;
  }
  return leftKeys.length < rightKeys.length ? -1 : leftKeys.length > rightKeys.length ? 1 : 0;
}

function rankOf(value: Value): number {
  switch (typeof value) {
    case "boolean":
      return 1;
    case "number":
      return 2;
    case "string":
      return 3;
    default:
      if (value === null) return 0;
      if (isArray(value)) return 4;
      if (value instanceof RegoObject) return 5;
      return value instanceof RegoSet ? 6 : 2;
  }
}

function isNumeric(value: Value): value is number | Decimal {
  return typeof value === "number" || value instanceof Decimal;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}
