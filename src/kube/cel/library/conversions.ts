import { parseDuration } from "../../duration.ts";
import { goFloat } from "../../go-text.ts";
import { declare, type FunctionDeclaration, fn } from "../declaration.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  paramType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "../type.ts";
import { CelError, type CelValue, Duration, Timestamp, TypeValue, typeOf, Uint } from "../value.ts";
import { int64 } from "./arithmetic.ts";
import { maxTimestamp, minTimestamp } from "./limits.ts";
import { readsTarget, resized } from "./text-cost.ts";
import { formatTimestamp, parseTimestamp } from "./timestamp.ts";

const A = paramType("A");
const same = (value: CelValue): CelValue => value;

/** Conversions between types; whatever cannot be converted is an error, never a guess. */
export const conversions: readonly FunctionDeclaration[] = [
  declare(
    "type",
    fn("type", [A], typeType(A), (value) => new TypeValue(typeOf(value))),
  ),
  declare("dyn", fn("to_dyn", [A], dynType, same)),
  declare("bool", fn("bool_to_bool", [boolType], boolType, same), fn("string_to_bool", [stringType], boolType, toBool)),
  declare(
    "int",
    fn("int64_to_int64", [intType], intType, same),
    fn("uint64_to_int64", [uintType], intType, (value) => int64((value as Uint).value)),
    fn("double_to_int64", [doubleType], intType, (value) => doubleToInt(value as number)),
    fn("string_to_int64", [stringType], intType, toInt),
    fn("timestamp_to_int64", [timestampType], intType, (value) =>
      floorDivide((value as Timestamp).nanoseconds, 1_000_000_000n),
    ),
    fn("duration_to_int64", [durationType], intType, (value) => (value as Duration).nanoseconds),
  ),
  declare(
    "uint",
    fn("uint64_to_uint64", [uintType], uintType, same),
    fn("int64_to_uint64", [intType], uintType, (value) => uint64(value as bigint)),
    fn("double_to_uint64", [doubleType], uintType, (value) => doubleToUint(value as number)),
    fn("string_to_uint64", [stringType], uintType, toUint),
  ),
  declare(
    "double",
    fn("double_to_double", [doubleType], doubleType, same),
    fn("int64_to_double", [intType], doubleType, (value) => Number(value as bigint)),
    fn("uint64_to_double", [uintType], doubleType, (value) => Number((value as Uint).value)),
    fn("string_to_double", [stringType], doubleType, toDouble),
  ),
  declare(
    "string",
    fn("string_to_string", [stringType], stringType, same),
    fn("bool_to_string", [boolType], stringType, String),
    fn("int64_to_string", [intType], stringType, String),
    fn("uint64_to_string", [uintType], stringType, (value) => String((value as Uint).value)),
    fn("double_to_string", [doubleType], stringType, (value) => goFloat(value as number)),
    fn("bytes_to_string", [bytesType], stringType, bytesToText, {
      ...readsTarget("argument"),
      estimate: resized(({ min, max }) => ({ min: Math.floor(min / 4), max })),
    }),
    fn("timestamp_to_string", [timestampType], stringType, (value) => formatTimestamp(value as Timestamp)),
    fn("duration_to_string", [durationType], stringType, (value) => durationToText(value as Duration)),
  ),
  declare(
    "bytes",
    fn("bytes_to_bytes", [bytesType], bytesType, same),
    fn("string_to_bytes", [stringType], bytesType, (value) => Buffer.from(value as string, "utf8"), {
      ...readsTarget("argument"),
      estimate: resized(({ min, max }) => ({ min, max: max * 4 })),
    }),
  ),
  declare(
    "timestamp",
    fn("timestamp_to_timestamp", [timestampType], timestampType, same),
    fn("string_to_timestamp", [stringType], timestampType, toTimestamp),
    fn("int64_to_timestamp", [intType], timestampType, (value) => timestampOf((value as bigint) * 1_000_000_000n)),
  ),
  declare(
    "duration",
    fn("duration_to_duration", [durationType], durationType, same),
    fn("string_to_duration", [stringType], durationType, toDuration),
    fn("int64_to_duration", [intType], durationType, (value) => new Duration(value as bigint)),
  ),
];

export const conversionError = (from: CelType, to: CelType): CelError =>
  new CelError(`type conversion error from '${from.name}' to '${to.name}'`);

function toBool(value: CelValue): CelValue {
  if (/^(?:1|t|T|TRUE|true|True)$/.test(value as string)) return true;
  if (/^(?:0|f|F|FALSE|false|False)$/.test(value as string)) return false;
  return conversionError(stringType, boolType);
}

function toInt(value: CelValue): CelValue {
  const text = value as string;
  if (!/^[+-]?\d{1,40}$/.test(text)) return conversionError(stringType, intType);
  const parsed = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, parsed) === parsed ? parsed : conversionError(stringType, intType);
}

function toUint(value: CelValue): CelValue {
  const text = value as string;
  if (!/^\d{1,40}$/.test(text)) return conversionError(stringType, uintType);
  const parsed = BigInt(text);
  return BigInt.asUintN(64, parsed) === parsed ? new Uint(parsed) : conversionError(stringType, uintType);
}

function toDouble(value: CelValue): CelValue {
  const text = value as string;
  if (/^[+-]?(?:inf|infinity)$/i.test(text))
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return conversionError(stringType, doubleType);
  const parsed = Number(text);
  return Number.isFinite(parsed) ? parsed : conversionError(stringType, doubleType);
}

function toDuration(value: CelValue): CelValue {
  const parsed = parseDuration(value as string);
  return parsed.ok ? new Duration(parsed.value) : new CelError(`${parsed.message}`);
}

function toTimestamp(value: CelValue): CelValue {
  const parsed = parseTimestamp(value as string);
  return parsed.ok ? timestampOf(parsed.value) : new CelError(parsed.message);
}

export const timestampOf = (nanoseconds: bigint): CelValue =>
  nanoseconds < minTimestamp || nanoseconds > maxTimestamp
    ? new CelError("timestamp overflow")
    : new Timestamp(nanoseconds);

function doubleToInt(value: number): CelValue {
  // The bounds themselves are refused, because a double near them stands for many integers.
  if (Number.isNaN(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelError("integer overflow");
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): CelValue {
  if (Number.isNaN(value) || value < 0 || value >= 2 ** 64) return new CelError("unsigned integer overflow");
  return new Uint(BigInt(Math.trunc(value)));
}

const uint64 = (value: bigint): CelValue => (value < 0n ? new CelError("unsigned integer overflow") : new Uint(value));

function bytesToText(value: CelValue): CelValue {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(value as Uint8Array);
  } catch (error) {
    if (error instanceof TypeError) return new CelError("invalid UTF-8 in bytes, cannot convert to string");
    throw error;
  }
}

/** Seconds with as many decimals as needed: `90s`, `0.5s`. */
export function durationToText({ nanoseconds }: Duration): string {
  const sign = nanoseconds < 0n ? "-" : "";
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = (magnitude % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${magnitude / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}

const floorDivide = (value: bigint, by: bigint): bigint => {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
};
