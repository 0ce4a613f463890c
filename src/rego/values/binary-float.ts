/**
 * Go's `big.Float` with its default mantissa of 64 bits: what OPA computes with when a number is not an integer.
 * Results must print the same digits, so every operation is exact and then rounded to nearest even.
 */
import { type Decimal, type DecimalParts, numberFromText } from "./number.ts";

/** mantissa × 2^exponent; the mantissa carries the sign and has at most 64 bits. */
export interface BinaryFloat {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const mantissaBits = 64;

export function floatFromParts(parts: DecimalParts): BinaryFloat {
  const signed = parts.negative ? -parts.digits : parts.digits;
  if (parts.exponent >= 0) return round(signed * 10n ** BigInt(parts.exponent), 0);
  return ratio(signed, 10n ** BigInt(-parts.exponent), 0);
}

export function floatFromInteger(integer: bigint): BinaryFloat {
  return round(integer, 0);
}

export function addFloats(left: BinaryFloat, right: BinaryFloat): BinaryFloat {
  const exponent = Math.min(left.exponent, right.exponent);
  return round(aligned(left, exponent) + aligned(right, exponent), exponent);
}

export function negateFloat(value: BinaryFloat): BinaryFloat {
  return { mantissa: -value.mantissa, exponent: value.exponent };
}

export function multiplyFloats(left: BinaryFloat, right: BinaryFloat, bits = mantissaBits): BinaryFloat {
  return round(left.mantissa * right.mantissa, left.exponent + right.exponent, bits);
}

export function divideFloats(left: BinaryFloat, right: BinaryFloat): BinaryFloat {
  return ratio(left.mantissa, right.mantissa, left.exponent - right.exponent);
}

export function compareFloats(left: BinaryFloat, right: BinaryFloat): number {
  const exponent = Math.min(left.exponent, right.exponent);
  const difference = aligned(left, exponent) - aligned(right, exponent);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The integer part, towards zero. */
export function truncateFloat(value: BinaryFloat): bigint {
  if (value.exponent >= 0) return value.mantissa << BigInt(value.exponent);
  const shift = BigInt(-value.exponent);
  return value.mantissa < 0n ? -(-value.mantissa >> shift) : value.mantissa >> shift;
}

/** The shortest decimal that reads back as the same float, in the form that OPA writes it. */
export function numberFromFloat(value: BinaryFloat, bits = mantissaBits): number | Decimal {
  const integer = truncateFloat(value);
  const isInteger = value.exponent >= 0 || integer << BigInt(-value.exponent) === value.mantissa;
  const { digits, point } = shortestDigits(value, bits);
  const sign = value.mantissa < 0n ? "-" : "";
  return numberFromText(sign + (isInteger ? plainText(digits, point) : generalText(digits, point)));
}

/** Go's `%g` with the shortest precision. */
export function generalText(digits: string, point: number): string {
  const exponent = point - 1;
  if (exponent >= -4 && exponent < 6) return plainText(digits, point);
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const magnitude = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${magnitude}`;
}

/** 0.digits × 10^point without an exponent. */
export function plainText(digits: string, point: number): string {
  if (digits === "" || digits === "0") return "0";
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return digits + "0".repeat(point - digits.length);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function aligned(value: BinaryFloat, exponent: number): bigint {
  return value.mantissa << BigInt(value.exponent - exponent);
}

function round(integer: bigint, exponent: number, wanted = mantissaBits): BinaryFloat {
  if (integer === 0n) return { mantissa: 0n, exponent: 0 };
  const negative = integer < 0n;
  let magnitude = negative ? -integer : integer;
  let bits = bitLength(magnitude);
  let shifted = exponent;
  if (bits > wanted) {
    const drop = BigInt(bits - wanted);
    const rest = magnitude & ((1n << drop) - 1n);
    const half = 1n << (drop - 1n);
    magnitude >>= drop;
    shifted += bits - wanted;
    if (rest > half || (rest === half && (magnitude & 1n) === 1n)) magnitude += 1n;
    bits = bitLength(magnitude);
    if (bits > wanted) {
      magnitude >>= 1n;
      shifted += 1;
    }
  }
  return { mantissa: negative ? -magnitude : magnitude, exponent: shifted };
}

function ratio(numerator: bigint, denominator: bigint, exponent: number): BinaryFloat {
  const negative = numerator < 0n !== denominator < 0n;
  const top = numerator < 0n ? -numerator : numerator;
  const bottom = denominator < 0n ? -denominator : denominator;
  if (top === 0n) return { mantissa: 0n, exponent: 0 };
  const shift = Math.max(0, mantissaBits + 2 + bitLength(bottom) - bitLength(top));
  const scaled = top << BigInt(shift);
  const quotient = scaled / bottom;
  // A sticky bit keeps a remainder from being lost before the rounding.
  const sticky = (quotient << 1n) | (quotient * bottom === scaled ? 0n : 1n);
  return round(negative ? -sticky : sticky, exponent - shift - 1);
}

function bitLength(integer: bigint): number {
  return integer === 0n ? 0 : integer.toString(16).length * 4 - leadingZeroBits(integer);
}

function leadingZeroBits(integer: bigint): number {
  return Math.clz32(Number.parseInt(integer.toString(16)[0] ?? "0", 16)) - 28;
}

/** digits and the position of the decimal point: 0.digits × 10^point. */
function shortestDigits(value: BinaryFloat, bits: number): { readonly digits: string; readonly point: number } {
  let mantissa = value.mantissa < 0n ? -value.mantissa : value.mantissa;
  if (mantissa === 0n) return { digits: "0", point: 1 };
  const spare = bits - bitLength(mantissa);
  mantissa <<= BigInt(spare);
  const exponent = value.exponent - spare;
  // Everything is doubled so that half a unit in the last place is an integer.
  const isPower = mantissa === 1n << BigInt(bits - 1);
  let middle = mantissa * 4n;
  let low = middle - (isPower ? 1n : 2n);
  let high = middle + 2n;
  const binary = exponent - 2;
  let scale = 1n;
  if (binary >= 0) {
    middle <<= BigInt(binary);
    low <<= BigInt(binary);
    high <<= BigInt(binary);
  } else {
    scale = 1n << BigInt(-binary);
  }
  const inclusive = (mantissa & 1n) === 0n;
  const point = decimalPoint(middle, scale);
  for (let count = 1; ; count++) {
    const shift = count - point;
    const up10 = shift > 0 ? 10n ** BigInt(shift) : 1n;
    const down10 = shift < 0 ? 10n ** BigInt(-shift) : 1n;
    const unit = scale * down10;
    const quotient = (middle * up10) / unit;
    const down = quotient * unit;
    const up = down + unit;
    const atLow = low * up10;
    const atHigh = high * up10;
    const okDown = down > atLow || (inclusive && down === atLow);
    const okUp = up < atHigh || (inclusive && up === atHigh);
    if (!okDown && !okUp) continue;
    const remainder = middle * up10 - down;
    const nearestIsUp = remainder * 2n > unit || (remainder * 2n === unit && (quotient & 1n) === 1n);
    const chosen = (okDown && okUp ? nearestIsUp : okUp) ? quotient + 1n : quotient;
    const text = chosen.toString();
    const digits = text.replace(/0+$/, "");
    return { digits, point: point + (text.length - count) };
  }
}

/** The smallest p with middle/scale < 10^p. */
function decimalPoint(middle: bigint, scale: bigint): number {
  let point = middle.toString().length - scale.toString().length;
  const isBelow = (power: number): boolean =>
    power >= 0 ? middle < scale * 10n ** BigInt(power) : middle * 10n ** BigInt(-power) < scale;
  while (!isBelow(point)) point++;
  while (isBelow(point - 1)) point--;
  return point;
}
