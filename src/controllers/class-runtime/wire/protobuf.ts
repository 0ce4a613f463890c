/**
 * Protocol Buffers, as much as our messages need: a message is described by its fields' numbers and types, and values are
 * plain objects. Unknown fields are skipped, as the format demands; input that ends early or lies about lengths is refused.
 */
export type Scalar =
  | "string"
  | "bytes"
  | "bool"
  | "int32"
  | "int64"
  | "uint32"
  | "uint64"
  | "enum"
  | "double"
  | "float";
export type FieldType = Scalar | { readonly message: () => Message } | { readonly map: FieldType };
export interface Field {
  readonly number: number;
  readonly type: FieldType;
  readonly repeated?: boolean;
}
export type Message = Readonly<Record<string, Field>>;
export type Value = Readonly<Record<string, unknown>>;

export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

export function encode(message: Message, value: Value): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [name, field] of Object.entries(message)) {
    const given = value[name];
    if (given === undefined || given === null) continue;
    if (typeof field.type === "object" && "map" in field.type) {
      const entry = mapEntry(field.type.map);
      for (const [key, item] of Object.entries(given as Value)) {
        parts.push(...lengthDelimited(field.number, encode(entry, { key, value: item })));
      }
    } else
      for (const item of field.repeated ? (given as readonly unknown[]) : [given])
        parts.push(...encodeOne(field, item));
  }
  return Buffer.concat(parts);
}

export function decode(message: Message, bytes: Uint8Array): Value {
  return decodeAt(message, bytes, 0);
}

const maxDepth = 32;
const mapEntry = (type: FieldType): Message => ({ key: { number: 1, type: "string" }, value: { number: 2, type } });

function decodeAt(message: Message, bytes: Uint8Array, depth: number): Value {
  if (depth > maxDepth) throw new ProtobufError("the message is nested too deeply");
  const byNumber = new Map(Object.entries(message).map(([name, field]) => [field.number, { name, field }]));
  const value: Record<string, unknown> = {};
  const reader = new Reader(bytes);
  while (!reader.atEnd) {
    const tag = Number(reader.varint());
    const wire = tag & 7;
    const known = byNumber.get(Math.floor(tag / 8));
    if (known === undefined) {
      reader.skip(wire);
      continue;
    }
    const { name, field } = known;
    if (typeof field.type === "object" && "map" in field.type) {
      const entry = decodeAt(mapEntry(field.type.map), reader.bytes(wire), depth + 1);
      const map = value[name] ?? {};
      const missing = typeof field.type.map === "object" ? {} : "";
      const item = { value: entry["value"] ?? missing, enumerable: true, configurable: true, writable: true };
      value[name] = Object.defineProperty(map, String(entry["key"] ?? ""), item);
      continue;
    }
    const items = decodeField(field.type, wire, reader, depth);
    value[name] = field.repeated ? ((value[name] as unknown[] | undefined)?.concat(items) ?? items) : items.at(-1);
  }
  return value;
}

function decodeField(type: FieldType, wire: number, reader: Reader, depth: number): unknown[] {
  if (typeof type === "object") {
    if (!("message" in type)) throw new ProtobufError("a map cannot be repeated");
    return [decodeAt(type.message(), reader.bytes(wire), depth + 1)];
  }
  if (type === "bytes") return [reader.bytes(wire)];
  if (type === "string") return [new TextDecoder("utf-8", { fatal: true }).decode(reader.bytes(wire))];
  if (wire !== 2) return [scalar(type, wire, reader)];
  // Numbers of a list are packed one after the other.
  const packed = new Reader(reader.bytes(wire));
  const items: unknown[] = [];
  while (!packed.atEnd) items.push(scalar(type, type === "double" ? 1 : type === "float" ? 5 : 0, packed));
  return items;
}

function scalar(type: Scalar, wire: number, reader: Reader): unknown {
  // A client whose file says float where ours says double, or the other way round, is understood all the same.
  if (type === "double" || type === "float")
    return wire === 5 ? reader.fixed(wire, 4).readFloatLE(0) : reader.fixed(wire, 8).readDoubleLE(0);
  if (wire !== 0) throw new ProtobufError(`a ${type} cannot have wire type ${wire}`);
  const raw = reader.varint();
  if (type === "bool") return raw !== 0n;
  if (type === "int32" || type === "enum") return Number(BigInt.asIntN(32, raw));
  if (type === "int64") return Number(BigInt.asIntN(64, raw));
  return Number(type === "uint32" ? BigInt.asUintN(32, raw) : BigInt.asUintN(64, raw));
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new ProtobufError("the message ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("a number has more than ten bytes");
  }

  bytes(wire: number): Buffer {
    if (wire !== 2) throw new ProtobufError(`wire type 2 is expected, not ${wire}`);
    return this.#take(Number(this.varint()));
  }

  fixed(wire: number, size: 4 | 8): Buffer {
    if (wire !== (size === 8 ? 1 : 5))
      throw new ProtobufError(`a number of ${size} bytes cannot have wire type ${wire}`);
    return this.#take(size);
  }

  skip(wire: number): void {
    if (wire === 0) this.varint();
    else if (wire === 1) this.#take(8);
    else if (wire === 2) this.bytes(wire);
    else if (wire === 5) this.#take(4);
    else throw new ProtobufError(`wire type ${wire} is not known`);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new ProtobufError("the message is shorter than it says");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}

function encodeOne({ number, type }: Field, item: unknown): readonly Uint8Array[] {
  if (typeof type === "object") {
    return "message" in type ? lengthDelimited(number, encode(type.message(), item as Value)) : [];
  }
  if (type === "bytes") return lengthDelimited(number, item as Uint8Array);
  if (type === "string") return lengthDelimited(number, Buffer.from(String(item)));
  if (type === "double" || type === "float") {
    const bytes = Buffer.alloc(type === "double" ? 8 : 4);
    if (type === "double") bytes.writeDoubleLE(Number(item));
    else bytes.writeFloatLE(Number(item));
    return [varint((number << 3) | (type === "double" ? 1 : 5)), bytes];
  }
  return [varint(number << 3), varint(type === "bool" ? Number(item === true) : Number(item))];
}

const lengthDelimited = (number: number, bytes: Uint8Array): readonly Uint8Array[] => [
  varint((number << 3) | 2),
  varint(bytes.length),
  bytes,
];

function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)));
  const bytes: number[] = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
