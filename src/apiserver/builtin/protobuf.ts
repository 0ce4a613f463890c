import { parseJson } from "../../kube/json.ts";
import { decodeJson } from "./decode.ts";
import { setOwn } from "./json.ts";
import { ProtobufError, ProtobufReader, wireBytes, wireFixed64, wireVarint } from "./protobuf-reader.ts";
import { decodeSpecial } from "./protobuf-special.ts";
import { type ProtoField, type WireStruct, type WireType, wireStructOf } from "./wire-types.ts";

export { ProtobufError, type ProtobufProblem } from "./protobuf-reader.ts";

export interface DecodedProtobuf {
  readonly apiVersion: string;
  readonly kind: string;
  /** Plain JSON, in the form that the same object has in a JSON body. */
  readonly object: unknown;
}

/** `k8s` and a zero byte, then an envelope that names the type, then the object. */
const magic = [0x6b, 0x38, 0x73, 0x00] as const;

/** Go's clients send it in the group and version of what they delete. */
const anyVersionKind = "DeleteOptions";

/** Nothing that kubectl sends is nearly as deep. */
const maxDepth = 256;

/**
 * Reads a protobuf body of a built-in kind. A body may leave its type to the path: then the fallback says it.
 * Throws a ProtobufError on anything that cannot be read.
 */
