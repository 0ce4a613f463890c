/** A value as Rego text: what `sprintf("%v")`, `print`, template strings and messages show. */
import { isNumber, numberText } from "./number.ts";
import { isArray, RegoSet, type Value } from "./value.ts";
import { visit } from "./work.ts";

export function formatValue(value: Value): string {
  if (typeof value === "string") return quoteGo(value);
  if (isNumber(value)) return numberText(value);
  if (value === null || typeof value === "boolean") return String(value);
  visit();
  if (isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (value instanceof RegoSet) {
    return value.size === 0 ? "set()" : `{${value.items().map(formatValue).join(", ")}}`;
  }
  const fields = value.keys().map((key) => `${formatValue(key)}: ${formatValue(value.get(key) ?? null)}`);
  return `{${fields.join(", ")}}`;
}

/** A string in quotes as Go's `strconv.Quote` writes it. */
export function quoteGo(text: string): string {
  let quoted = '"';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const short = shortEscapes[char];
    if (short !== undefined) quoted += short;
    else if (code < 0x20 || code === 0x7f) quoted += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code >= 0xd800 && code <= 0xdfff) quoted += "\\ufffd";
    else if (isPrintable(char)) quoted += char;
    else if (code < 0x10000) quoted += `\\u${code.toString(16).padStart(4, "0")}`;
    else quoted += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return `${quoted}"`;
}

const shortEscapes: { readonly [char: string]: string } = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the plain space. */
export function isPrintable(char: string): boolean {
  return char === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char);
}
