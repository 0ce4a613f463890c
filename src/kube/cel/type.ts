/** CEL's types. Object types carry their fields; type parameters stand for any type until they are bound. */
export interface CelType {
  readonly kind: CelKind;
  readonly name: string;
  readonly params: readonly CelType[];
  /** Of objects: their fields, by the name that an expression uses. */
  readonly fields?: ReadonlyMap<string, CelType>;
}

export type CelKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "duration"
  | "timestamp"
  | "dyn"
  | "error"
  | "list"
  | "map"
  | "object"
  | "opaque"
  | "type"
  | "param";

const simple = (kind: CelKind, name: string = kind): CelType => ({ kind, name, params: [] });

export const boolType = simple("bool");
export const intType = simple("int");
export const uintType = simple("uint");
export const doubleType = simple("double");
export const stringType = simple("string");
export const bytesType = simple("bytes");
export const nullType = simple("null", "null_type");
export const durationType = simple("duration", "google.protobuf.Duration");
export const timestampType = simple("timestamp", "google.protobuf.Timestamp");
export const dynType = simple("dyn");
export const errorType = simple("error", "!error!");

export const listType = (item: CelType): CelType => ({ kind: "list", name: "list", params: [item] });
export const mapType = (key: CelType, value: CelType): CelType => ({ kind: "map", name: "map", params: [key, value] });
export const optionalType = (value: CelType): CelType => ({ kind: "opaque", name: "optional_type", params: [value] });
export const typeType = (of?: CelType): CelType => ({ kind: "type", name: "type", params: of ? [of] : [] });
export const paramType = (name: string): CelType => ({ kind: "param", name, params: [] });
/** A type of a library, such as a quantity; it supports only the functions that are declared for it. */
export const opaqueType = (name: string): CelType => ({ kind: "opaque", name, params: [] });
/** A library type that behaves as a message without fields. */
export const libraryType = (name: string): CelType => ({ kind: "object", name, params: [], fields: new Map() });
export const objectType = (name: string, fields: ReadonlyMap<string, CelType>): CelType => ({
  kind: "object",
  name,
  params: [],
  fields,
});

export const isOptional = (type: CelType): boolean => type.kind === "opaque" && type.name === "optional_type";
export const unwrapOptional = (type: CelType): CelType => (isOptional(type) ? (type.params[0] ?? dynType) : type);
export const isDyn = (type: CelType): boolean => type.kind === "dyn";
export const isDynOrError = (type: CelType): boolean => type.kind === "dyn" || type.kind === "error";

/** The same type in name and parameters. */
export function isExactType(left: CelType, right: CelType): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || left.name !== right.name || left.params.length !== right.params.length) return false;
  return left.params.every((param, index) => isExactType(param, right.params[index] ?? errorType));
}

/** The type as error messages name it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "null":
      return "null";
    case "duration":
      return "duration";
    case "timestamp":
      return "timestamp";
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(", ")})`;
  }
}

/** A call as error messages show it: `(int, string)`, or `string.(int)` for methods. */
export function formatSignature(types: readonly CelType[], isMember: boolean): string {
  const formatted = types.map(formatType);
  const [target = "", ...rest] = formatted;
  return isMember ? `${target}.(${rest.join(", ")})` : `(${formatted.join(", ")})`;
}
