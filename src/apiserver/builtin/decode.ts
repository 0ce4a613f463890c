import { formatDuration, parseDuration } from "../../kube/duration.ts";
import { goQuote } from "../../kube/go-text.ts";
import type { Parsed } from "../../kube/parsed.ts";
import { formatQuantity, parseQuantity } from "../../kube/quantity.ts";
import { formatTime, parseMicroTime, parseTime } from "../../kube/time.ts";
import { decodeSchemaOr } from "./decode-schema.ts";
import { emptyValue, isLeftOut } from "./empty.ts";
import { goTypeName } from "./go-type-name.ts";
import { isRecord, setOwn } from "./json.ts";
import type { WireStruct, WireType } from "./wire-types.ts";

/**
 * Reads a JSON value as one of the built-in types, as the real server's Go decoder does: unknown fields are dropped and
 * named, empty optional fields disappear, required ones appear with their zero value, quantities and times become canonical.
 */
export interface Decoded {
  readonly object: Readonly<Record<string, unknown>>;
  /** Paths such as `spec.containers[0].foo`, in document order. */
  readonly unknownFields: readonly string[];
  /** The first value that does not fit its field, in the words of the real decoder. */
  readonly error?: string;
}

export function decodeJson(struct: WireStruct, value: unknown): Decoded {
  const state: DecodeState = { unknownFields: [], error: undefined };
  const object = decodeStruct(struct, value, { path: "", fields: "", owner: struct.goName }, state);
  return {
    object: isRecord(object) ? object : {},
    unknownFields: state.unknownFields,
    ...(state.error !== undefined && { error: state.error }),
  };
}

export interface DecodeState {
  readonly unknownFields: string[];
  error: string | undefined;
}

/** Where a value stands: the path with list positions, the path of fields alone, and the struct that holds the field. */
export interface Place {
  readonly path: string;
  readonly fields: string;
  readonly owner: string;
}

/** Answers undefined for null, which leaves a field at its zero value. */
export function decodeValue(type: WireType, value: unknown, place: Place, state: DecodeState): unknown {
  if (value === null || value === undefined) return undefined;
  switch (type.kind) {
    case "struct":
      return decodeStruct(type.struct(), value, place, state);
    case "list":
      return decodeList(type, value, place, state);
    case "map":
      return decodeMap(type, value, place, state);
    case "string":
      return typeof value === "string" ? value : mismatch(value, type, place, state);
    case "bool":
      return typeof value === "boolean" ? value : mismatch(value, type, place, state);
    case "int32":
    case "int64":
      return decodeInteger(type, value, place, state);
    case "float64":
      return typeof value === "number" ? value : mismatch(value, type, place, state);
    case "bytes":
      return decodeBytes(type, value, place, state);
    case "time":
      return decodeText(value, place, state, (text) => mapParsed(parseTime(text), formatTime));
    case "microtime":
      return decodeText(value, place, state, (text) =>
        mapParsed(parseMicroTime(text), (time) => microTime(time, text)),
      );
    case "duration":
      return decodeText(value, place, state, (text) => mapParsed(parseDuration(text), formatDuration));
    case "quantity":
      return decodeQuantity(value, state);
    case "intorstring":
      if (typeof value === "string") return value;
      return decodeInteger({ kind: "int32" }, value, place, state);
    case "fields":
    case "raw":
    case "json":
      return value;
    case "schemaorbool":
    case "schemaorarray":
    case "schemaorstrings":
      return decodeSchemaOr(type.kind, value, place, state);
  }
}

function decodeStruct(struct: WireStruct, value: unknown, place: Place, state: DecodeState): unknown {
  if (!isRecord(value)) return mismatch(value, { kind: "struct", struct: () => struct }, place, state);
  const read: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    const field = struct.byName.get(key);
    if (!field) {
      state.unknownFields.push(path);
      continue;
    }
    const name = `${field.embedding}${key}`;
    const fields = place.fields === "" ? name : `${place.fields}.${name}`;
    read[key] = decodeValue(field.type, member, { path, fields, owner: field.owner }, state);
  }
  const result: Record<string, unknown> = {};
  for (const field of struct.fields) {
    const given = read[field.name];
    if (given === undefined && field.omitAbsent) continue;
    const member = given ?? (field.pointer ? undefined : emptyValue(field.type));
    if (isLeftOut(field, member)) continue;
    result[field.name] = member ?? null;
  }
  return result;
}

