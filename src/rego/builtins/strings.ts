/** Strings. Positions count code points, as in Go's runes. */
import { BuiltinFault } from "../evaluate/errors.ts";
import { isArray, RegoSet } from "../values/value.ts";
import { bytesFromString, stringFromBytes } from "./bytes.ts";
import { goSprintf } from "./go-format.ts";
import {
  type Args,
  arrayAt,
  type Builtins,
  elementFault,
  objectAt,
  operand,
  operandFault,
  smallIntegerAt,
  stringAt,
  stringsAt,
  typeFault,
} from "./operands.ts";

export const stringBuiltins: Builtins = {
  concat: (args, machine) => {
    const separator = stringAt(args, 0);
    const joined = stringsAt(args, 1).join(separator);
    machine.grow(joined.length);
    return joined;
  },
  contains: (args) => stringAt(args, 0).includes(stringAt(args, 1)),
  startswith: (args) => stringAt(args, 0).startsWith(stringAt(args, 1)),
  endswith: (args) => stringAt(args, 0).endsWith(stringAt(args, 1)),
  indexof: (args) => {
    const [base, search] = searchOperands(args);
    return runeIndex(base, base.indexOf(search));
  },
  indexof_n: (args) => {
    const [base, search] = searchOperands(args);
    const positions: number[] = [];
    let known = 0;
    let runes = 0;
    for (let at = base.indexOf(search); at !== -1; at = base.indexOf(search, at + 1)) {
      runes += at - known <= 1 ? at - known : runeIndex(base.slice(known, at), at - known);
      known = at;
      positions.push(runes);
    }
    return positions;
  },
  lower: (args) => lower(stringAt(args, 0)),
  upper: (args) => upper(stringAt(args, 0)),
  replace: (args, machine) => {
    const [text, old, replacement] = [stringAt(args, 0), stringAt(args, 1), stringAt(args, 2)];
    const replaced = old === "" ? replacePairs(text, [[old, replacement]]) : text.replaceAll(old, () => replacement);
    machine.grow(replaced.length);
    return replaced;
  },
  split: (args, machine) => {
    const parts = splitGo(stringAt(args, 0), stringAt(args, 1));
    machine.grow(parts.length);
    return parts;
  },
  "strings.split_n": (args) => {
    const parts = splitGo(stringAt(args, 0), stringAt(args, 1));
    const limit = smallIntegerAt(args, 2);
    return limit >= 0 ? parts.slice(0, limit) : parts.slice(Math.max(parts.length + limit, 0));
  },
  substring,
  sprintf: (args, machine) => {
    const text = goSprintf(stringAt(args, 0), arrayAt(args, 1));
    machine.grow(text.length);
    return text;
  },
  trim: (args) => trimRight(trimLeft(stringAt(args, 0), stringAt(args, 1)), stringAt(args, 1)),
  trim_left: (args) => trimLeft(stringAt(args, 0), stringAt(args, 1)),
  trim_right: (args) => trimRight(stringAt(args, 0), stringAt(args, 1)),
  trim_prefix: (args) => {
    const text = stringAt(args, 0);
    const prefix = stringAt(args, 1);
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  },
  trim_suffix: (args) => {
    const text = stringAt(args, 0);
    const suffix = stringAt(args, 1);
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  },
  trim_space: (args) => stringAt(args, 0).replace(goSpaceStart, "").replace(goSpaceEnd, ""),
  "strings.any_prefix_match": (args) => anyMatch(args, (text, affix) => text.startsWith(affix)),
  "strings.any_suffix_match": (args) => anyMatch(args, (text, affix) => text.endsWith(affix)),
  "strings.count": (args) => {
    const text = stringAt(args, 0);
    const search = stringAt(args, 1);
    if (search === "") return [...text].length + 1;
    return text.split(search).length - 1;
  },
  "strings.replace_n": replaceMany,
  "strings.reverse": (args) => [...stringAt(args, 0)].reverse().join(""),
};

