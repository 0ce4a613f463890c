import { goQuote } from "./go-text.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/**
 * Timestamps as the API writes and reads them: `Time` has whole seconds, `MicroTime` exactly six fraction digits, both in
 * UTC with a `Z`. A reader also takes offsets, and for `Time` any fraction.
 */

export const formatTime = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

/** JavaScript knows milliseconds only, so the last three digits are zeros unless given. */
export const formatMicroTime = (time: Date, microseconds = 0): string =>
  `${time.toISOString().slice(0, 23)}${String(microseconds % 1000).padStart(3, "0")}Z`;

export function parseTime(text: string): Parsed<Date> {
  // As the API itself writes it; anything else, and what is wrong with it, is found by the longer way.
  if (usual.test(text)) {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime()) && formatTime(time) === text) return parsed(time);
  }
  return parse(text, "2006-01-02T15:04:05Z07:00", false);
}

const usual = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/** A MicroTime with any other number of fraction digits is refused, as real servers refuse it. */
export const parseMicroTime = (text: string): Parsed<Date> => parse(text, "2006-01-02T15:04:05.000000Z07:00", true);

interface Element {
  readonly layout: string;
  readonly pattern: RegExp;
  /** Go checks the range while it reads; months and days are checked later or by name. */
  readonly range?: { readonly name: string; readonly from: number; readonly to: number };
}

const elements: readonly Element[] = [
  { layout: "2006", pattern: /^\d{4}/ },
  { layout: "-", pattern: /^-/ },
  { layout: "01", pattern: /^\d{2}/, range: { name: "month", from: 1, to: 12 } },
  { layout: "-", pattern: /^-/ },
  { layout: "02", pattern: /^\d{2}/ },
  { layout: "T", pattern: /^T/ },
  { layout: "15", pattern: /^\d{1,2}/, range: { name: "hour", from: 0, to: 23 } },
  { layout: ":", pattern: /^:/ },
  { layout: "04", pattern: /^\d{2}/, range: { name: "minute", from: 0, to: 59 } },
  { layout: ":", pattern: /^:/ },
  { layout: "05", pattern: /^\d{2}/, range: { name: "second", from: 0, to: 59 } },
];

function parse(text: string, layout: string, exactMicros: boolean): Parsed<Date> {
  const fail = (rest: string, element: string): Parsed<Date> =>
    refused(
      `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(element)}`,
    );
  if (text.length > timeMaxLength) return fail(text, "2006");
  let rest = text;
  const numbers: number[] = [];
  for (const { layout: element, pattern, range } of elements) {
    const matched = pattern.exec(rest)?.[0];
    if (matched === undefined) return fail(rest, element);
    const value = Number(matched);
    if (range && (value < range.from || value > range.to)) return outOfRange(text, range.name);
    rest = rest.slice(matched.length);
    if (!Number.isNaN(value)) numbers.push(value);
  }
  const fraction = /^[.,]\d+/.exec(rest)?.[0] ?? "";
  if (exactMicros && !/^[.,]\d{6}/.test(rest)) return fail(rest, ".000000");
  const fractionText = exactMicros ? rest.slice(0, 7) : fraction;
  rest = rest.slice(fractionText.length);
  const zone = /^(?:Z|([+-])(\d{2}):(\d{2}))/.exec(rest);
  if (zone === null) return fail(rest, "Z07:00");
  const [zoneText, sign, hours = "0", minutes = "0"] = zone;
  if (Number(hours) > 24) return outOfRange(text, "time zone offset hour");
  if (Number(minutes) > 60) return outOfRange(text, "time zone offset minute");
  rest = rest.slice(zoneText.length);
  if (rest !== "") return refused(`parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`);

  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = numbers;
  if (day < 1 || day > daysIn(year, month)) return outOfRange(text, "day");
  const milliseconds = Number(fractionText.slice(1, 4).padEnd(3, "0"));
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  time.setUTCHours(hour, minute - offsetMinutes, second, milliseconds);
  return parsed(time);
}

const timeMaxLength = 128;

const outOfRange = (text: string, name: string): Parsed<Date> =>
  refused(`parsing time ${goQuote(text)}: ${name} out of range`);

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
