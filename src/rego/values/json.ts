/** Between Rego values and JSON: lossless text in both directions, and plain JavaScript values for callers. */
import { compareStrings } from "./compare.ts";
import {
  Decimal,
  integerOf,
  isNumber,
  numberFromBigInt,
  numberFromText,
  numberRangeFault,
  numberText,
} from "./number.ts";
import { isArray, type PlainValue, RegoObject, RegoSet, type Value } from "./value.ts";
import { visit } from "./work.ts";

/** Converts plain JSON (as from `JSON.parse`); fields of objects are converted when they are first read. */
export function fromPlain(plain: unknown): Value {
  switch (typeof plain) {
    case "string":
    case "boolean":
      return plain;
    case "number":
      if (Number.isInteger(plain) && !Number.isSafeInteger(plain)) return new Decimal(String(plain));
      return Number.isFinite(plain) ? plain : null;
    case "bigint":
      return numberFromBigInt(plain);
    case "object": {
      if (plain === null) return null;
      if (Array.isArray(plain)) {
        const items: Value[] = new Array(plain.length);
        for (let index = 0; index < plain.length; index++) items[index] = fromPlain(plain[index]);
        return items;
      }
      if (plain instanceof RegoObject || plain instanceof RegoSet || plain instanceof Decimal) return plain;
      if (plain instanceof Set) return new RegoSet([...plain].map(fromPlain));
      if (plain instanceof Map) {
        return RegoObject.fromEntries([...plain].map(([key, value]) => [fromPlain(key), fromPlain(value)]));
      }
      return RegoObject.lazy(plain as { readonly [key: string]: unknown }, fromPlain);
    }
    default:
      return null;
  }
}

/** Sets become sorted arrays, and keys that are not strings become their text, as in OPA's JSON answers. */
export function toPlain(value: Value): PlainValue {
  if (value === null || typeof value !== "object") return value;
  visit();
  if (isArray(value)) return value.map(toPlain);
  if (value instanceof RegoSet) return value.items().map(toPlain);
  if (value instanceof RegoObject) {
    const plain: { [key: string]: PlainValue } = {};
    for (const key of value.keys()) {
      const name = jsonKey(key);
      const field = toPlain(value.get(key) ?? null);
      // Assignment would call the setter of `__proto__` instead of making a field.
      if (name === "__proto__") Object.defineProperty(plain, name, { value: field, enumerable: true, writable: true });
      else plain[name] = field;
    }
    return plain;
  }
  // Written with an exponent, nobody expects more digits than a double has.
  const integer = /[eE]/.test(value.text) ? undefined : integerOf(value);
  if (integer === undefined) return Number(value.text);
  // A double that prints the same digits is what `JSON.parse` would have given.
  const number = Number(integer);
  return String(number) === integer.toString() ? number : integer;
}

/** Compact JSON text with every digit; `escapeHtml` is Go's default, which writes `<`, `>` and `&` as escapes. */
export function toJsonText(value: Value, options: { readonly escapeHtml?: boolean } = {}): string {
  if (typeof value === "string") return quoteJson(value, options.escapeHtml ?? false);
  if (isNumber(value)) return jsonNumberText(value);
  if (value === null || typeof value === "boolean") return String(value);
  visit();
  if (value instanceof RegoObject) {
    const fields = jsonFields(value).map(
      ([key, field]) => `${quoteJson(key, options.escapeHtml ?? false)}:${toJsonText(field, options)}`,
    );
    return `{${fields.join(",")}}`;
  }
  const items = value instanceof RegoSet ? value.items() : value;
  return `[${items.map((item) => toJsonText(item, options)).join(",")}]`;
}

/** The fields in the order of their names as text; of keys that read the same, the last one counts. */
export function jsonFields(object: RegoObject): readonly (readonly [string, Value])[] {
  const keys = object.keys();
  if (keys.every((key) => typeof key === "string")) return keys.map((key) => [key, object.get(key) ?? null]);
  const fields = new Map<string, Value>();
  for (const key of keys) fields.set(jsonKey(key), object.get(key) ?? null);
  return [...fields].sort(([left], [right]) => compareStrings(left, right));
}

