import packed from "./wire-types.generated.json" with { type: "json" };

/**
 * How the built-in kinds look on the wire: JSON names in their order, what is left out when empty, and protobuf numbers.
 * The table is packed (scripts/generate-builtin writes it); a struct is unpacked when it is first asked for.
 */
export interface WireStruct {
  /** The name of the schema definition, `io.k8s.api.core.v1.PodSpec`. */
  readonly name: string;
  /** The name that messages use, `PodSpec`. */
  readonly goName: string;
  /** In JSON order, embedded structs flattened. */
  readonly fields: readonly WireField[];
  readonly byName: ReadonlyMap<string, WireField>;
  readonly byNumber: ReadonlyMap<number, ProtoField>;
}

export interface WireField {
  readonly name: string;
  readonly type: WireType;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  readonly pointer: boolean;
  /** Whether nothing is written when the field has no value. */
  readonly omitAbsent: boolean;
  /** The struct that declares it, which differs from the one that embeds it. */
  readonly owner: string;
  /** The embedded structs on the way to it, as messages about types name them: `ProbeHandler.`. */
  readonly embedding: string;
}

export interface ProtoField {
  readonly name: string;
  readonly type: WireType;
  /** An embedded struct: a message of its own in protobuf, part of its owner in JSON. */
  readonly inline: boolean;
}

export type WireType =
  | { readonly kind: ScalarKind }
  /** A string with a name of its own in Go, such as `v1.Protocol`; the name appears in messages only. */
  | { readonly kind: "string"; readonly goType: string }
  | { readonly kind: "list"; readonly items: WireType; readonly wrapped: boolean }
  | { readonly kind: "map"; readonly values: WireType }
  | { readonly kind: "struct"; readonly struct: () => WireStruct };

export type ScalarKind =
  | "bool"
  | "int32"
  | "int64"
  | "float64"
  | "bytes"
  | "time"
  | "microtime"
  | "duration"
  | "fields"
  | "quantity"
  | "intorstring"
  | "raw"
  | "json"
  | "schemaorbool"
  | "schemaorarray"
  | "schemaorstrings";

/** The struct of a kind, by `apiVersion` and `kind`; nothing when the kind is not built in. */
export function wireStructOf(apiVersion: string, kind: string): WireStruct | undefined {
  const index = table().kinds[`${apiVersion}/${kind}`];
  return index === undefined ? undefined : structAt(index);
}

export const wireKinds = (): readonly string[] => Object.keys(table().kinds);

/** The struct behind a schema definition, `io.k8s.api.core.v1.PodSpec`. */
export function wireStructNamed(name: string): WireStruct | undefined {
  const index = table().names.indexOf(name);
  return index < 0 ? undefined : structAt(index);
}

interface Table {
  readonly kinds: Readonly<Record<string, number>>;
  readonly names: readonly string[];
  /** The fields of a struct, four entries each: name, number, type code, flags. */
  readonly structs: readonly (readonly (string | number)[])[];
  readonly stringTypes: readonly string[];
}

let parsed: Table | undefined;

function table(): Table {
  parsed ??= JSON.parse(packed) as Table;
  return parsed;
}

const scalarCodes: ReadonlyMap<string, ScalarKind> = new Map([
  ["b", "bool"],
  ["i", "int32"],
  ["l", "int64"],
  ["f", "float64"],
  ["y", "bytes"],
  ["t", "time"],
  ["m", "microtime"],
  ["d", "duration"],
  ["F", "fields"],
  ["q", "quantity"],
  ["o", "intorstring"],
  ["r", "raw"],
  ["j", "json"],
  ["B", "schemaorbool"],
  ["A", "schemaorarray"],
  ["S", "schemaorstrings"],
]);

/** Go's omitempty leaves out what has no value, but a struct always has one; these are structs in Go. */
const neverEmpty: ReadonlySet<WireType["kind"]> = new Set([
  ...(["struct", "time", "microtime", "quantity", "intorstring", "duration"] as const),
]);

const flag = { omitEmpty: 1, omitZero: 2, pointer: 4, inline: 8 } as const;

const unpacked = new Map<number, WireStruct>();

function structAt(index: number): WireStruct {
  const known = unpacked.get(index);
  if (known) return known;
  const struct = unpack(index);
  unpacked.set(index, struct);
  return struct;
}

function unpack(index: number): WireStruct {
  const name = table().names[index] ?? "";
  const goName = name.slice(name.lastIndexOf(".") + 1);
  const packed = table().structs[index] ?? [];
  const fields: WireField[] = [];
  const byNumber = new Map<number, ProtoField>();
  for (let at = 0; at < packed.length; at += 4) {
    const [fieldName, number, code, flags] = packed.slice(at, at + 4) as [string, number, string, number];
    const type = typeOf(code);
    const inline = (flags & flag.inline) !== 0;
    if (inline && type.kind === "struct") {
      const embedded = type.struct();
      fields.push(
        ...embedded.fields.map((field) => ({ ...field, embedding: `${embedded.goName}.${field.embedding}` })),
      );
    } else {
      const omitEmpty = (flags & flag.omitEmpty) !== 0;
      const omitZero = (flags & flag.omitZero) !== 0;
      const pointer = (flags & flag.pointer) !== 0;
      fields.push({
        name: fieldName,
        type,
        omitEmpty,
        omitZero,
        pointer,
        omitAbsent: omitZero || (omitEmpty && (pointer || !neverEmpty.has(type.kind))),
        owner: goName,
        embedding: "",
      });
    }
    if (number > 0) byNumber.set(number, { name: fieldName, type, inline });
  }
  return { name, goName, fields, byName: new Map(fields.map((field) => [field.name, field])), byNumber };
}

function typeOf(code: string): WireType {
  const rest = code.slice(1);
  switch (code[0]) {
    case "[":
      return { kind: "list", items: typeOf(rest), wrapped: false };
    case "w":
      return { kind: "list", items: typeOf(rest), wrapped: true };
    case "{":
      return { kind: "map", values: typeOf(rest) };
    case "@":
      return { kind: "struct", struct: () => structAt(Number(rest)) };
    case "s":
      return { kind: "string", goType: rest === "" ? "string" : (table().stringTypes[Number(rest)] ?? "string") };
    default: {
      const kind = scalarCodes.get(code);
      if (!kind) throw new Error(`wire-types.generated.json has an unknown type code ${code}`);
      return { kind };
    }
  }
}
