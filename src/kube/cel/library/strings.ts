import { textFactor, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { dynType, intType, listType, stringType } from "../type.ts";
import { ArrayList, CelError, type CelList, type CelValue, characterCount } from "../value.ts";
import { formatText } from "./format-text.ts";
import { maxTextLength } from "./limits.ts";
import { joinCost, replaceCost, search, splitCost } from "./string-costs.ts";
import { readsTarget } from "./text-cost.ts";

/** Functions on texts. Positions count characters, not UTF-16 units. */
export const stringsLibrary: readonly FunctionDeclaration[] = [
  declare("charAt", method("string_char_at_int", [stringType, intType], stringType, charAt)),
  declare(
    "indexOf",
    method(
      "string_index_of_string",
      [stringType, stringType],
      intType,
      (text, part) => indexOf(text, part, 0n),
      search,
    ),
    method("string_index_of_string_int", [stringType, stringType, intType], intType, indexOf, search),
  ),
  declare(
    "lastIndexOf",
    method("string_last_index_of_string", [stringType, stringType], intType, lastIndexOf, search),
    method("string_last_index_of_string_int", [stringType, stringType, intType], intType, lastIndexOf, search),
  ),
  declare(
    "lowerAscii",
    method(
      "string_lower_ascii",
      [stringType],
      stringType,
      (text) => (text as string).replace(/[A-Z]+/g, (part) => part.toLowerCase()),
      readsTarget(),
    ),
  ),
  declare(
    "upperAscii",
    method(
      "string_upper_ascii",
      [stringType],
      stringType,
      (text) => (text as string).replace(/[a-z]+/g, (part) => part.toUpperCase()),
      readsTarget(),
    ),
  ),
  declare(
    "replace",
    method("string_replace_string_string", [stringType, stringType, stringType], stringType, replace, replaceCost),
    method(
      "string_replace_string_string_int",
      [stringType, stringType, stringType, intType],
      stringType,
      replace,
      replaceCost,
    ),
  ),
  declare(
    "split",
    method("string_split_string", [stringType, stringType], listType(stringType), split, splitCost),
    method("string_split_string_int", [stringType, stringType, intType], listType(stringType), split, splitCost),
  ),
  declare(
    "substring",
    method("string_substring_int", [stringType, intType], stringType, substring, readsTarget()),
    method("string_substring_int_int", [stringType, intType, intType], stringType, substring, readsTarget()),
  ),
  declare(
    "trim",
    method("string_trim", [stringType], stringType, (text) => trim(text as string), readsTarget()),
  ),
  declare(
    "join",
    method("list_join", [listType(stringType)], stringType, join, joinCost),
    method("list_join_string", [listType(stringType), stringType], stringType, join, joinCost),
  ),
  declare(
    "format",
    method(
      "string_format",
      [stringType, listType(dynType)],
      stringType,
      (format, args) => formatText(format as string, args as CelList),
      {
        ...readsTarget(),
        // Nothing bounds what the arguments add.
        estimate: ({ target }) => target && { cost: times(target.size, textFactor) },
      },
    ),
  ),
  declare(
    "strings.quote",
    fn("strings_quote", [stringType], stringType, quote, {
      ...readsTarget(),
      estimate: ({ args: [text] }) =>
        text && { cost: times(text.size, textFactor), size: { min: text.size.min + 2, max: text.size.max * 2 + 2 } },
    }),
  ),
];

const outOfRange = (index: CelValue): CelError => new CelError(`index out of range: ${index as bigint}`);

function charAt(text: CelValue, index: CelValue): CelValue {
  const characters = text as string;
  const position = Number(index as bigint);
  // No text has more characters than UTF-16 units, so most indexes need no counting.
  if (position < 0 || position > characters.length || position > characterCount(characters)) return outOfRange(index);
  const code = characters.codePointAt(unitIndex(characters, position));
  return code === undefined ? "" : String.fromCodePoint(code);
}

function substring(text: CelValue, start: CelValue, end?: CelValue): CelValue {
  const characters = [...(text as string)];
  const from = Number(start as bigint);
  const to = end === undefined ? characters.length : Number(end as bigint);
  if (end !== undefined && from > to) {
    return new CelError(`invalid substring range. start: ${from}, end: ${to}`);
  }
  if (from < 0 || from > characters.length) return outOfRange(start);
  if (to < 0 || to > characters.length) return outOfRange(end ?? 0n);
  return characters.slice(from, to).join("");
}

/** What Unicode calls white space; JavaScript's own trim differs in two signs. */
const isSpace = (sign: string | undefined): boolean =>
  sign !== undefined && sign !== "\ufeff" && (sign === "\u0085" || sign.trim() === "");

function trim(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isSpace(text[start])) start += 1;
  while (end > start && isSpace(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function indexOf(text: CelValue, part: CelValue, offset: CelValue): CelValue {
  if (part === "") return offset;
  const from = Number(offset as bigint);
  if (from < 0) return outOfRange(offset);
  const haystack = text as string;
  const found = haystack.indexOf(part as string, unitIndex(haystack, from));
  return found < 0 ? -1n : BigInt(characterCount(haystack.slice(0, found)));
}

function lastIndexOf(text: CelValue, part: CelValue, offset?: CelValue): CelValue {
  const haystack = text as string;
  const length = characterCount(haystack);
  if (part === "") return offset ?? BigInt(length);
  if (offset === undefined && haystack.length < (part as string).length) return -1n;
  const from = offset === undefined ? length - 1 : Number(offset as bigint);
  if (from < 0) return outOfRange(BigInt(from));
  if (from >= length) return -1n;
  const found = haystack.lastIndexOf(part as string, unitIndex(haystack, from));
  return found < 0 ? -1n : BigInt(characterCount(haystack.slice(0, found)));
}

/** Where a character starts in UTF-16 units. */
function unitIndex(text: string, characters: number): number {
  let at = 0;
  for (let count = 0; count < characters && at < text.length; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

function replace(text: CelValue, old: CelValue, by: CelValue, limit: CelValue = -1n): CelValue {
  const max = Number(limit as bigint);
  const parts = splitText(text as string, old as string, max < 0 ? -1 : max + 1);
  // Replacing nothing puts the text between, before and after all characters.
  const pieces = old === "" && max !== 0 ? surrounded(text as string, max) : parts;
  const grown = (text as string).length + pieces.length * (by as string).length;
  return grown > maxTextLength ? new CelError("the text becomes too long") : pieces.join(by as string);
}

function surrounded(text: string, max: number): readonly string[] {
  const characters = [...text];
  const pieces = ["", ...characters, ""];
  if (max < 0 || max > characters.length) return pieces;
  return [...pieces.slice(0, max), pieces.slice(max).join("")];
}

function split(text: CelValue, separator: CelValue, limit: CelValue = -1n): CelValue {
  return new ArrayList([...splitText(text as string, separator as string, Number(limit as bigint))]);
}

/** At most so many parts; the last one keeps the rest. Zero means no parts at all. */
function splitText(text: string, separator: string, max: number): readonly string[] {
  if (max === 0) return [];
  const parts = separator === "" ? [...text] : text.split(separator);
  if (max < 0 || parts.length <= max) return parts;
  return [...parts.slice(0, max - 1), parts.slice(max - 1).join(separator)];
}

function join(list: CelValue, separator: CelValue = ""): CelValue {
  const texts: string[] = [];
  let length = 0;
  for (const item of list as CelList) {
    if (typeof item !== "string")
      return item instanceof CelError ? item : new CelError(`join: invalid input: ${String(item)}`);
    texts.push(item);
    length += item.length + (separator as string).length;
    if (length > maxTextLength) return new CelError("the text becomes too long");
  }
  return texts.join(separator as string);
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

function quote(text: CelValue): CelValue {
  return `"${(text as string).toWellFormed().replace(/[\u0007\b\f\n\r\t\v\\"]/g, (character) => escapes[character] ?? "")}"`;
}
