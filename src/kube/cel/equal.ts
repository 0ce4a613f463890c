import {
  CelError,
  CelList,
  CelMap,
  type CelValue,
  Duration,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
} from "./value.ts";

/** Equality in CEL: numbers of all kinds compare by value, values of different types are simply not equal. */
export function equalValues(left: CelValue, right: CelValue): boolean | CelError {
  if (left instanceof CelError) return left;
  if (right instanceof CelError) return right;
  if (typeof left !== "object" || left === null) return equalScalars(left, right);
  if (left instanceof Uint) return compareNumbers(left, right) === 0;
  if (left instanceof CelList) return right instanceof CelList && equalLists(left, right);
  if (left instanceof CelMap) return right instanceof CelMap && equalMaps(left, right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanoseconds === right.nanoseconds;
  if (left instanceof Duration) return right instanceof Duration && left.nanoseconds === right.nanoseconds;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.type.name === right.type.name;
  if (left instanceof Optional) return right instanceof Optional && equalOptionals(left, right);
  return left instanceof Opaque && left.equals(right);
}

/** The order of two values, or undefined when they have none. */
export function compareValues(left: CelValue, right: CelValue): number | CelError | undefined {
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (typeof left === "string" && typeof right === "string")
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  if (left instanceof Timestamp && right instanceof Timestamp) return order(left.nanoseconds, right.nanoseconds);
  if (left instanceof Duration && right instanceof Duration) return order(left.nanoseconds, right.nanoseconds);
  if (Number.isNaN(left) || Number.isNaN(right)) {
    return isNumber(left) && isNumber(right) ? new CelError("NaN values cannot be ordered") : undefined;
  }
  return compareNumbers(left, right);
}

const isNumber = (value: CelValue): boolean =>
  typeof value === "bigint" || typeof value === "number" || value instanceof Uint;

/** JavaScript compares bigints with numbers exactly. */
function compareNumbers(left: CelValue, right: CelValue): number | undefined {
  const a = left instanceof Uint ? left.value : left;
  const b = right instanceof Uint ? right.value : right;
  if ((typeof a !== "bigint" && typeof a !== "number") || (typeof b !== "bigint" && typeof b !== "number"))
    return undefined;
  if (a < b) return -1;
  if (a > b) return 1;
  return Number.isNaN(a) || Number.isNaN(b) ? undefined : 0;
}

const order = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0);

function equalScalars(left: CelValue, right: CelValue): boolean {
  if (typeof left === "bigint" || typeof left === "number") return compareNumbers(left, right) === 0;
  return left === right;
}

function equalLists(left: CelList, right: CelList): boolean | CelError {
  const special = left.equals(right);
  if (special !== undefined) return special;
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) {
    const equal = equalValues(left.at(index), right.at(index));
    if (equal !== true) return equal;
  }
  return true;
}

function equalMaps(left: CelMap, right: CelMap): boolean | CelError {
  const special = left.equals(right);
  if (special !== undefined) return special;
  if (left.size !== right.size) return false;
  for (const key of left.keys()) {
    const [own, other] = [left.find(key), right.find(key)];
    if (own === undefined || other === undefined) return false;
    const equal = equalValues(own, other);
    if (equal !== true) return equal;
  }
  return true;
}

function equalOptionals(left: Optional, right: Optional): boolean | CelError {
  if (left.value === undefined || right.value === undefined) return left.value === right.value;
  return equalValues(left.value, right.value);
}
