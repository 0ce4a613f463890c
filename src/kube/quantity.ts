import { type Parsed, parsed, parsedOrThrow, refused } from "./parsed.ts";

/**
 * A resource quantity (`250m`, `1.5Gi`, `12e6`), kept exactly: no value passes through a floating-point number.
 * As in Kubernetes, nothing smaller than a nano is kept (it is rounded up), and binary suffixes end at 2^63-1.
 */
export interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  /** The writer's own spelling, kept where Kubernetes would also keep it (`1.500` stays, `1.5` becomes `1500m`). */
  readonly source?: string;
}

export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** Longer texts and exponents could only serve to keep a server busy. */
export const quantityMaxLength = 1024;
export const quantityMaxExponent = 1024;

export function parseQuantity(text: string): Parsed<Quantity> {
  if (text === "" || text.length > quantityMaxLength) return refused(formatIsWrong);
  const parts = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*(?:(?<=[eEinumkKMGTP.0-9])[-+]?[0-9]*)?)$/.exec(text);
  if (parts === null) return refused(formatIsWrong);
  const [, sign = "", integer = "", fraction = "", suffix = ""] = parts;
  const unit = unitOf(suffix);
  if (unit === undefined) return refused("unable to parse quantity's suffix");

  const leading = integer.replace(/^0+/, "");
  const digits = (leading === "" ? "0" : leading) + fraction;
  const exact = scaled(BigInt(digits), fraction.length, unit);
  const negative = sign === "-";
  const magnitude = unit.base === 2 && exact > maxBinaryNanos ? maxBinaryNanos : exact;
  const nanos = negative ? -magnitude : magnitude;
  if (nanos === 0n) return parsed({ nanos, format: unit.format });
  const belowOne = unit.base === 2 && magnitude < nanosPerUnit;
  const keepsSource = sourceIsKept(digits, fraction.length, unit);
  return parsed({ nanos, format: belowOne ? "DecimalSI" : unit.format, ...(keepsSource && { source: text }) });
}

/** For quantities written in the program; throws on anything unreadable. */
export const quantity = (text: string): Quantity => parsedOrThrow(parseQuantity(text));

/** The canonical form: no fraction, and the largest suffix that loses nothing. */
export function formatQuantity(value: Quantity): string {
  if (value.source !== undefined) return value.source;
  const { nanos } = value;
  if (nanos === 0n) return "0";
  const isSmall = nanos > -1024n * nanosPerUnit && nanos < 1024n * nanosPerUnit;
  if (value.format === "BinarySI" && !isSmall && nanos % nanosPerUnit === 0n) return formatBinary(nanos / nanosPerUnit);
  return formatDecimal(nanos, value.format === "DecimalExponent");
}

export const compareQuantities = (left: Quantity, right: Quantity): number =>
  left.nanos < right.nanos ? -1 : left.nanos > right.nanos ? 1 : 0;

/** The sum, written in the format of the first unless that is zero. */
export const addQuantities = (left: Quantity, right: Quantity): Quantity => ({
  nanos: left.nanos + right.nanos,
  format: left.nanos === 0n ? right.format : left.format,
});

export const subtractQuantities = (left: Quantity, right: Quantity): Quantity => ({
  nanos: left.nanos - right.nanos,
  format: left.nanos === 0n ? right.format : left.format,
});

/** Whole units, rounded up as Kubernetes rounds: bytes of memory, numbers of pods. */
export const quantityUnits = (value: Quantity): bigint => roundUp(value.nanos, nanosPerUnit);

/** Thousandths, rounded up: millicores of CPU. */
export const quantityMillis = (value: Quantity): bigint => roundUp(value.nanos, nanosPerUnit / 1000n);

/** The nearest floating-point number, for ratios and metrics only. */
export const quantityNumber = (value: Quantity): number => {
  const whole = value.nanos / nanosPerUnit;
  return Number(whole) + Number(value.nanos - whole * nanosPerUnit) / 1e9;
};

interface Unit {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

const formatIsWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const nanosPerUnit = 1_000_000_000n;
const maxBinaryNanos = (2n ** 63n - 1n) * nanosPerUnit;
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

function unitOf(suffix: string): Unit | undefined {
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: decimal * 3 - 9, format: "DecimalSI" };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return { base: 2, exponent: binary * 10, format: "BinarySI" };
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) return undefined;
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > quantityMaxExponent) return undefined;
  return { base: 10, exponent, format: "DecimalExponent" };
}

function scaled(digits: bigint, fractionDigits: number, unit: Unit): bigint {
  const power = (unit.base === 10 ? unit.exponent : 0) - fractionDigits + 9;
  const value = unit.base === 2 ? digits << BigInt(unit.exponent) : digits;
  return power >= 0 ? value * 10n ** BigInt(power) : roundUp(value, 10n ** BigInt(-power));
}

/** Kubernetes reuses the text that it parsed when a quick look says that it is canonical already. */
function sourceIsKept(digits: string, fractionDigits: number, unit: Unit): boolean {
  if (unit.base === 2) {
    const precision = 15 - digits.length - Math.trunc((unit.exponent * 3) / 10) - 1;
    return fractionDigits === 0 && precision >= 0 && (BigInt(digits) & 7n) !== 0n;
  }
  const scale = unit.exponent - fractionDigits;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

function formatBinary(units: bigint): string {
  let value = units;
  let step = 0;
  while (step < binarySuffixes.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    step += 1;
  }
  return `${value}${binarySuffixes[step]}`;
}

function formatDecimal(nanos: bigint, withExponent: boolean): string {
  let value = nanos;
  let exponent = -9;
  while (value % 1000n === 0n && (withExponent || exponent < 18)) {
    value /= 1000n;
    exponent += 3;
  }
  const suffix = withExponent ? (exponent === 0 ? "" : `e${exponent}`) : (decimalSuffixes[exponent / 3 + 3] ?? "");
  return `${value}${suffix}`;
}

/** Away from zero, so that whoever asks for a little never gets nothing. */
function roundUp(value: bigint, unit: bigint): bigint {
  const whole = value / unit;
  const rest = value - whole * unit;
  if (rest === 0n) return whole;
  return rest > 0n ? whole + 1n : whole - 1n;
}
