/** JSON Schema (drafts 4, 6 and 7) with the messages of the library that OPA uses. Remote references are refused. */
import { RE2JS } from "re2js";
import { typeName } from "../values/compare.ts";
import { compareNumbers, integerOf, isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";

export class SchemaFault extends Error {}

export interface SchemaIssue {
  readonly field: string;
  readonly type: string;
  readonly description: string;
}

/** A schema that was checked; references are resolved while validating. */
export interface CompiledSchema {
  readonly root: Value;
  readonly patterns: ReadonlyMap<string, RE2JS>;
  readonly byId: ReadonlyMap<string, Value>;
}

const typeNames = ["array", "boolean", "integer", "number", "null", "object", "string"];

/** Throws `SchemaFault` for what is not a schema. */
export function compileSchema(root: Value): CompiledSchema {
  const patterns = new Map<string, RE2JS>();
  const byId = new Map<string, Value>();
  check(root, patterns, byId, root);
  return { root, patterns, byId };
}

function check(schema: Value, patterns: Map<string, RE2JS>, byId: Map<string, Value>, root: Value): void {
  if (typeof schema === "boolean") return;
  if (!(schema instanceof RegoObject)) {
    throw new SchemaFault(
      schema === root ? "schema is invalid" : `Invalid type. Expected: valid schema, given: ${typeName(schema)}`,
    );
  }
  const field = (name: string): Value | undefined => schema.field(name);
  const id = field("$id") ?? field("id");
  if (typeof id === "string") byId.set(id.replace(/#$/, ""), schema);
  const reference = field("$ref");
  if (reference !== undefined) {
    if (typeof reference !== "string") throw new SchemaFault("Invalid type. Expected: string, given: $ref");
    if (reference.startsWith("#") && resolvePointer(root, reference.slice(1)) === undefined && !byId.has(reference)) {
      throw new SchemaFault(`Object has no key '${reference.split("/").at(-1)}'`);
    }
    if (/^[a-z]+:\/\//i.test(reference) && !byId.has(reference.replace(/#.*$/, ""))) {
      throw new SchemaFault(`remote reference loading disabled: ${reference}`);
    }
  }
  checkTypes(field("type"));
  const properties = field("properties");
  if (properties !== undefined) {
    if (!(properties instanceof RegoObject)) throw mustBe("properties", "object");
    for (const [, child] of properties.entries()) check(child, patterns, byId, root);
  }
  const patternProperties = field("patternProperties");
  if (patternProperties !== undefined) {
    if (!(patternProperties instanceof RegoObject)) {
      throw new SchemaFault("Invalid type. Expected: valid schema, given: patternProperties");
    }
    for (const [pattern, child] of patternProperties.entries()) {
      if (typeof pattern === "string") compilePattern(pattern, patterns, `Invalid regex pattern '${pattern}'`);
      check(child, patterns, byId, root);
    }
  }
  for (const name of ["definitions", "$defs"]) {
    const definitions = field(name);
    if (definitions instanceof RegoObject)
      for (const [, child] of definitions.entries()) check(child, patterns, byId, root);
  }
  for (const name of [
    "additionalProperties",
    "additionalItems",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
  ]) {
    const child = field(name);
    if (child !== undefined) check(child, patterns, byId, root);
  }
  const items = field("items");
  if (isArray(items)) for (const item of items) check(item, patterns, byId, root);
  else if (items !== undefined) check(items, patterns, byId, root);
  for (const name of ["allOf", "anyOf", "oneOf"]) {
    const list = field(name);
    if (list === undefined) continue;
    if (!isArray(list)) throw mustBe(name, "array");
    for (const child of list) check(child, patterns, byId, root);
  }
  checkNumbers(schema);
  const required = field("required");
  if (required !== undefined) {
    if (!isArray(required)) throw mustBe("required", "array");
    if (required.some((item) => typeof item !== "string")) throw new SchemaFault("required items must be string");
    if (new RegoSet(required).size !== required.length) throw new SchemaFault("required items must be unique");
  }
  const pattern = field("pattern");
  if (pattern !== undefined) {
    if (typeof pattern !== "string") throw new SchemaFault("pattern must be of a string");
    compilePattern(pattern, patterns, "pattern must be a valid regex");
  }
  const choices = field("enum");
  if (choices !== undefined && !isArray(choices)) throw mustBe("enum", "array");
  if (isArray(choices) && new RegoSet(choices).size !== choices.length)
    throw new SchemaFault("enum items must be unique");
}

function checkTypes(type: Value | undefined): void {
  if (type === undefined) return;
  const names = isArray(type) ? type : [type];
  const seen = new Set<string>();
  for (const name of names) {
    if (typeof name !== "string") throw new SchemaFault("Invalid type. Expected: type, given: string/Array Of Strings");
    if (!typeNames.includes(name)) {
      throw new SchemaFault(
        `has a primitive type that is NOT VALID -- given: /${name}/ Expected valid values are:[${typeNames.join(" ")}]`,
      );
    }
    if (seen.has(name)) throw new SchemaFault(`${name} type is duplicated`);
    seen.add(name);
  }
}

function checkNumbers(schema: RegoObject): void {
  for (const name of ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]) {
    const value = schema.field(name);
    if (value === undefined) continue;
    const integer = isNumber(value) ? integerOf(value) : undefined;
    if (integer === undefined) throw new SchemaFault(`${name} must be of an integer`);
    if (integer < 0n) throw new SchemaFault(`${name} must be greater than or equal to 0`);
  }
  for (const name of ["minimum", "maximum"]) {
    const value = schema.field(name);
    if (value !== undefined && !isNumber(value)) throw new SchemaFault(`${name} must be of a number`);
  }
  const multiple = schema.field("multipleOf");
  if (multiple !== undefined) {
    if (!isNumber(multiple)) throw new SchemaFault("Invalid type. Expected: number, given: multipleOf");
    if (compareNumbers(multiple, 0) <= 0) throw new SchemaFault("multipleOf must be strictly greater than 0");
  }
}

function compilePattern(pattern: string, patterns: Map<string, RE2JS>, message: string): void {
  try {
    patterns.set(pattern, RE2JS.compile(pattern));
  } catch {
    throw new SchemaFault(message);
  }
}

function mustBe(key: string, type: string): SchemaFault {
  return new SchemaFault(`${key} must be of type ${type}`);
}

export function resolvePointer(root: Value, pointer: string): Value | undefined {
  let value: Value | undefined = root;
  for (const part of decodeURIComponent(pointer).split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = value instanceof RegoObject ? value.field(key) : isArray(value) ? value[Number(key)] : undefined;
  }
  return value;
}