export function decodeProtobuf(
  body: Uint8Array,
  fallback?: { readonly apiVersion: string; readonly kind: string },
): DecodedProtobuf {
  if (body.length === 0) throw new ProtobufError("NotKubernetes", "empty data");
  if (body.length < magic.length || magic.some((byte, index) => body[index] !== byte)) {
    throw new ProtobufError(
      "NotKubernetes",
      "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
    );
  }
  if (body.length === magic.length) throw new ProtobufError("NotKubernetes", "empty body");
  const envelope = readEnvelope(body.subarray(magic.length));
  const apiVersion = envelope.apiVersion || (fallback?.apiVersion ?? "");
  const kind = envelope.kind || (fallback?.kind ?? "");
  const struct = wireStructOf(kind === anyVersionKind ? "v1" : apiVersion, kind);
  if (!struct) {
    throw new ProtobufError(
      "UnknownKind",
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  const value = readMessage(struct, envelope.raw, 0);
  const { object } = decodeJson(struct, value);
  return { apiVersion, kind, object: { ...object, apiVersion, kind } };
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

function readEnvelope(bytes: Uint8Array): Envelope {
  const fields = byteFields(bytes);
  const type = byteFields(fields.get(1) ?? new Uint8Array());
  return { apiVersion: utf8(type.get(1)), kind: utf8(type.get(2)), raw: fields.get(2) ?? new Uint8Array() };
}

/** The length-delimited fields of a message, the last of each number. */
function byteFields(bytes: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const reader = new ProtobufReader(bytes);
  const found = new Map<number, Uint8Array>();
  while (!reader.isAtEnd) {
    const { number, wireType } = reader.tag();
    if (wireType === wireBytes) found.set(number, reader.bytes());
    else reader.skip(wireType);
  }
  return found;
}

const decoder = new TextDecoder();
const utf8 = (bytes: Uint8Array | undefined): string => (bytes ? decoder.decode(bytes) : "");

function readMessage(struct: WireStruct, bytes: Uint8Array, depth: number): Record<string, unknown> {
  if (depth > maxDepth) throw new ProtobufError("TooDeep", `proto: more than ${maxDepth} messages inside each other`);
  const reader = new ProtobufReader(bytes);
  const result: Record<string, unknown> = {};
  while (!reader.isAtEnd) {
    const { number, wireType } = reader.tag();
    const field = struct.byNumber.get(number);
    if (field) readField(field, reader, wireType, result, depth);
    else reader.skip(wireType);
  }
  return result;
}

function readField(
  { name, type, inline }: ProtoField,
  reader: ProtobufReader,
  wireType: number,
  into: Record<string, unknown>,
  depth: number,
): void {
  if (inline && type.kind === "struct") {
    Object.assign(into, readMessage(type.struct(), expectBytes(reader, wireType, name), depth + 1));
  } else if (type.kind === "list" && type.wrapped) {
    const wrapped = { name: "items", type: { ...type, wrapped: false }, inline: false };
    const inner = new ProtobufReader(expectBytes(reader, wireType, name));
    const holder: Record<string, unknown> = { items: [] };
    while (!inner.isAtEnd) {
      const tag = inner.tag();
      if (tag.number === 1) readField(wrapped, inner, tag.wireType, holder, depth + 1);
      else inner.skip(tag.wireType);
    }
    into[name] = holder["items"];
  } else if (type.kind === "list") {
    const list = Array.isArray(into[name]) ? (into[name] as unknown[]) : [];
    if (isNumeric(type.items) && wireType === wireBytes) list.push(...readPacked(type.items, reader, depth));
    else list.push(readValue(type.items, reader, wireType, name, depth));
    into[name] = list;
  } else if (type.kind === "map") {
    const map = (into[name] as Record<string, unknown> | undefined) ?? {};
    const entry = byteFieldsOfEntry(type.values, expectBytes(reader, wireType, name), name, depth);
    setOwn(map, entry.key, entry.value);
    into[name] = map;
  } else into[name] = readValue(type, reader, wireType, name, depth);
}

const isNumeric = ({ kind }: WireType): boolean =>
  kind === "int32" || kind === "int64" || kind === "bool" || kind === "float64";

function readPacked(type: WireType, reader: ProtobufReader, depth: number): readonly unknown[] {
  const inner = new ProtobufReader(reader.bytes());
  const values: unknown[] = [];
  const wireType = type.kind === "float64" ? wireFixed64 : wireVarint;
  while (!inner.isAtEnd) values.push(readValue(type, inner, wireType, "", depth));
  return values;
}

function byteFieldsOfEntry(
  type: WireType,
  bytes: Uint8Array,
  name: string,
  depth: number,
): { key: string; value: unknown } {
  const reader = new ProtobufReader(bytes);
  let key = "";
  let value: unknown;
  while (!reader.isAtEnd) {
    const { number, wireType } = reader.tag();
    if (number === 1) key = utf8(expectBytes(reader, wireType, name));
    else if (number === 2 && type.kind === "list") {
      const holder: Record<string, unknown> = {};
      readField({ name: "value", type, inline: false }, reader, wireType, holder, depth + 1);
      value = holder["value"];
    } else if (number === 2) value = readValue(type, reader, wireType, name, depth);
    else reader.skip(wireType);
  }
  return { key, value };
}

function readValue(type: WireType, reader: ProtobufReader, wireType: number, name: string, depth: number): unknown {
  switch (type.kind) {
    case "bool":
      return expectVarint(reader, wireType, name) !== 0n;
    case "int32":
      return Number(BigInt.asIntN(32, expectVarint(reader, wireType, name)));
    case "int64":
      return Number(BigInt.asIntN(64, expectVarint(reader, wireType, name)));
    case "float64":
      if (wireType !== wireFixed64) throw wrongWireType(wireType, name);
      return reader.double();
    case "string":
      return utf8(expectBytes(reader, wireType, name));
    case "bytes":
      return Buffer.from(expectBytes(reader, wireType, name)).toString("base64");
    case "struct":
      return readMessage(type.struct(), expectBytes(reader, wireType, name), depth + 1);
    case "fields":
    case "raw":
    case "json":
      return readRaw(byteFields(expectBytes(reader, wireType, name)).get(1), name);
    case "list":
    case "map":
      throw wrongWireType(wireType, name);
    default:
      return decodeSpecial(type.kind, expectBytes(reader, wireType, name), (struct, bytes) =>
        readMessage(struct, bytes, depth + 1),
      );
  }
}

function readRaw(bytes: Uint8Array | undefined, name: string): unknown {
  if (bytes === undefined || bytes.length === 0) return undefined;
  const parsed = parseJson(bytes);
  if (!parsed.ok) throw new ProtobufError("Malformed", `${name}: ${parsed.problem.message}`);
  return parsed.value;
}

function expectBytes(reader: ProtobufReader, wireType: number, name: string): Uint8Array {
  if (wireType !== wireBytes) throw wrongWireType(wireType, name);
  return reader.bytes();
}

function expectVarint(reader: ProtobufReader, wireType: number, name: string): bigint {
  if (wireType !== wireVarint) throw wrongWireType(wireType, name);
  return reader.varint();
}

const wrongWireType = (wireType: number, name: string): ProtobufError =>
  new ProtobufError("Malformed", `proto: wrong wireType = ${wireType} for field ${name}`);
