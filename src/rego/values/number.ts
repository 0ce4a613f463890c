/**
 * Numbers as OPA has them: the text of a JSON number, compared by value. A JavaScript number stands for every text that
 * it prints itself (all safe integers, `0.1`, `2.5`); any other text (`1.0`, `1e3`, 30-digit integers) is a `Decimal`.
 */
import type { Value } from "./value.ts";

/** A number whose text a JavaScript number would not print: beyond 2^53, with trailing zeros, or with an exponent. */
export class Decimal {
  readonly text: string;
  #parts: DecimalParts | undefined;
  #key: number | undefined;
  #canonical: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  parts(): DecimalParts {
    this.#parts ??= splitDecimal(this.text);
    return this.#parts;
  }

  /** The JavaScript number that is exactly equal in value and prints itself so, if there is one. */
  scalarKey(): number | undefined {
    if (this.#canonical !== undefined) return this.#key;
    const { digits, exponent, negative } = this.parts();
    this.#canonical = digits === 0n ? "0" : `${negative ? "-" : ""}${digits}e${exponent}`;
    const candidate = Number(this.#canonical);
    if (Number.isFinite(candidate) && comparePartsExactly(splitDecimal(String(candidate)), this.parts()) === 0) {
      this.#key = Number.isInteger(candidate) && !Number.isSafeInteger(candidate) ? undefined : candidate;
    }
    return this.#key;
  }

  canonicalText(): string {
    const key = this.scalarKey();
    return key === undefined ? (this.#canonical ?? this.text) : String(key);
  }
}

/** digits × 10^exponent, with no trailing zero in digits. */
export interface DecimalParts {
  readonly negative: boolean;
  readonly digits: bigint;
  readonly exponent: number;
}

/** Exponents beyond this are not expanded: the text is kept, but arithmetic on it would not end. */
export const maxDecimalExponent = 20_000;

export function splitDecimal(text: string): DecimalParts {
  const match = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) throw new RangeError(`not a number: ${text}`);
  const fraction = match[3] ?? "";
  let exponent = Number(match[4] ?? "0") - fraction.length;
  let digits = `${match[2]}${fraction}`.replace(/^0+/, "");
  const trimmed = digits.replace(/0+$/, "");
  exponent += digits.length - trimmed.length;
  digits = trimmed;
  if (digits === "") return { negative: false, digits: 0n, exponent: 0 };
  return { negative: match[1] === "-", digits: BigInt(digits), exponent };
}

/** The value for the text of a JSON number. */
export function numberFromText(text: string): number | Decimal {
  const number = Number(text);
  if (String(number) === text && (Number.isSafeInteger(number) || !Number.isInteger(number))) return number;
  return new Decimal(text);
}

/** Why no policy can have this number, though it is JSON; the bounds are OPA's. */
export function numberRangeFault(text: string): "number too big" | "invalid float" | undefined {
  if (!/[eE]/.test(text)) return undefined;
  const { digits, exponent } = splitDecimal(text);
  if (digits === 0n) return undefined;
  if (Math.abs(exponent) > maxWrittenExponent) return "invalid float";
  const written = digits.toString();
  const binaryExponent =
    Math.floor(Math.log2(Number(`0.${written.slice(0, 17)}`)) + (written.length + exponent) * Math.log2(10)) + 1;
  return Math.abs(binaryExponent) > maxBinaryExponent ? "number too big" : undefined;
}

const maxBinaryExponent = 100_000;
const maxWrittenExponent = 2 ** 31 - 1;

export function numberFromBigInt(integer: bigint): number | Decimal {
  if (integer >= minSafeInteger && integer <= maxSafeInteger) return Number(integer);
  return new Decimal(integer.toString());
}

export function isNumber(value: Value | undefined): value is number | Decimal {
  return typeof value === "number" || value instanceof Decimal;
}

export function numberText(value: number | Decimal): string {
  if (typeof value !== "number") return value.text;
  if (Number.isInteger(value) && Math.abs(value) >= 1e21) return String(value);
  return Object.is(value, -0) ? "-0" : String(value);
}

/** The value as an exact integer, or undefined if it has a fraction (or is too large to write out). */
export function integerOf(value: number | Decimal): bigint | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : undefined;
  const { negative, digits, exponent } = value.parts();
  if (exponent < 0 || exponent > maxDecimalExponent) return digits === 0n ? 0n : undefined;
  const magnitude = digits * 10n ** BigInt(exponent);
  return negative ? -magnitude : magnitude;
}

export function compareNumbers(left: number | Decimal, right: number | Decimal): number {
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : 0;
  return comparePartsExactly(partsOf(left), partsOf(right));
}

export function partsOf(value: number | Decimal): DecimalParts {
  return typeof value === "number" ? splitDecimal(String(value)) : value.parts();
}

/** The key under which a scalar is stored in maps; undefined for values that need their canonical text. */
export function scalarKeyOf(value: Value): null | boolean | number | string | undefined {
  if (typeof value === "string" || typeof value === "number") return value === 0 ? 0 : value;
  if (value === null || typeof value === "boolean") return value;
  return value instanceof Decimal ? value.scalarKey() : undefined;
}

const minSafeInteger = BigInt(Number.MIN_SAFE_INTEGER);
const maxSafeInteger = BigInt(Number.MAX_SAFE_INTEGER);

function comparePartsExactly(left: DecimalParts, right: DecimalParts): number {
  if (left.digits === 0n || right.digits === 0n || left.negative !== right.negative) {
    return signOf(left) - signOf(right) < 0 ? -1 : signOf(left) > signOf(right) ? 1 : 0;
  }
  const sign = left.negative ? -1 : 1;
  const leftDigits = left.digits.toString();
  const rightDigits = right.digits.toString();
  const leftTop = leftDigits.length + left.exponent;
  const rightTop = rightDigits.length + right.exponent;
  if (leftTop !== rightTop) return leftTop < rightTop ? -sign : sign;
  const width = Math.max(leftDigits.length, rightDigits.length);
  const paddedLeft = leftDigits.padEnd(width, "0");
  const paddedRight = rightDigits.padEnd(width, "0");
  return paddedLeft === paddedRight ? 0 : paddedLeft < paddedRight ? -sign : sign;
}

function signOf(parts: DecimalParts): number {
  return parts.digits === 0n ? 0 : parts.negative ? -1 : 1;
}
