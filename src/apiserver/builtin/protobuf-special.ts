import { formatDuration } from "../../kube/duration.ts";
import { formatTime } from "../../kube/time.ts";
import { ProtobufError, ProtobufReader, wireBytes, wireVarint } from "./protobuf-reader.ts";
import { type ScalarKind, type WireStruct, wireStructNamed } from "./wire-types.ts";

/** Messages that JSON writes as something simpler: times, quantities, numbers or strings, schemas or booleans. */
export function decodeSpecial(
  kind: ScalarKind,
  bytes: Uint8Array,
  readMessage: (struct: WireStruct, bytes: Uint8Array) => unknown,
): unknown {
  const fields = fieldsOf(bytes);
  switch (kind) {
    case "time":
      return bytes.length === 0 ? undefined : readTime(fields, false);
    case "microtime":
      return bytes.length === 0 ? undefined : readTime(fields, true);
    case "duration":
      return formatDuration(BigInt.asIntN(64, fields.numbers.get(1) ?? 0n));
    case "quantity":
      return textOf(fields.texts.get(1));
    case "intorstring":
      return fields.numbers.get(1) === 1n
        ? textOf(fields.texts.get(3))
        : Number(BigInt.asIntN(32, fields.numbers.get(2) ?? 0n));
    case "schemaorbool": {
      const schema = fields.texts.get(2)?.[0];
      return schema === undefined ? fields.numbers.get(1) === 1n : readMessage(schemaStruct(), schema);
    }
    case "schemaorarray": {
      const schema = fields.texts.get(1)?.[0];
      if (schema !== undefined) return readMessage(schemaStruct(), schema);
      return (fields.texts.get(2) ?? []).map((item) => readMessage(schemaStruct(), item));
    }
    case "schemaorstrings": {
      const schema = fields.texts.get(1)?.[0];
      if (schema !== undefined) return readMessage(schemaStruct(), schema);
      return (fields.texts.get(2) ?? []).map((item) => new TextDecoder().decode(item));
    }
    default:
      throw new ProtobufError("Malformed", `proto: ${kind} is not a message`);
  }
}

interface PlainFields {
  readonly numbers: ReadonlyMap<number, bigint>;
  readonly texts: ReadonlyMap<number, readonly Uint8Array[]>;
}

function fieldsOf(bytes: Uint8Array): PlainFields {
  const reader = new ProtobufReader(bytes);
  const numbers = new Map<number, bigint>();
  const texts = new Map<number, Uint8Array[]>();
  while (!reader.isAtEnd) {
    const { number, wireType } = reader.tag();
    if (wireType === wireVarint) numbers.set(number, reader.varint());
    else if (wireType === wireBytes) texts.set(number, [...(texts.get(number) ?? []), reader.bytes()]);
    else reader.skip(wireType);
  }
  return { numbers, texts };
}

const textOf = (all: readonly Uint8Array[] | undefined): string =>
  new TextDecoder().decode(all?.at(-1) ?? new Uint8Array());

/** The years that a timestamp can have: 1 to 9999. */
const minSeconds = -62_135_596_800n;
const maxSeconds = 253_402_300_799n;

function readTime({ numbers }: PlainFields, withMicroseconds: boolean): string {
  const seconds = BigInt.asIntN(64, numbers.get(1) ?? 0n);
  if (seconds < minSeconds || seconds > maxSeconds) throw new ProtobufError("Malformed", "proto: time out of range");
  const whole = formatTime(new Date(Number(seconds) * 1000));
  if (!withMicroseconds) return whole;
  const nanos = Number(BigInt.asIntN(32, numbers.get(2) ?? 0n));
  if (nanos < 0 || nanos >= 1e9) throw new ProtobufError("Malformed", "proto: nanoseconds out of range");
  return `${whole.slice(0, -1)}.${String(Math.trunc(nanos / 1000)).padStart(6, "0")}Z`;
}

function schemaStruct(): WireStruct {
  const struct = wireStructNamed("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  if (!struct) throw new Error("wire-types.generated.json lacks JSONSchemaProps");
  return struct;
}