const goSpaceStart = /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const goSpaceEnd = /[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/;

/** Go maps rune by rune; JavaScript also knows mappings to several characters. */
export function lower(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return mapRunes(text, (char) => char.toLowerCase());
}

export function upper(text: string): string {
  if (isAscii(text)) return text.toUpperCase();
  return mapRunes(text, (char) => char.toUpperCase());
}

function mapRunes(text: string, map: (char: string) => string): string {
  let mapped = "";
  for (const char of text) {
    const next = map(char);
    mapped += [...next].length === 1 ? next : char === "\u0130" ? "i" : char;
  }
  return mapped;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}

/** Go's `strings.Split`: an empty separator splits into characters. */
export function splitGo(text: string, separator: string): readonly string[] {
  if (separator === "") return [...text];
  return text.split(separator);
}

function searchOperands(args: Args): readonly [string, string] {
  const base = stringAt(args, 0);
  const search = stringAt(args, 1);
  if (search === "") throw new BuiltinFault("empty search character");
  return [base, search];
}

function runeIndex(text: string, unit: number): number {
  return unit <= 0 ? unit : [...text.slice(0, unit)].length;
}

function substring(args: Args): string {
  const text = stringAt(args, 0);
  const start = smallIntegerAt(args, 1);
  const length = smallIntegerAt(args, 2);
  if (start < 0) throw new BuiltinFault("negative offset");
  const runes = isAscii(text) ? text : [...text];
  const end = length < 0 ? runes.length : Math.min(runes.length, start + length);
  const part = runes.slice(start, Math.max(start, end));
  return typeof part === "string" ? part : part.join("");
}

function trimLeft(text: string, cutset: string): string {
  const cut = new Set(cutset);
  let start = 0;
  for (const char of text) {
    if (!cut.has(char)) break;
    start += char.length;
  }
  return text.slice(start);
}

function trimRight(text: string, cutset: string): string {
  const cut = new Set(cutset);
  const runes = [...text];
  while (runes.length > 0 && cut.has(runes.at(-1) ?? "")) runes.pop();
  return runes.join("");
}

function anyMatch(args: Args, matches: (text: string, affix: string) => boolean): boolean {
  const texts = stringOrStrings(args, 0);
  const affixes = stringOrStrings(args, 1);
  return texts.some((text) => affixes.some((affix) => matches(text, affix)));
}

function stringOrStrings(args: Args, index: number): readonly string[] {
  const value = operand(args, index);
  if (typeof value === "string") return [value];
  if (!isArray(value) && !(value instanceof RegoSet)) throw typeFault(index, value, "string", "set", "array");
  for (const item of value) if (typeof item !== "string") throw elementFault(index, value, item, "string");
  return stringsAt(args, index);
}

function replaceMany(args: Args, machine: { grow(size: number): void }): string {
  const patterns = objectAt(args, 0);
  const text = stringAt(args, 1);
  const pairs = patterns.keys().map((key): readonly [string, string] => {
    const value = patterns.get(key);
    if (typeof key !== "string") throw operandFault(0, "non-string key found in pattern object");
    if (typeof value !== "string") throw operandFault(0, "non-string value found in pattern object");
    return [key, value];
  });
  const result = replacePairs(text, pairs);
  machine.grow(result.length);
  return result;
}

/** Go's `strings.NewReplacer`. Nothing is found between any two bytes, also between those of one character. */
function replacePairs(text: string, pairs: readonly (readonly [string, string])[]): string {
  if (pairs.every(([from]) => from !== "")) return replaceFirstFitting(text, pairs);
  const bytewise = pairs.map(([from, to]) => [asBytes(from), asBytes(to)] as const);
  return stringFromBytes(Buffer.from(replaceFirstFitting(asBytes(text), bytewise), "latin1"));
}

/** One character per byte. */
const asBytes = (text: string): string => Buffer.from(bytesFromString(text)).toString("latin1");

/** At each place the first pattern (in order) that fits. */
function replaceFirstFitting(text: string, pairs: readonly (readonly [string, string])[]): string {
  let result = "";
  let position = 0;
  let mayMatchEmpty = true;
  while (true) {
    const pair = pairs.find(([from]) => (from === "" ? mayMatchEmpty : text.startsWith(from, position)));
    if (pair !== undefined) {
      result += pair[1];
      position += pair[0].length;
      // Nothing matches once at each place; then what stands there may still be replaced.
      mayMatchEmpty = pair[0] !== "";
      continue;
    }
    if (position >= text.length) break;
    const char = String.fromCodePoint(text.codePointAt(position) ?? 0);
    result += char;
    position += char.length;
    mayMatchEmpty = true;
  }
  return result;
}
