import { utf8Length } from "../go-text.ts";
import { isMembers, resolveRef, valuesOf } from "../schema/resolve.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { escapeField } from "./escape.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  objectType,
  stringType,
  timestampType,
} from "./type.ts";

/** A type as a schema declares it, with what the schema says about sizes: that is what cost estimates rest on. */
export interface DeclaredType {
  readonly type: CelType;
  /** The most items, entries or characters; 0 where size does not apply. */
  readonly maxElements: number;
  /** The fewest bytes that a value takes in JSON. */
  readonly minSerializedSize: number;
  readonly element?: DeclaredType;
  readonly key?: DeclaredType;
  readonly fields?: ReadonlyMap<string, DeclaredType>;
}

/** No request is larger, so no value is. */
export const maxRequestBytes = 3 * 1024 * 1024;

/** Recursive schemas of built-in kinds are followed this deep; below, values are dynamic. */
const maxNesting = 32;

/** Undefined for what rules cannot see: schemas without a type. A resource's root also has its kind and name. */
export function declaredType(
  schema: Schema,
  definitions: Definitions,
  isResource: boolean,
  name = "selfType",
  depth = 0,
): DeclaredType | undefined {
  const given = resolveRef(schema, definitions);
  if (depth > maxNesting) return sized(dynType, 1, maxRequestBytes - 2);
  if (given["x-kubernetes-int-or-string"] === true) {
    return sized(dynType, 1, given.maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, given.maxLength) * 4);
  }
  const resolved = isResource ? withObjectMeta(given) : given;
  switch (resolved.type) {
    case "array":
      return listOf(resolved, definitions, name, depth);
    case "object":
      return objectOf(resolved, definitions, name, depth);
    case "string":
      return textOf(resolved);
    case "boolean":
      return sized(boolType, 4, 0);
    case "number":
      return sized(doubleType, 1, 0);
    case "integer":
      return sized(intType, 1, 0);
    default:
      return undefined;
  }
}

/** The schema with the fields that rules may always use, whatever it says about them. */
export function withObjectMeta(schema: Schema): Schema {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const isComplete =
    kind?.type === "string" &&
    apiVersion?.type === "string" &&
    metadata?.type === "object" &&
    metadata.properties?.["name"]?.type === "string" &&
    metadata.properties["generateName"]?.type === "string";
  if (isComplete) return schema;
  const text: Schema = { type: "string" };
  return {
    ...schema,
    properties: {
      ...schema.properties,
      kind: text,
      apiVersion: text,
      metadata: { type: "object", properties: { name: text, generateName: text } },
    },
  };
}

const sized = (type: CelType, minSerializedSize: number, maxElements: number): DeclaredType => ({
  type,
  minSerializedSize,
  maxElements,
});

function listOf(schema: Schema, definitions: Definitions, name: string, depth: number): DeclaredType | undefined {
  if (schema.items === undefined) return undefined;
  const isResource = schema.items["x-kubernetes-embedded-resource"] === true;
  const element = declaredType(schema.items, definitions, isResource, `${name}.@idx`, depth + 1);
  if (element === undefined) return undefined;
  const fitting = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 1));
  return {
    type: listType(element.type),
    element,
    minSerializedSize: 2,
    maxElements: schema.maxItems === undefined ? fitting : Math.max(0, schema.maxItems),
  };
}

function objectOf(schema: Schema, definitions: Definitions, name: string, depth: number): DeclaredType | undefined {
  const values = valuesOf(schema);
  if (values !== undefined) return mapOf(schema, values, definitions, name, depth);
  const fields = new Map<string, DeclaredType>();
  const required = new Set(schema.required ?? []);
  let minSerializedSize = 2;
  for (const [property, given] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeField(property);
    const isResource = given["x-kubernetes-embedded-resource"] === true;
    const field = declaredType(given, definitions, isResource, `${name}.${escaped ?? property}`, depth + 1);
    if (field === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, field);
    // A default is filled in by the server, so it takes nothing in the request.
    const isWritten = required.has(property) && given.default === undefined;
    if (isWritten) minSerializedSize += utf8Length(property) + field.minSerializedSize + 4;
  }
  const types = new Map([...fields].map(([field, { type }]) => [field, type]));
  return { type: objectType(name, types), fields, minSerializedSize, maxElements: 0 };
}

function mapOf(
  schema: Schema,
  values: Schema,
  definitions: Definitions,
  name: string,
  depth: number,
): DeclaredType | undefined {
  const isResource = values["x-kubernetes-embedded-resource"] === true;
  const element = declaredType(values, definitions, isResource, `${name}.@elem`, depth + 1);
  if (element === undefined) return undefined;
  const fitting = Math.floor((maxRequestBytes - 2) / (element.minSerializedSize + 6));
  return {
    type: mapType(stringType, element.type),
    key: sized(stringType, 2, 0),
    element,
    minSerializedSize: 2,
    maxElements: schema.maxProperties === undefined ? fitting : Math.max(0, schema.maxProperties),
  };
}

function textOf(schema: Schema): DeclaredType {
  const { format, maxLength } = schema;
  const longest = maxRequestBytes - 2;
  if (format === "byte") return sized(bytesType, 2, maxLength === undefined ? longest : Math.max(0, maxLength));
  if (format === "duration") return sized(durationType, 3, 32);
  if (format === "date") return sized(timestampType, 12, 12);
  if (format === "date-time") return sized(timestampType, 21, 32);
  // A character takes up to four bytes.
  if (maxLength !== undefined) return sized(stringType, 2, Math.max(0, maxLength) * 4);
  const words = (schema.enum ?? []).filter((value) => typeof value === "string");
  return sized(stringType, 2, words.length > 0 ? Math.max(...words.map(utf8Length)) : longest);
}

export const isDeclared = (value: unknown): value is DeclaredType =>
  isMembers(value) && "maxElements" in value && "type" in value;
