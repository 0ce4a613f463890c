/** `units.parse` and `units.parse_bytes`: quantities with SI and binary suffixes. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { floatFromInteger, floatFromParts, multiplyFloats, truncateFloat } from "../values/binary-float.ts";
import { numberFromBigInt, numberFromText, splitDecimal } from "../values/number.ts";
import type { Value } from "../values/value.ts";
import { type Args, type Builtins, stringAt } from "./operands.ts";

export const unitBuiltins: Builtins = { "units.parse": parseUnits, "units.parse_bytes": parseBytes };

const byteUnits: { readonly [unit: string]: bigint } = {
  "": 1n,
  ...scales("", 1000n, ["k", "m", "g", "t", "p", "e"]),
  ...scales("b", 1000n, ["k", "m", "g", "t", "p", "e"]),
  ...scales("i", 1024n, ["k", "m", "g", "t", "p", "e"]),
  ...scales("ib", 1024n, ["k", "m", "g", "t", "p", "e"]),
};

const siUnits: { readonly [unit: string]: bigint } = {
  "": 1n,
  ...scales("", 1000n, ["K", "M", "G", "T", "P", "E"]),
  ...scales("i", 1024n, ["k", "m", "g", "t", "p", "e"]),
  ...scales("i", 1024n, ["K", "M", "G", "T", "P", "E"]),
  // In lower case `m` is milli, not mega.
  k: 1000n,
  g: 1000n ** 3n,
  t: 1000n ** 4n,
  p: 1000n ** 5n,
  e: 1000n ** 6n,
};

function scales(suffix: string, base: bigint, letters: readonly string[]): { [unit: string]: bigint } {
  return Object.fromEntries(letters.map((letter, index) => [letter + suffix, base ** BigInt(index + 1)]));
}

function parseBytes(args: Args): Value {
  const fail = failure("units.parse_bytes");
  const text = stringAt(args, 0).toLowerCase().replaceAll('"', "");
  if (text.includes(" ")) throw fail("spaces not allowed in resource strings");
  const { number, unit } = split(text, fail);
  if (number === "") throw fail("no byte amount provided");
  const scale = Object.hasOwn(byteUnits, unit) ? byteUnits[unit] : undefined;
  if (scale === undefined) throw fail(`byte unit ${unit} not recognized`);
  if (!isDecimal(number)) throw fail("could not parse byte amount to a number");
  const parts = splitDecimal(number.replace(/^\+/, ""));
  if (Math.abs(parts.exponent) > maxExponent) throw fail("exponent too large");
  return numberFromBigInt(truncateFloat(multiplyFloats(floatFromParts(parts), floatFromInteger(scale))));
}

function parseUnits(args: Args): Value {
  const fail = failure("units.parse");
  const text = stringAt(args, 0).replaceAll('"', "");
  if (text.includes(" ")) throw fail("spaces not allowed in resource strings");
  const { number, unit: rawUnit } = split(text, fail);
  if (number === "") throw fail("no amount provided");
  const unit = rawUnit.slice(0, 1) + rawUnit.slice(1).toLowerCase();
  const scale = unit === "m" ? 1n : Object.hasOwn(siUnits, unit) ? siUnits[unit] : undefined;
  if (scale === undefined) throw fail(`unit ${unit} not recognized`);
  if (!isDecimal(number)) throw fail("could not parse amount to a number");
  const parts = splitDecimal(number.replace(/^\+/, ""));
  if (Math.abs(parts.exponent) > maxExponent) throw fail("exponent too large");
  // Exact: numerator over a power of ten; milli is the double nearest to 0.001, as in OPA.
  let top = (parts.negative ? -1n : 1n) * parts.digits * scale;
  let bottom = 1n;
  if (unit === "m") {
    top *= milliTop;
    bottom *= milliBottom;
  }
  if (parts.exponent >= 0) top *= 10n ** BigInt(parts.exponent);
  else bottom *= 10n ** BigInt(-parts.exponent);
  if (top % bottom === 0n) return numberFromBigInt(top / bottom);
  return numberFromText(fixed(top, bottom, 10));
}

/** 0.001 as a double is 1152921504606847 / 2^60. */
const milliTop = 1152921504606847n;
const milliBottom = 2n ** 60n;
const maxExponent = 5000;

/** A ratio with so many digits after the point, rounded half away from zero. */
function fixed(top: bigint, bottom: bigint, digits: number): string {
  const negative = top < 0n;
  const scaled = (negative ? -top : top) * 10n ** BigInt(digits);
  const rounded = (scaled * 2n + bottom) / (bottom * 2n);
  const text = rounded.toString().padStart(digits + 1, "0");
  return `${negative ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function failure(name: string): (message: string) => BuiltinFault {
  return (message) => new BuiltinFault(`${name}: ${message}`);
}

function isDecimal(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text);
}

/** The number ends at the first character that cannot belong to it; an `e` belongs only if digits follow. */
function split(
  text: string,
  fail: (message: string) => BuiltinFault,
): { readonly number: string; readonly unit: string } {
  let index = 0;
  for (; index < text.length; index++) {
    const char = text[index] ?? "";
    if (/[\d.+-]/.test(char)) continue;
    if (char !== "e" && char !== "E") break;
    if (!/[\d+-]/.test(text[index + 1] ?? "")) break;
    if (/[+-]/.test(text[index + 1] ?? "")) index++;
    const exponent = /^\d*/.exec(text.slice(index + 1))?.[0] ?? "";
    if (exponent.length > 6) throw fail("exponent too large");
  }
  return { number: text.slice(0, index), unit: text.slice(index) };
}
