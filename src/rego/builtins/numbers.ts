/** Arithmetic, comparison, bits, ranges, rounding and parsing of numbers. */
import { BuiltinFault } from "../evaluate/errors.ts";
import * as arithmetic from "../values/arithmetic.ts";
import { floatFromParts, truncateFloat } from "../values/binary-float.ts";
import { compareValues, equalValues } from "../values/compare.ts";
import {
  integerOf,
  isNumber,
  numberFromBigInt,
  numberFromText,
  numberRangeFault,
  numberText,
  partsOf,
} from "../values/number.ts";
import { RegoSet, type Value } from "../values/value.ts";
import { type Args, type Builtins, integerAt, numberAt, operand, stringAt, typeFault } from "./operands.ts";

export const numberBuiltins: Builtins = {
  plus: (args) => arithmetic.add(numberAt(args, 0), numberAt(args, 1)),
  minus,
  mul: (args) => arithmetic.multiply(numberAt(args, 0), numberAt(args, 1)),
  div: (args) => arithmetic.divide(numberAt(args, 0), numberAt(args, 1)),
  rem: (args) => arithmetic.remainder(numberAt(args, 0), numberAt(args, 1)),
  abs: (args) => arithmetic.absolute(numberAt(args, 0)),
  round: (args) => arithmetic.round(numberAt(args, 0)),
  ceil: (args) => arithmetic.ceiling(numberAt(args, 0)),
  floor: (args) => arithmetic.floor(numberAt(args, 0)),

  eq: (args) => equalValues(operand(args, 0), operand(args, 1)),
  equal: (args) => equalValues(operand(args, 0), operand(args, 1)),
  neq: (args) => !equalValues(operand(args, 0), operand(args, 1)),
  lt: (args) => compareValues(operand(args, 0), operand(args, 1)) < 0,
  lte: (args) => compareValues(operand(args, 0), operand(args, 1)) <= 0,
  gt: (args) => compareValues(operand(args, 0), operand(args, 1)) > 0,
  gte: (args) => compareValues(operand(args, 0), operand(args, 1)) >= 0,

  "bits.and": (args) => numberFromBigInt(integerAt(args, 0) & integerAt(args, 1)),
  "bits.or": (args) => numberFromBigInt(integerAt(args, 0) | integerAt(args, 1)),
  "bits.xor": (args) => numberFromBigInt(integerAt(args, 0) ^ integerAt(args, 1)),
  "bits.negate": (args) => numberFromBigInt(~integerAt(args, 0)),
  "bits.lsh": (args) => {
    const value = integerAt(args, 0);
    const shift = shiftAt(args);
    if (shift > maxShiftBits && value !== 0n) throw new BuiltinFault("operand 2 is too large");
    return numberFromBigInt(value === 0n ? 0n : value << shift);
  },
  "bits.rsh": (args) => {
    const value = integerAt(args, 0);
    const shift = shiftAt(args);
    if (shift > maxShiftBits) return value < 0n ? -1 : 0;
    return numberFromBigInt(value >> shift);
  },

  "numbers.range": (args, machine) => range(integerAt(args, 0), integerAt(args, 1), 1n, (size) => machine.grow(size)),
  "numbers.range_step": (args, machine) => {
    const from = integerAt(args, 0);
    const to = integerAt(args, 1);
    const step = integerAt(args, 2);
    if (step < 1n) throw new BuiltinFault("numbers.range_step: step must be a positive integer");
    return range(from, to, step, (size) => machine.grow(size));
  },

  to_number: toNumber,
  format_int: formatInteger,
  "rand.intn": (args, machine) => {
    const text = stringAt(args, 0);
    const limit = integerAt(args, 1);
    const bound = limit < 0n ? -limit : limit;
    if (bound === 0n) return 0;
    const key = `rand.intn ${bound} ${text}`;
    const known = machine.onceCache.get(key);
    if (known !== undefined) return known;
    const value = Math.floor(machine.env.random() * Number(bound));
    machine.onceCache.set(key, value);
    return value;
  },
};

function minus(args: Args): Value {
  const left = operand(args, 0);
  const right = operand(args, 1);
  if (isNumber(left) && isNumber(right)) return arithmetic.subtract(left, right);
  if (left instanceof RegoSet && right instanceof RegoSet) {
    return new RegoSet(left.items().filter((item) => !right.has(item)));
  }
  if (!isNumber(left) && !(left instanceof RegoSet)) throw typeFault(0, left, "number", "set");
  throw typeFault(1, right, isNumber(left) ? "number" : "set");
}

/** Shifting further than this would make numbers that nobody can hold. */
const maxShiftBits = 1_000_000n;

function shiftAt(args: Args): bigint {
  const shift = integerAt(args, 1);
  if (shift < 0n) {
    throw new BuiltinFault(
      "operand 2 must be an unsigned integer number but got a negative integer",
      "eval_type_error",
    );
  }
  return shift;
}

function range(from: bigint, to: bigint, step: bigint, grow: (size: number) => void): Value {
  const items: Value[] = [];
  grow(Number((from < to ? to - from : from - to) / step) + 1);
  if (from <= to) for (let value = from; value <= to; value += step) items.push(numberFromBigInt(value));
  else for (let value = from; value >= to; value -= step) items.push(numberFromBigInt(value));
  return items;
}

function toNumber(args: Args): Value {
  const value = operand(args, 0);
  if (value === null || value === false) return 0;
  if (value === true) return 1;
  if (isNumber(value)) return value;
  if (typeof value !== "string") throw typeFault(0, value, "null", "boolean", "number", "string");
  if (/^[+-]*(inf|infinity|nan)$/i.test(value)) throw typeFault(0, value, "valid number string");
  const match = /^([+-]?)(\d+(?:_?\d+)*|\d*)(?:\.(\d*))?(?:[eE][+-]?\d+)?$/.exec(value);
  if (match === null || !/\d/.test(value.replace(/[eE].*$/, "")) || value.includes("_")) {
    throw new BuiltinFault(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  if (!Number.isFinite(Number(value))) {
    throw new BuiltinFault(`strconv.ParseFloat: parsing ${JSON.stringify(value)}: value out of range`);
  }
  const text = asJsonNumber(value);
  const fault = numberRangeFault(text);
  if (fault !== undefined) throw new BuiltinFault(`invalid number: ${fault}`);
  return numberFromText(text);
}

/** `.5`, `5.`, `+5` and `007` are numbers, too, but JSON writes them in another way. */
function asJsonNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = ""] =
    /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text) ?? [];
  const digits = whole.replace(/^0+(?=\d)/, "");
  return `${sign === "-" ? "-" : ""}${digits === "" ? "0" : digits}${fraction === "" ? "" : `.${fraction}`}${exponent}`;
}

function formatInteger(args: Args): Value {
  const number = numberAt(args, 0);
  const base = numberAt(args, 1);
  if (base !== 2 && base !== 8 && base !== 10 && base !== 16) {
    throw new BuiltinFault("operand 2 must be one of {2, 8, 10, 16}", "eval_type_error");
  }
  // Only what is written as an integer is exact; the rest goes through a float of 64 bits.
  const isWritten = /^-?\d+$/.test(numberText(number));
  const integer = (isWritten ? integerOf(number) : undefined) ?? truncateFloat(floatFromParts(partsOf(number)));
  return integer.toString(base);
}