function decodeList(type: WireType & { kind: "list" }, value: unknown, place: Place, state: DecodeState): unknown {
  if (!Array.isArray(value)) return mismatch(value, type, place, state);
  // Storage does not tell an empty list from none.
  if (value.length === 0) return undefined;
  return value.map((item: unknown, position) => {
    const inner = { ...place, path: `${place.path}[${position}]` };
    return decodeValue(type.items, item, inner, state) ?? emptyValue(type.items) ?? null;
  });
}

function decodeMap(type: WireType & { kind: "map" }, value: unknown, place: Place, state: DecodeState): unknown {
  if (!isRecord(value)) return mismatch(value, type, place, state);
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  const result: Record<string, unknown> = {};
  for (const key of keys.sort()) {
    const inner = { ...place, path: `${place.path}.${key}` };
    setOwn(result, key, decodeValue(type.values, value[key], inner, state) ?? emptyValue(type.values) ?? null);
  }
  return result;
}

function decodeInteger(type: WireType, value: unknown, place: Place, state: DecodeState): unknown {
  if (typeof value !== "number") return mismatch(value, type, place, state);
  const fits = type.kind === "int32" ? Math.abs(value + 0.5) <= 2 ** 31 : Math.abs(value) <= 2 ** 63;
  if (Number.isInteger(value) && fits) return value;
  return fail(state, unmarshalError(`number ${value}`, type, place));
}

function decodeBytes(type: WireType, value: unknown, place: Place, state: DecodeState): unknown {
  if (typeof value !== "string") return mismatch(value, type, place, state);
  const broken = firstBrokenBase64(value);
  return broken === undefined
    ? value.replace(/[\r\n]/g, "")
    : fail(state, `illegal base64 data at input byte ${broken}`);
}

/** Where Go's base64 reader gives up. */
function firstBrokenBase64(text: string): number | undefined {
  const strange = /[^A-Za-z0-9+/\r\n=]/.exec(text)?.index;
  const padding = text.indexOf("=");
  const end = padding < 0 ? text.length : padding;
  if (strange !== undefined && strange <= end) return strange;
  const digits = text.slice(0, end).replace(/[\r\n]/g, "").length;
  if (padding < 0) return digits % 4 === 0 ? undefined : text.length - (digits % 4);
  const tail = text.slice(padding).replace(/[\r\n]/g, "");
  const wanted = digits % 4 === 2 ? "==" : digits % 4 === 3 ? "=" : undefined;
  if (wanted === undefined) return padding;
  if (tail === wanted) return undefined;
  return tail.length < wanted.length ? text.length : padding + wanted.length;
}

function decodeText(
  value: unknown,
  place: Place,
  state: DecodeState,
  parse: (text: string) => Parsed<string>,
): unknown {
  if (typeof value !== "string") return mismatch(value, { kind: "string", goType: "string" }, place, state);
  const result = parse(value);
  return result.ok ? result.value : fail(state, result.message);
}

function decodeQuantity(value: unknown, state: DecodeState): unknown {
  const text = typeof value === "string" ? value : typeof value === "number" ? String(value) : "invalid";
  if (text === "") return "0";
  const result = parseQuantity(text.trim());
  return result.ok ? formatQuantity(result.value) : fail(state, result.message);
}

/** Microseconds survive: the clock here knows milliseconds, so the last three digits come from the text. */
const microTime = (time: Date, text: string): string => {
  const fraction = /[.,](\d{6})/.exec(text)?.[1] ?? "000000";
  return `${time.toISOString().slice(0, 19)}.${fraction}Z`;
};

const mapParsed = <T>(result: Parsed<T>, format: (value: T) => string): Parsed<string> =>
  result.ok ? { ok: true, value: format(result.value) } : result;

function mismatch(value: unknown, type: WireType, place: Place, state: DecodeState): undefined {
  return fail(state, unmarshalError(jsonTypeName(value), type, place));
}

function unmarshalError(what: string, type: WireType, place: Place): string {
  const field = place.fields === "" ? `value of type ${goTypeName(type)}` : undefined;
  if (field) return `json: cannot unmarshal ${what} into Go ${field}`;
  return `json: cannot unmarshal ${what} into Go struct field ${place.owner}.${place.fields} of type ${goTypeName(type)}`;
}

/** The first mistake is the answer. */
function fail(state: DecodeState, message: string): undefined {
  state.error ??= message;
  return undefined;
}

function jsonTypeName(value: unknown): string {
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "string":
    case "number":
    case "object":
      return typeof value;
    default:
      return goQuote(String(value));
  }
}
