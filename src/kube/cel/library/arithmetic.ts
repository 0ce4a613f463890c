import { add, type CallEstimate, type CallSizes, fixed, textFactor, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn } from "../declaration.ts";
import {
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  paramType,
  stringType,
  timestampType,
  uintType,
} from "../type.ts";
import { ArrayList, CelError, type CelList, type CelValue, Duration, sizeOf, Timestamp, Uint } from "../value.ts";
import { checkedText, maxTimestamp, minTimestamp } from "./limits.ts";

const listOfA = listType(paramType("A"));

/** Arithmetic as Go does it: 64 bits, and an error instead of a wrong number. */
export const arithmetic: readonly FunctionDeclaration[] = [
  declare(
    "_+_",
    fn(
      "add_int64",
      [intType, intType],
      intType,
      int((a, b) => a + b),
    ),
    fn(
      "add_uint64",
      [uintType, uintType],
      uintType,
      uint((a, b) => a + b),
    ),
    fn("add_double", [doubleType, doubleType], doubleType, (a, b) => (a as number) + (b as number)),
    fn("add_string", [stringType, stringType], stringType, (a, b) => checkedText((a as string) + (b as string)), {
      cost: joined,
      estimate: joinedEstimate(textFactor),
    }),
    fn("add_bytes", [bytesType, bytesType], bytesType, (a, b) => Buffer.concat([a as Uint8Array, b as Uint8Array]), {
      cost: joined,
      estimate: joinedEstimate(textFactor),
    }),
    fn("add_list", [listOfA, listOfA], listOfA, (a, b) => (a as CelList).concat(b as CelList), {
      estimate: joinedEstimate(0),
      isGrowing: true,
      // A list in memory grows in place; any other is copied.
      work: ([left, right]) => (left instanceof ArrayList ? 0 : (left as CelList).length) + (right as CelList).length,
    }),
    fn("add_timestamp_duration", [timestampType, durationType], timestampType, (t, d) => shifted(t, d, 1n)),
    fn("add_duration_timestamp", [durationType, timestampType], timestampType, (d, t) => shifted(t, d, 1n)),
    fn("add_duration_duration", [durationType, durationType], durationType, (a, b) =>
      duration((a as Duration).nanoseconds + (b as Duration).nanoseconds),
    ),
  ),
  declare(
    "_-_",
    fn(
      "subtract_int64",
      [intType, intType],
      intType,
      int((a, b) => a - b),
    ),
    fn(
      "subtract_uint64",
      [uintType, uintType],
      uintType,
      uint((a, b) => a - b),
    ),
    fn("subtract_double", [doubleType, doubleType], doubleType, (a, b) => (a as number) - (b as number)),
    fn("subtract_timestamp_duration", [timestampType, durationType], timestampType, (t, d) => shifted(t, d, -1n)),
    fn("subtract_timestamp_timestamp", [timestampType, timestampType], durationType, (a, b) =>
      duration((a as Timestamp).nanoseconds - (b as Timestamp).nanoseconds),
    ),
    fn("subtract_duration_duration", [durationType, durationType], durationType, (a, b) =>
      duration((a as Duration).nanoseconds - (b as Duration).nanoseconds),
    ),
  ),
  declare(
    "_*_",
    fn(
      "multiply_int64",
      [intType, intType],
      intType,
      int((a, b) => a * b),
    ),
    fn(
      "multiply_uint64",
      [uintType, uintType],
      uintType,
      uint((a, b) => a * b),
    ),
    fn("multiply_double", [doubleType, doubleType], doubleType, (a, b) => (a as number) * (b as number)),
  ),
  declare(
    "_/_",
    fn(
      "divide_int64",
      [intType, intType],
      intType,
      int((a, b) => (b === 0n ? "division by zero" : a / b)),
    ),
    fn(
      "divide_uint64",
      [uintType, uintType],
      uintType,
      uint((a, b) => (b === 0n ? "division by zero" : a / b)),
    ),
    fn("divide_double", [doubleType, doubleType], doubleType, (a, b) => (a as number) / (b as number)),
  ),
  declare(
    "_%_",
    fn(
      "modulo_int64",
      [intType, intType],
      intType,
      int((a, b) => (b === 0n ? "modulus by zero" : a % b)),
    ),
    fn(
      "modulo_uint64",
      [uintType, uintType],
      uintType,
      uint((a, b) => (b === 0n ? "modulus by zero" : a % b)),
    ),
  ),
  declare(
    "-_",
    fn("negate_int64", [intType], intType, (a) => int64(-(a as bigint))),
    fn("negate_double", [doubleType], doubleType, (a) => -(a as number)),
  ),
];

type Operation = (left: bigint, right: bigint) => bigint | string;

function int(operation: Operation): (left: CelValue, right: CelValue) => CelValue {
  return (left, right) => {
    const result = operation(left as bigint, right as bigint);
    return typeof result === "string" ? new CelError(result) : int64(result);
  };
}

function uint(operation: Operation): (left: CelValue, right: CelValue) => CelValue {
  return (left, right) => {
    const result = operation((left as Uint).value, (right as Uint).value);
    if (typeof result === "string") return new CelError(result);
    return BigInt.asUintN(64, result) === result ? new Uint(result) : new CelError("unsigned integer overflow");
  };
}

export const int64 = (value: bigint): CelValue =>
  BigInt.asIntN(64, value) === value ? value : new CelError("integer overflow");

export const duration = (nanoseconds: bigint): CelValue =>
  BigInt.asIntN(64, nanoseconds) === nanoseconds ? new Duration(nanoseconds) : new CelError("duration overflow");

function shifted(time: CelValue, by: CelValue, sign: 1n | -1n): CelValue {
  const moved = (time as Timestamp).nanoseconds + sign * (by as Duration).nanoseconds;
  return moved < minTimestamp || moved > maxTimestamp ? new CelError("timestamp overflow") : new Timestamp(moved);
}

function joined([left = null, right = null]: readonly CelValue[]): number {
  return Math.ceil((sizeOf(left) + sizeOf(right)) * textFactor);
}

/** Joining lists takes no time, but the result is as long as both. */
function joinedEstimate(factor: number): (sizes: CallSizes) => CallEstimate | undefined {
  return ({ args: [left, right] }) => {
    if (left === undefined || right === undefined) return undefined;
    const size = add(left.size, right.size);
    return { cost: factor === 0 ? fixed(1) : times(size, factor), size };
  };
}
