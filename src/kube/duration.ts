import { type Parsed, parsed, parsedOrThrow, refused } from "./parsed.ts";

/** Go durations (`1h30m`, `250ms`), read and written exactly as Go's time package does. The value is in nanoseconds. */
export type Nanoseconds = bigint;

export function parseDuration(text: string): Parsed<Nanoseconds> {
  const invalid = refused(`time: invalid duration ${quoteAscii(text)}`);
  if (text.length > durationMaxLength) return invalid;
  const negative = text.startsWith("-");
  let rest = negative || text.startsWith("+") ? text.slice(1) : text;
  if (rest === "0") return parsed(0n);
  if (rest === "") return invalid;
  let total = 0n;
  while (rest !== "") {
    const number = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) ?? [""];
    const [matched = "", integer = "", fraction = ""] = number;
    if (integer === "" && fraction === "") return invalid;
    rest = rest.slice(matched.length);
    const unitName = /^[^.0-9]+/.exec(rest)?.[0];
    if (unitName === undefined) return refused(`time: missing unit in duration ${quoteAscii(text)}`);
    rest = rest.slice(unitName.length);
    const unit = units.get(unitName);
    if (unit === undefined)
      return refused(`time: unknown unit ${quoteAscii(unitName)} in duration ${quoteAscii(text)}`);
    total += BigInt(integer === "" ? "0" : integer) * unit + fractionOf(fraction, unit);
    if (total > maxMagnitude) return invalid;
  }
  if (negative) return parsed(-total);
  return total > maxMagnitude - 1n ? invalid : parsed(total);
}

/** Milliseconds of a duration; anything below one is cut off. */
export function parseDurationMs(text: string): Parsed<number> {
  const result = parseDuration(text);
  return result.ok ? parsed(Number(result.value / nanosPerMs)) : result;
}

/** For durations written in the program; throws on anything unreadable. */
export const durationMs = (text: string): number => parsedOrThrow(parseDurationMs(text));

export function formatDuration(nanoseconds: Nanoseconds): string {
  if (nanoseconds === 0n) return "0s";
  const sign = nanoseconds < 0n ? "-" : "";
  const magnitude = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (magnitude < 1_000n) return `${sign}${magnitude}ns`;
  if (magnitude < 1_000_000n) return `${sign}${decimal(magnitude, 1_000n)}µs`;
  if (magnitude < nanosPerSecond) return `${sign}${decimal(magnitude, nanosPerMs)}ms`;
  const minutes = magnitude / (60n * nanosPerSecond);
  const seconds = `${decimal(magnitude % (60n * nanosPerSecond), nanosPerSecond)}s`;
  if (minutes === 0n) return `${sign}${seconds}`;
  if (minutes < 60n) return `${sign}${minutes}m${seconds}`;
  return `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

export const formatDurationMs = (milliseconds: number): string =>
  formatDuration(BigInt(Math.trunc(milliseconds)) * nanosPerMs);

const durationMaxLength = 1024;
const nanosPerMs = 1_000_000n;
const nanosPerSecond = 1_000_000_000n;
const maxMagnitude = 2n ** 63n;
const units: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["µs", 1_000n],
  ["μs", 1_000n],
  ["ms", nanosPerMs],
  ["s", nanosPerSecond],
  ["m", 60n * nanosPerSecond],
  ["h", 3600n * nanosPerSecond],
]);

/** Go multiplies the fraction in floating point, so the last nanosecond may differ from the exact answer; we do the same. */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next >= maxMagnitude) break;
    value = next;
    scale *= 10;
  }
  return value === 0n ? 0n : BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

function decimal(value: bigint, unit: bigint): string {
  const fraction = (value % unit)
    .toString()
    .padStart(unit.toString().length - 1, "0")
    .replace(/0+$/, "");
  return fraction === "" ? `${value / unit}` : `${value / unit}.${fraction}`;
}

/** The time package quotes byte by byte. */
function quoteAscii(text: string): string {
  let quoted = '"';
  for (const byte of Buffer.from(text, "utf8")) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
    else quoted += String.fromCharCode(byte);
  }
  return `${quoted}"`;
}
