import { compareUtf8, goFloat, goQuote } from "../../go-text.ts";
import { formatType } from "../type.ts";
import { CelError, CelList, CelMap, type CelValue, Duration, Timestamp, TypeValue, typeOf, Uint } from "../value.ts";
import { durationToText } from "./conversions.ts";
import { checkedText } from "./limits.ts";
import { formatTimestamp } from "./timestamp.ts";

/** `"%s has %d".format([name, count])`, with the words and the English digits of the real function. */
export function formatText(format: string, args: CelList): CelValue {
  let text = "";
  let used = 0;
  for (let at = 0; at < format.length; at += 1) {
    if (format[at] !== "%") {
      text += format[at];
      continue;
    }
    if (format[at + 1] === "%") {
      text += "%";
      at += 1;
      continue;
    }
    if (used >= args.length) return new CelError(`index ${used} out of range`);
    const clause = /^%(?:\.(\d*))?([a-zA-Z])?/.exec(format.slice(at, at + maxClauseLength));
    const letter = clause?.[2];
    if (clause === null || letter === undefined) return new CelError("unexpected end of string");
    const formatted = formatClause(letter, clause[1], args.at(used));
    if (formatted instanceof CelError) return formatted;
    text += formatted;
    const checked = checkedText(text);
    if (checked instanceof CelError) return checked;
    used += 1;
    at += clause[0].length - 1;
  }
  return text;
}

const maxClauseLength = 16;
const defaultPrecision = 6;
const maxPrecision = 100;

function formatClause(letter: string, precisionText: string | undefined, value: CelValue): string | CelError {
  const precision = precisionText ? Number(precisionText) : defaultPrecision;
  if (precision > maxPrecision) return new CelError("could not parse formatting clause: precision is too large");
  const write = clauses.get(letter);
  if (write === undefined)
    return new CelError(`could not parse formatting clause: unrecognized formatting clause "${letter}"`);
  if (value instanceof CelError) return value;
  const written = write(value, precision);
  if (typeof written === "string") return written;
  return new CelError(`error during formatting: ${written.complaint}, was given ${typeName(value)}`);
}

interface Refusal {
  readonly complaint: string;
}
type Clause = (value: CelValue, precision: number) => string | Refusal;

const refuse = (complaint: string): Refusal => ({ complaint });
const integerOf = (value: CelValue): bigint | undefined =>
  typeof value === "bigint" ? value : value instanceof Uint ? value.value : undefined;
const typeName = (value: CelValue): string => {
  const type = typeOf(value);
  return type.params.length === 0 ? type.name : type.name;
};

const clauses: ReadonlyMap<string, Clause> = new Map<string, Clause>([
  ["s", (value) => plainText(value)],
  ["d", (value) => integerOf(value)?.toString() ?? refuse("decimal clause can only be used on integers")],
  ["f", (value, precision) => fixedPoint(value, precision)],
  ["e", (value) => scientific(value)],
  ["b", (value) => binary(value)],
  ["x", (value) => hexadecimal(value)],
  ["X", (value) => upperCase(hexadecimal(value))],
  ["o", (value) => integerOf(value)?.toString(8) ?? refuse("octal clause can only be used on integers")],
]);

const stringComplaint =
  "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

function plainText(value: CelValue): string | Refusal {
  if (value === null) return "null";
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (typeof value === "number") return goFloat(value);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return durationToText(value);
  if (value instanceof TypeValue) return formatType(value.type);
  if (value instanceof CelList) return listText(value);
  return value instanceof CelMap ? mapText(value) : refuse(stringComplaint);
}

function listText(list: CelList): string | Refusal {
  const texts: string[] = [];
  for (const item of list) {
    const text = quoted(item);
    if (typeof text !== "string") return text;
    texts.push(text);
  }
  return `[${texts.join(", ")}]`;
}

function mapText(map: CelMap): string | Refusal {
  const pairs: (readonly [string, string])[] = [];
  for (const key of map.keys()) {
    const [keyText, valueText] = [quoted(key), quoted(map.find(key) ?? null)];
    if (typeof keyText !== "string") return keyText;
    if (typeof valueText !== "string") return valueText;
    pairs.push([keyText, valueText]);
  }
  pairs.sort(([left], [right]) => compareUtf8(left, right));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(", ")}}`;
}

/** Inside lists and maps texts are written as the expression would write them. */
function quoted(value: CelValue): string | Refusal {
  const text = plainText(value);
  if (typeof text !== "string") return text;
  if (typeof value === "string") return goQuote(text);
  if (value instanceof Uint8Array) return `b${goQuote(text)}`;
  return typeof value === "number" && !Number.isFinite(value) ? goQuote(text) : text;
}

function doubleOf(value: CelValue): number | undefined {
  if (typeof value === "number") return value;
  if (value === "NaN") return Number.NaN;
  if (value === "Infinity") return Number.POSITIVE_INFINITY;
  return value === "-Infinity" ? Number.NEGATIVE_INFINITY : undefined;
}

function fixedPoint(value: CelValue, precision: number): string | Refusal {
  const number = doubleOf(value);
  if (number === undefined) return refuse("fixed-point clause can only be used on doubles");
  if (!Number.isFinite(number)) return notFinite(number);
  const [whole = "", fraction] = plainFixed(number, precision).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `toFixed` gives up beyond 1e21; such numbers are whole. */
const plainFixed = (value: number, precision: number): string =>
  Math.abs(value) < 1e21
    ? value.toFixed(precision)
    : `${BigInt(value)}${precision > 0 ? `.${"0".repeat(precision)}` : ""}`;

/** The real function takes the precision for a width, so there are always six digits. */
function scientific(value: CelValue): string | Refusal {
  const number = doubleOf(value);
  if (number === undefined) return refuse("scientific clause can only be used on doubles");
  if (!Number.isFinite(number)) return notFinite(number);
  const [digits = "", exponent = "0"] = number.toExponential(defaultPrecision).split("e");
  const magnitude = exponent.replace(/^[+-]/, "").padStart(2, "0");
  const sign = exponent.startsWith("-") ? "⁻" : "";
  return `${digits}×10${sign}${[...magnitude].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;
}

const notFinite = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞");

function binary(value: CelValue): string | Refusal {
  if (typeof value === "boolean") return value ? "1" : "0";
  return integerOf(value)?.toString(2) ?? refuse("only integers and bools can be formatted as binary");
}

function hexadecimal(value: CelValue): string | Refusal {
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("hex");
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return integerOf(value)?.toString(16) ?? refuse("only integers, byte buffers, and strings can be formatted as hex");
}

const upperCase = (text: string | Refusal): string | Refusal => (typeof text === "string" ? text.toUpperCase() : text);