/** JSON as `json.MarshalIndent` prints it. */
export function toIndentedJson(value: Value, indent: string, prefix = "", escapeHtml = false): string {
  const write = (item: Value, depth: number): string => {
    visit();
    const line = `\n${prefix}${indent.repeat(depth + 1)}`;
    const end = `\n${prefix}${indent.repeat(depth)}`;
    if (item instanceof RegoObject) {
      if (item.size === 0) return "{}";
      const fields = jsonFields(item).map(
        ([key, field]) => `${quoteJson(key, escapeHtml)}: ${write(field, depth + 1)}`,
      );
      return `{${line}${fields.join(`,${line}`)}${end}}`;
    }
    if (isArray(item) || item instanceof RegoSet) {
      const items = item instanceof RegoSet ? item.items() : item;
      if (items.length === 0) return "[]";
      return `[${line}${items.map((child) => write(child, depth + 1)).join(`,${line}`)}${end}]`;
    }
    return toJsonText(item, { escapeHtml });
  };
  return write(value, 0);
}

/** Go writes the line separators as escapes, and `<`, `>`, `&` too unless told otherwise. */
export function quoteJson(text: string, escapeHtml: boolean): string {
  let quoted = JSON.stringify(text.isWellFormed() ? text : text.toWellFormed());
  quoted = quoted.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  if (escapeHtml) {
    quoted = quoted.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  }
  return quoted;
}

export type JsonResult =
  | { readonly ok: true; readonly value: Value; readonly rangeFault: string | undefined }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/**
 * Parses JSON text without losing digits. Duplicate keys: the last one wins, as in Go. A number that policies cannot have
 * is still valid JSON, so it is for the caller to refuse it.
 */
export function parseJson(text: string, maxDepth = 10_000): JsonResult {
  let position = 0;
  let rangeFault: string | undefined;
  const whitespace = /[ \t\r\n]*/y;
  const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const stringPattern = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
  class JsonFault extends Error {}

  const skip = (): void => {
    whitespace.lastIndex = position;
    whitespace.test(text);
    position = whitespace.lastIndex;
  };
  const fail = (what: string): never => {
    const char = text[position];
    if (char === undefined) throw new JsonFault("unexpected end of JSON input");
    throw new JsonFault(`invalid character '${char}' ${what}`);
  };
  const parseString = (): string => {
    stringPattern.lastIndex = position;
    if (!stringPattern.test(text)) return fail("in string literal");
    const raw = text.slice(position, stringPattern.lastIndex);
    position = stringPattern.lastIndex;
    const decoded: string = raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1);
    return decoded.isWellFormed() ? decoded : decoded.toWellFormed();
  };
  const parseValue = (depth: number): Value => {
    if (depth > maxDepth) throw new JsonFault("exceeded max depth");
    skip();
    const char = text[position];
    if (char === '"') return parseString();
    if (char === "{") {
      position++;
      const object = new RegoObject();
      skip();
      if (text[position] === "}") {
        position++;
        return object;
      }
      for (;;) {
        skip();
        if (text[position] !== '"') fail("looking for beginning of object key string");
        const key = parseString();
        skip();
        if (text[position] !== ":") fail("after object key");
        position++;
        object.set(key, parseValue(depth + 1));
        skip();
        if (text[position] === ",") {
          position++;
          continue;
        }
        if (text[position] !== "}") fail("after object key:value pair");
        position++;
        return object;
      }
    }
    if (char === "[") {
      position++;
      const items: Value[] = [];
      skip();
      if (text[position] === "]") {
        position++;
        return items;
      }
      for (;;) {
        items.push(parseValue(depth + 1));
        skip();
        if (text[position] === ",") {
          position++;
          continue;
        }
        if (text[position] !== "]") fail("after array element");
        position++;
        return items;
      }
    }
    for (const [word, value] of literals) {
      if (text.startsWith(word, position)) {
        position += word.length;
        return value;
      }
    }
    numberPattern.lastIndex = position;
    if (!numberPattern.test(text)) return fail("looking for beginning of value");
    const literal = text.slice(position, numberPattern.lastIndex);
    position = numberPattern.lastIndex;
    rangeFault ??= numberRangeFault(literal);
    return numberFromText(literal);
  };

  try {
    const value = parseValue(0);
    skip();
    if (position < text.length) fail("after top-level value");
    return { ok: true, value, rangeFault };
  } catch (error) {
    if (error instanceof JsonFault) return { ok: false, message: error.message, offset: position };
    if (error instanceof RangeError) return { ok: false, message: "exceeded max depth", offset: position };
    throw error;
  }
}

const literals: readonly (readonly [string, Value])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function jsonKey(key: Value): string {
  return typeof key === "string" ? key : toJsonText(key);
}

function jsonNumberText(value: number | Decimal): string {
  const text = numberText(value);
  // `.5` and `-0` may come from Rego source but are not JSON.
  if (text.startsWith(".")) return `0${text}`;
  if (text.startsWith("-.")) return `-0${text.slice(1)}`;
  return text;
}
