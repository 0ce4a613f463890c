/** Operands of built-ins: typed access, with OPA's messages when the type is wrong. */
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import { typeName } from "../values/compare.ts";
import { type Decimal, integerOf, isNumber, numberText } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";

export type Args = readonly Value[];
/** Undefined means that the call has no result. */
export type Builtin = (args: Args, machine: Machine) => Value | undefined;
/** Calls back with each result until the callback answers `true`. */
export type Relation = (machine: Machine, args: Args, visit: (value: Value) => boolean) => boolean;
export type Builtins = { readonly [name: string]: Builtin };

export function operand(args: Args, index: number): Value {
  const value = args[index];
  if (value === undefined) throw new BuiltinFault(`operand ${index + 1} is missing`);
  return value;
}

export function stringAt(args: Args, index: number): string {
  const value = operand(args, index);
  if (typeof value !== "string") throw typeFault(index, value, "string");
  return value;
}

export function numberAt(args: Args, index: number): number | Decimal {
  const value = operand(args, index);
  if (!isNumber(value)) throw typeFault(index, value, "number");
  return value;
}

export function integerAt(args: Args, index: number): bigint {
  const integer = integerOf(numberAt(args, index));
  if (integer === undefined) {
    throw new BuiltinFault(
      `operand ${index + 1} must be integer number but got floating-point number`,
      "eval_type_error",
    );
  }
  return integer;
}

/** An integer that is used as an index or count. */
export function smallIntegerAt(args: Args, index: number): number {
  const value = args[index];
  if (typeof value === "number" && Number.isInteger(value)) return value;
  const text = numberText(numberAt(args, index));
  const integer = /^-?\d+(\.0*)?$/.test(text) ? integerAt(args, index) : undefined;
  if (integer === undefined || integer !== BigInt.asIntN(64, integer)) {
    throw operandFault(index, "must be integer number but got floating-point number");
  }
  return Number(integer);
}

export function arrayAt(args: Args, index: number): readonly Value[] {
  const value = operand(args, index);
  if (!isArray(value)) throw typeFault(index, value, "array");
  return value;
}

export function setAt(args: Args, index: number): RegoSet {
  const value = operand(args, index);
  if (!(value instanceof RegoSet)) throw typeFault(index, value, "set");
  return value;
}

export function objectAt(args: Args, index: number): RegoObject {
  const value = operand(args, index);
  if (!(value instanceof RegoObject)) throw typeFault(index, value, "object");
  return value;
}

export function booleanAt(args: Args, index: number): boolean {
  const value = operand(args, index);
  if (typeof value !== "boolean") throw typeFault(index, value, "boolean");
  return value;
}

/** The members of an array or set. */
export function membersAt(args: Args, index: number, expected: readonly string[] = ["set", "array"]): readonly Value[] {
  const value = operand(args, index);
  if (isArray(value)) return value;
  if (value instanceof RegoSet) return value.items();
  throw typeFault(index, value, ...expected);
}

/** The strings of an array or set. */
export function stringsAt(
  args: Args,
  index: number,
  expected: readonly string[] = ["set", "array"],
): readonly string[] {
  return membersAt(args, index, expected).map((item) => {
    if (typeof item !== "string") throw elementFault(index, operand(args, index), item, "string");
    return item;
  });
}

export function typeFault(index: number, got: Value, ...expected: readonly string[]): BuiltinFault {
  const [only] = expected;
  const wanted = expected.length === 1 ? only : `one of {${expected.join(", ")}}`;
  return new BuiltinFault(`operand ${index + 1} must be ${wanted} but got ${typeName(got)}`, "eval_type_error");
}

export function elementFault(
  index: number,
  container: Value,
  got: Value,
  ...expected: readonly string[]
): BuiltinFault {
  const kind = typeName(container);
  const [only] = expected;
  const wanted =
    expected.length === 1
      ? `${kind} of ${only}s`
      : `${kind} of (any of) ${expected.map((name) => `${name}s`).join(", ")}`;
  return new BuiltinFault(
    `operand ${index + 1} must be ${wanted} but got ${kind} containing ${typeName(got)}`,
    "eval_type_error",
  );
}

export function operandFault(index: number, message: string): BuiltinFault {
  return new BuiltinFault(`operand ${index + 1} ${message}`, "eval_type_error");
}
