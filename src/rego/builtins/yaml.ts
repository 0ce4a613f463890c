/** YAML as OPA reads and writes it: YAML 1.1 in, sorted block style out. */
import { type Document, parseAllDocuments, type Tags, visit, type YAMLError } from "yaml";
import { jsonFields, toJsonText } from "../values/json.ts";
import { Decimal, isNumber, numberFromText, numberText } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";

export class YamlFault extends Error {}

/** Aliases may not multiply a small text into a huge value. */
const maxAliasCount = 100;

export function unmarshalYaml(text: string): Value {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text)) {
    throw new YamlFault("yaml: control characters are not allowed");
  }
  if (!text.isWellFormed()) throw new YamlFault("yaml: invalid leading UTF-8 octet");
  if (/^%(?!YAML |TAG )/m.test(text)) throw new YamlFault("yaml: found unknown directive name");
  const documents = parseAllDocuments(text, {
    version: "1.1",
    intAsBigInt: true,
    uniqueKeys: true,
    merge: true,
    customTags: (tags) => tags.flatMap(likeGo),
  });
  if (!Array.isArray(documents)) return null;
  const [document] = documents;
  if (document === undefined) return null;
  // Only the first document counts, but what follows has to be readable.
  const later = documents.slice(1);
  if (later.some(hasUnknownAlias)) throw new YamlFault("yaml: unknown anchor referenced");
  const fault = document.errors[0] ?? later.flatMap(({ errors }) => errors).find(isOfGrammar);
  if (fault !== undefined) {
    throw new YamlFault(`yaml: line ${fault.linePos?.[0].line ?? 1}: ${libyamlMessage(fault.message)}`);
  }
  keepHugeNumbers(document, text);
  try {
    return convert(document.toJS({ maxAliasCount, mapAsMap: true }));
  } catch (error) {
    if (error instanceof YamlFault) throw error;
    throw new YamlFault(`yaml: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isOfGrammar({ code }: YAMLError): boolean {
  return code !== "DUPLICATE_KEY" && code !== "TAG_RESOLVE_FAILED";
}

function hasUnknownAlias(document: Document): boolean {
  let isUnknown = false;
  visit(document, {
    Alias: (_key, alias) => {
      isUnknown ||= alias.resolve(document) === undefined;
    },
  });
  return isUnknown;
}

/** A number that no double can hold is a string to Go. */
function keepHugeNumbers(document: Document, text: string): void {
  if (!/[eE]\+?\d{3}/.test(text)) return;
  visit(document, {
    Scalar: (_key, scalar) => {
      const { value, source } = scalar;
      const isHuge = value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY;
      if (isHuge && source !== undefined && /\d/.test(source)) scalar.value = source;
    },
  });
}

/** The words of the library that OPA uses, for the mistakes that people make. */
function libyamlMessage(message: string): string {
  if (/Flow sequence/.test(message)) return "did not find expected ',' or ']'";
  if (/Flow map/.test(message)) return "did not find expected ',' or '}'";
  if (/closing "?quote|Missing closing/.test(message)) return "found unexpected end of stream";
  if (/Map keys must be unique/.test(message)) return "key already set in map";
  if (/tab/i.test(message)) return "found character that cannot start any token";
  if (/Implicit keys|Nested mappings|not allowed in this context/.test(message)) {
    return "mapping values are not allowed in this context";
  }
  return message.split("\n")[0] ?? message;
}

function goFloat(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function convert(plain: unknown): Value {
  if (plain === null || plain === undefined) return null;
  switch (typeof plain) {
    case "string":
    case "boolean":
      return plain;
    case "bigint":
      return numberFromText(plain.toString());
    case "number":
      if (!Number.isFinite(plain)) throw new YamlFault(`json: unsupported value: ${goFloat(plain)}`);
      return Number.isInteger(plain) && !Number.isSafeInteger(plain) ? new Decimal(String(plain)) : plain;
    default:
      break;
  }
  if (plain instanceof Date) return plain.toISOString().replace(/\.000Z$/, "Z");
  if (Array.isArray(plain)) return plain.map(convert);
  if (plain instanceof Map) {
    return RegoObject.fromEntries([...plain].map(([key, value]) => [keyText(key), convert(value)]));
  }
  if (plain instanceof Set) return RegoObject.fromEntries([...plain].map((key) => [keyText(key), null]));
  return RegoObject.fromEntries(Object.entries(plain as object).map(([key, value]) => [key, convert(value)]));
}

/** Go's reader: times, `yes` and `1:30` stay strings. */
function likeGo(tag: Tags[number]): Tags {
  if (typeof tag === "string" || tag.collection !== undefined) return [tag];
  if (tag.tag === "tag:yaml.org,2002:timestamp" || tag.format === "TIME") return [];
  if (tag.tag !== "tag:yaml.org,2002:bool") return [tag];
  const test = tag.test?.test("true") ? /^(?:true|True|TRUE)$/ : /^(?:false|False|FALSE)$/;
  return [{ ...tag, test }];
}

function keyText(key: unknown): string {
  if (key !== null && typeof key === "object") throw new YamlFault("invalid map key: a collection cannot be a key");
  return typeof key === "string" ? key : String(key);
}

/** Keys sorted, two spaces, also before the items of a sequence. */
export function marshalYaml(value: Value): string {
  return `${writeBlock(value, 0)}\n`;
}

function writeBlock(value: Value, depth: number): string {
  if (value instanceof RegoObject) {
    if (value.size === 0) return "{}";
    const lines = jsonFields(value).map(
      ([name, field]) => `${"  ".repeat(depth)}${writeScalar(name)}:${writeChild(field, depth, false)}`,
    );
    return lines.join("\n");
  }
  if (isArray(value) || value instanceof RegoSet) {
    const items = value instanceof RegoSet ? value.items() : value;
    if (items.length === 0) return "[]";
    return items.map((item) => `${"  ".repeat(depth)}-${writeChild(item, depth, true)}`).join("\n");
  }
  return writeScalar(value, depth);
}

function writeChild(value: Value, depth: number, isItem: boolean): string {
  const isObject = value instanceof RegoObject && value.size > 0;
  const isList = (isArray(value) && value.length > 0) || (value instanceof RegoSet && value.size > 0);
  if (isItem && (isObject || isList)) return ` ${writeBlock(value, depth + 1).trimStart()}`;
  if (isObject) return `\n${writeBlock(value, depth + 1)}`;
  if (isList) return `\n${writeBlock(value, depth + 1)}`;
  if (value instanceof RegoObject) return " {}";
  if (isArray(value) || value instanceof RegoSet) return " []";
  return ` ${writeScalar(value, depth + 1)}`;
}

function writeScalar(value: Value, depth = 0): string {
  if (isNumber(value)) return yamlNumber(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return toJsonText(value);
  if (hasUnprintable(value)) return quoteEscaped(value);
  if (value.includes("\n")) return writeLiteral(value, depth);
  return needsQuotes(value) ? quote(value) : value;
}

/** What YAML writes only as escapes: control characters, and everything beyond the first plane. */
function hasUnprintable(text: string): boolean {
  return /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(text);
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ["\u0000", "\\0"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\v", "\\v"],
  ["\f", "\\f"],
  ["\r", "\\r"],
  ["\u001b", "\\e"],
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0085", "\\N"],
  ["\u00a0", "\\_"],
  ["\u2028", "\\L"],
  ["\u2029", "\\P"],
]);

function quoteEscaped(text: string): string {
  const written = [...text].map((char) => {
    const short = shortEscapes.get(char);
    if (short !== undefined) return short;
    if (!hasUnprintable(char)) return char;
    const code = char.codePointAt(0) ?? 0;
    const hex = code.toString(16).toUpperCase();
    if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
    return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
  });
  return `"${written.join("")}"`;
}

/** Integers that no 64 bits hold are doubles, and doubles have an exponent from a million on. */
function yamlNumber(value: number | Decimal): string {
  const text = numberText(value);
  const integer = /[.eE]/.test(text) ? undefined : BigInt(text);
  if (integer !== undefined && integer >= minInt64 && integer <= maxUint64) return integer.toString();
  const float = Number(text);
  if (!Number.isFinite(float)) return text;
  if (Object.is(float, -0)) return "-0";
  const [digits = "", exponentText = "0"] = float.toExponential().split("e");
  const exponent = Number(exponentText);
  if (float !== 0 && (exponent < -4 || exponent >= 6)) {
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return String(float);
}

const minInt64 = -(2n ** 63n);
const maxUint64 = 2n ** 64n - 1n;

function writeLiteral(text: string, depth: number): string {
  if (/[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd]/.test(text) || (/^\s/.test(text) && !/^\n*\S/.test(text)))
    return quote(text);
  const body = text.replace(/\n+$/, "");
  const trailing = text.length - body.length;
  const mark = trailing === 0 ? "|-" : trailing === 1 ? "|" : "|+";
  const indent = "  ".repeat(Math.max(1, depth));
  const lines = (trailing > 1 ? text.slice(0, -1) : body).split("\n");
  return `${mark}\n${lines.map((line) => (line === "" ? "" : indent + line)).join("\n")}`;
}

/** Strings that YAML would read as something else. */
function needsQuotes(text: string): boolean {
  if (text === "") return true;
  if (/^[\s]|[\s]$/.test(text)) return true;
  if (/^[-?:,[\]{}#&*!|>'"%@`]/.test(text) && !/^[-?:][^\s]/.test(text)) return true;
  if (/: |:$| #/.test(text)) return true;
  if (/[\u0000-\u001f\u007f]/.test(text)) return true;
  if (
    /^(~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)$/.test(text)
  )
    return true;
  if (/^[-+]?(\.\d+|\d[\d_]*(\.[\d_]*)?)([eE][-+]?\d+)?$/.test(text)) return true;
  if (/^[-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0o?[0-7_]+)$/.test(text)) return true;
  if (/^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$/.test(text)) return true;
  if (/^\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?$/.test(text)) return true;
  if (/^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/.test(text)) return true;
  return text === "=" || text === "<<" || text.startsWith("---") || text.startsWith("...");
}

function quote(text: string): string {
  if (/[\u0000-\u001f\u007f\\]|^\s*$/.test(text) && /[\u0000-\u001f\u007f]/.test(text)) return JSON.stringify(text);
  if (/^[-+~.\d]|^(null|true|false|y|n|yes|no|on|off)$/i.test(text)) return JSON.stringify(text);
  if (text === "") return '""';
  return `'${text.replaceAll("'", "''")}'`;
}
