/** Values as Go prints them, because kube-apiserver's messages quote values in Go's way. */

/** A string as `%q` writes it. */
export function goQuote(text: string): string {
  // Most names and messages need no escape at all.
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += quoteCharacter(character);
  return `${quoted}"`;
}

const shortEscapes: Readonly<Record<string, string>> = {
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

function quoteCharacter(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  // A lone surrogate cannot be written as UTF-8: Go would have read the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) return character;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** A number as `%v` writes it: integers in full, other floats in the shortest form with an exponent from 1e+06 on. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return Object.is(value, -0) ? "-0" : String(value);
  return goFloat(value);
}

export function goFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** JSON as Go's encoder writes it: keys sorted, except in a Map, which stands for a struct and keeps its order; and `<`, `>`, `&` and line separators escaped. */
export function goJson(value: unknown): string {
  if (value === undefined) return "null";
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "string") return jsonString(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (value instanceof Map) {
    return `{${[...value].map(([key, member]) => `${jsonString(String(key))}:${goJson(member)}`).join(",")}}`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  entries.sort(([left], [right]) => compareUtf8(left, right));
  return `{${entries.map(([key, member]) => `${jsonString(key)}:${goJson(member)}`).join(",")}}`;
}

const jsonString = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Go compares strings by their UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareUtf8(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a === b) continue;
    const aIsSurrogate = a >= 0xd800 && a <= 0xdfff;
    const bIsSurrogate = b >= 0xd800 && b <= 0xdfff;
    if (aIsSurrogate !== bIsSurrogate) return aIsSurrogate ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}

/** How many bytes a text takes: what Go's `len` counts. */
export const utf8Length = (text: string): number => Buffer.byteLength(text, "utf8");
