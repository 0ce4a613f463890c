/** Arithmetic on numbers as OPA does it: exact on integers, 64-bit binary floats otherwise. */
import {
  addFloats,
  type BinaryFloat,
  compareFloats,
  divideFloats,
  floatFromInteger,
  floatFromParts,
  multiplyFloats,
  negateFloat,
  numberFromFloat,
  truncateFloat,
} from "./binary-float.ts";
import {
  type Decimal,
  integerOf,
  maxDecimalExponent,
  numberFromBigInt,
  numberFromText,
  numberText,
  partsOf,
} from "./number.ts";

type Num = number | Decimal;

/** Raised for operands that have no result; the message is OPA's. */
export class ArithmeticFault extends Error {}

export function add(left: Num, right: Num): Num {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && Number.isSafeInteger(sum)) return sum;
  }
  return exactOr(left, right, (a, b) => a + b, addFloats);
}

export function subtract(left: Num, right: Num): Num {
  if (typeof left === "number" && typeof right === "number") {
    const difference = left - right;
    if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && Number.isSafeInteger(difference)) {
      return difference;
    }
  }
  return exactOr(
    left,
    right,
    (a, b) => a - b,
    (a, b) => addFloats(a, negateFloat(b)),
  );
}

export function multiply(left: Num, right: Num): Num {
  if (typeof left === "number" && typeof right === "number") {
    const product = left * right;
    if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && Number.isSafeInteger(product)) {
      return product === 0 ? 0 : product;
    }
  }
  return signedZero(
    exactOr(left, right, (a, b) => a * b, multiplyFloats),
    left,
    right,
    integerOf(left) === undefined || integerOf(right) === undefined,
  );
}

/** Floats have two zeros, and OPA prints the negative one as such. */
function signedZero(result: Num, left: Num, right: Num, isFloat: boolean): Num {
  if (result !== 0 || !isFloat || isNegative(left) === isNegative(right)) return result;
  return numberFromText("-0");
}

const isNegative = (value: Num): boolean => numberText(value).startsWith("-");

export function divide(left: Num, right: Num): Num {
  if (typeof left === "number" && typeof right === "number" && Number.isInteger(left) && Number.isInteger(right)) {
    if (right === 0) throw new ArithmeticFault("divide by zero");
    if (left !== 0 && left % right === 0) return left / right;
  }
  const divisor = toFloat(right);
  if (divisor.mantissa === 0n) throw new ArithmeticFault("divide by zero");
  return signedZero(numberFromFloat(divideFloats(toFloat(left), divisor)), left, right, true);
}

export function remainder(left: Num, right: Num): Num {
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && right !== 0) {
    const rest = Number(left) % Number(right);
    return rest === 0 ? 0 : rest;
  }
  const dividend = integerOf(left);
  const divisor = integerOf(right);
  if (dividend === undefined || divisor === undefined) throw new ArithmeticFault("modulo on floating-point number");
  if (divisor === 0n) throw new ArithmeticFault("modulo by zero");
  return numberFromBigInt(dividend % divisor);
}

export function absolute(value: Num): Num {
  if (Number.isSafeInteger(value)) return Math.abs(Number(value));
  const float = toFloat(value);
  return numberFromFloat(float.mantissa < 0n ? negateFloat(float) : float);
}

/** Half away from zero. */
export function round(value: Num): Num {
  if (Number.isSafeInteger(value)) return value;
  const float = toFloat(value);
  const half = { mantissa: float.mantissa < 0n ? -1n : 1n, exponent: -1 };
  return numberFromBigInt(truncateFloat(addFloats(float, half)));
}

export function ceiling(value: Num): Num {
  if (Number.isSafeInteger(value)) return value;
  const float = toFloat(value);
  const whole = truncateFloat(float);
  // As in OPA, the direction follows the sign of the whole part, so that -0.5 counts as if it were positive.
  const isBelow = whole >= 0n && compareFloats(floatFromInteger(whole), float) !== 0;
  return numberFromBigInt(isBelow ? whole + 1n : whole);
}

export function floor(value: Num): Num {
  if (Number.isSafeInteger(value)) return value;
  const float = toFloat(value);
  const whole = truncateFloat(float);
  const isAbove = whole < 0n && compareFloats(floatFromInteger(whole), float) > 0;
  return numberFromBigInt(isAbove ? whole - 1n : whole);
}

/** Exact if all are integers; otherwise floats from the first one on. */
export function sum(values: readonly Num[]): Num {
  const integers = values.map(integerOf);
  if (integers.every((integer) => integer !== undefined)) {
    return numberFromBigInt(integers.reduce((total, integer) => total + integer, 0n));
  }
  return numberFromFloat(values.map(toFloat).reduce(addFloats, floatFromInteger(0n)));
}

/** As `sum`; OPA multiplies floats with the mantissa of a double. */
export function product(values: readonly Num[]): Num {
  const integers = values.map(integerOf);
  if (integers.every((integer) => integer !== undefined)) {
    return numberFromBigInt(integers.reduce((total, integer) => total * integer, 1n));
  }
  const doubleBits = 53;
  const result = values
    .map(toFloat)
    .reduce((total, value) => multiplyFloats(total, value, doubleBits), floatFromInteger(1n));
  return numberFromFloat(result, doubleBits);
}

export function toFloat(value: Num): BinaryFloat {
  const parts = partsOf(value);
  if (Math.abs(parts.exponent) > maxDecimalExponent) throw new ArithmeticFault("number too big");
  return floatFromParts(parts);
}

function exactOr(
  left: Num,
  right: Num,
  exact: (left: bigint, right: bigint) => bigint,
  float: (left: BinaryFloat, right: BinaryFloat) => BinaryFloat,
): Num {
  const leftInteger = integerOf(left);
  const rightInteger = leftInteger === undefined ? undefined : integerOf(right);
  if (leftInteger !== undefined && rightInteger !== undefined) {
    return numberFromBigInt(exact(leftInteger, rightInteger));
  }
  return numberFromFloat(float(toFloat(left), toFloat(right)));
}
