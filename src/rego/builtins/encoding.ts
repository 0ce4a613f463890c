/** Encodings: base64, hex, URL queries, JSON and YAML. */
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import { parseJson, toIndentedJson, toJsonText } from "../values/json.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { bytesFromString, stringFromBytes } from "./bytes.ts";
import { queryEscape, queryUnescape, UrlFault } from "./go-url.ts";
import { type Args, type Builtins, objectAt, operand, operandFault, stringAt, typeFault } from "./operands.ts";
import { marshalYaml, unmarshalYaml, YamlFault } from "./yaml.ts";

export const encodingBuiltins: Builtins = {
  "base64.encode": (args, machine) => encoded(args, machine, "base64"),
  "base64.decode": (args) => stringFromBytes(decodeBase64(stringAt(args, 0), standardAlphabet)),
  "base64.is_valid": (args) => {
    const [text] = args;
    return typeof text === "string" && succeeds(() => decodeBase64(text, standardAlphabet));
  },
  "base64url.encode": (args, machine) => padded(encoded(args, machine, "base64url")),
  "base64url.encode_no_pad": (args, machine) => encoded(args, machine, "base64url"),
  "base64url.decode": (args) => stringFromBytes(decodeBase64Url(stringAt(args, 0))),
  "hex.encode": (args, machine) => encoded(args, machine, "hex"),
  "hex.decode": (args) => stringFromBytes(decodeHex(stringAt(args, 0))),
  "urlquery.encode": (args, machine) => {
    const text = queryEscape(stringAt(args, 0));
    machine.grow(text.length);
    return text;
  },
  "urlquery.decode": (args) => asFault(() => queryUnescape(stringAt(args, 0))),
  "urlquery.encode_object": encodeQuery,
  "urlquery.decode_object": decodeQuery,
  "json.marshal": (args, machine) => {
    const text = toJsonText(operand(args, 0), { escapeHtml: true });
    machine.grow(text.length);
    return text;
  },
  "json.marshal_with_options": marshalWithOptions,
  "json.unmarshal": (args, machine) => {
    const text = stringAt(args, 0);
    machine.grow(text.length);
    const parsed = parseJson(text);
    if (!parsed.ok) throw new BuiltinFault(parsed.message);
    if (parsed.rangeFault !== undefined) throw new BuiltinFault(`invalid number: ${parsed.rangeFault}`);
    return parsed.value;
  },
  "json.is_valid": (args) => {
    const [text] = args;
    return typeof text === "string" && parseJson(text).ok;
  },
  "yaml.marshal": (args, machine) => {
    const text = marshalYaml(operand(args, 0));
    machine.grow(text.length);
    return text;
  },
  "yaml.unmarshal": (args, machine) => {
    const text = stringAt(args, 0);
    machine.grow(text.length);
    return asFault(() => unmarshalYaml(text));
  },
  "yaml.is_valid": (args) => {
    const [text] = args;
    return typeof text === "string" && succeeds(() => unmarshalYaml(text));
  },
};

const standardAlphabet = /^[A-Za-z0-9+/]*$/;
const urlAlphabet = /^[A-Za-z0-9_-]*$/;

/** Strict about padding and characters, as Go is; line breaks are skipped. */
export function decodeBase64(source: string, alphabet: RegExp): Uint8Array {
  const text = source.replace(/[\r\n]/g, "");
  const padding = /={0,2}$/.exec(text)?.[0].length ?? 0;
  const body = text.slice(0, text.length - padding);
  if (
    text.length % 4 !== 0 ||
    !alphabet.test(body) ||
    (body.length % 4 !== 0 && padding === 0) ||
    body.length % 4 === 1
  ) {
    const bad = [...text].findIndex((char) => !alphabet.test(char) && char !== "=");
    throw new BuiltinFault(
      `illegal base64 data at input byte ${bad === -1 ? Math.max(0, text.length - (text.length % 4)) : bad}`,
    );
  }
  return Buffer.from(body, alphabet === urlAlphabet ? "base64url" : "base64");
}

function encoded(args: Args, machine: Machine, as: "base64" | "base64url" | "hex"): string {
  const text = Buffer.from(bytesFromString(stringAt(args, 0))).toString(as);
  machine.grow(text.length);
  return text;
}

export function decodeBase64Url(source: string): Uint8Array {
  let text = source;
  if (!text.endsWith("=")) {
    const rest = text.length % 4;
    if (rest === 1) throw new BuiltinFault(`illegal base64url string: ${source}`);
    text += "=".repeat((4 - rest) % 4);
  }
  return decodeBase64(text, urlAlphabet);
}

function padded(text: string): string {
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}

function decodeHex(text: string): Uint8Array {
  const bad = /[^0-9a-fA-F]/.exec(text)?.[0];
  if (bad !== undefined) {
    const point = (bad.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw new BuiltinFault(`encoding/hex: invalid byte: U+${point} '${bad}'`);
  }
  if (text.length % 2 === 1) throw new BuiltinFault("encoding/hex: odd length hex string");
  return Buffer.from(text, "hex");
}

function encodeQuery(args: Args): Value {
  const object = operand(args, 0);
  if (!(object instanceof RegoObject)) throw typeFault(0, object, "object");
  const pairs: string[] = [];
  const keys = object.keys().map((key) => (typeof key === "string" ? key : toJsonText(key)));
  object.keys().forEach((key, index) => {
    const value = object.get(key) ?? null;
    const items =
      typeof value === "string" ? [value] : isArray(value) || value instanceof RegoSet ? [...value] : undefined;
    if (items === undefined || items.some((item) => typeof item !== "string")) {
      throw operandFault(0, "values must be string, array[string], or set[string]");
    }
    for (const item of items) {
      if (typeof item === "string") pairs.push(`${queryEscape(keys[index] ?? "")}=${queryEscape(item)}`);
    }
  });
  return pairs.join("&");
}

function decodeQuery(args: Args): Value {
  const query = stringAt(args, 0);
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    if (pair.includes(";")) throw new BuiltinFault("invalid semicolon separator in query");
    const split = pair.indexOf("=");
    const key = asFault(() => queryUnescape(split === -1 ? pair : pair.slice(0, split)));
    const value = asFault(() => queryUnescape(split === -1 ? "" : pair.slice(split + 1)));
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return RegoObject.fromEntries(values);
}

function marshalWithOptions(args: Args): Value {
  const value = operand(args, 0);
  const options = objectAt(args, 1);
  let indent = "\t";
  let prefix = "";
  let pretty: boolean | undefined;
  let isImplicit = false;
  for (const [key, setting] of options.entries()) {
    if (key === "pretty") {
      if (typeof setting !== "boolean") throw operandFault(1, `key ${key} failed cast to bool`);
      pretty = setting;
    } else if (key === "indent" || key === "prefix") {
      if (typeof setting !== "string") {
        throw operandFault(
          1,
          `key ${key} failed cast to string: operand ${options.keys().indexOf(key)} must be string`,
        );
      }
      if (key === "indent") indent = setting;
      else prefix = setting;
      isImplicit = true;
    } else throw operandFault(1, `object contained unknown key ${toJsonText(key)}`);
  }
  if (!(pretty ?? isImplicit)) return toJsonText(value, { escapeHtml: true });
  return prefix + toIndentedJson(value, indent, prefix, true);
}

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

function asFault<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof UrlFault || error instanceof YamlFault) throw new BuiltinFault(error.message);
    throw error;
  }
}
