import { parseDuration } from "../duration.ts";
import { deepEqual } from "../equality.ts";
import { goJson } from "../go-text.ts";
import { isMembers, type Members, resolveRef, valuesOf } from "../schema/resolve.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { withObjectMeta } from "./declared-type.ts";
import { equalValues } from "./equal.ts";
import { escapeField, unescapeField } from "./escape.ts";
import { timestampOf } from "./library/conversions.ts";
import { parseTimestamp } from "./library/timestamp.ts";
import { ArrayList, CelError, CelList, CelMap, type CelValue, Duration, noSuchOverload } from "./value.ts";

/**
 * An object of the API as a CEL value. Nothing is converted until an expression asks for it: the schema says how, so that
 * an integer is an int, a number a double, and a date-time a timestamp.
 */
export function dataToCel(value: unknown, schema: Schema, definitions: Definitions): CelValue {
  const resolved = resolveRef(schema, definitions);
  if (value === null || value === undefined) {
    return resolved.nullable === true ? null : new CelError("invalid data, got null for schema with nullable=false");
  }
  if (resolved["x-kubernetes-int-or-string"] === true) return intOrString(value);
  switch (resolved.type) {
    case "object":
      return isMembers(value)
        ? new DataMap(value, resolved, definitions)
        : expected("a map for the provided schema with type=object");
    case "array":
      return listToCel(value, resolved, definitions);
    case "string":
      return typeof value === "string" ? textToCel(value, resolved.format) : expected(`string, got ${typeof value}`);
    case "number":
      return typeof value === "number" ? value : expected(`float, got ${typeof value}`);
    case "integer":
      return Number.isInteger(value) ? BigInt(value as number) : expected(`int, got ${typeof value}`);
    case "boolean":
      return typeof value === "boolean" ? value : expected(`bool, got ${typeof value}`);
    default:
      return jsonToCel(value);
  }
}

/** Any JSON as a CEL value: whole numbers are ints, all others doubles. */
export function jsonToCel(value: unknown): CelValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : value;
  if (Array.isArray(value)) return new JsonList(value);
  return isMembers(value) ? new JsonMap(value) : noSuchOverload;
}

const expected = (what: string): CelError => new CelError(`invalid data, expected ${what}`);

function intOrString(value: unknown): CelValue {
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return BigInt(value as number);
  return expected("XIntOrString value to be either a string or integer");
}

function textToCel(text: string, format: string | undefined): CelValue {
  switch (format) {
    case "duration": {
      const parsed = parseDuration(text);
      return parsed.ok ? new Duration(parsed.value) : new CelError(`Invalid duration ${text}: ${parsed.message}`);
    }
    case "date":
    case "date-time": {
      const parsed = parseTimestamp(format === "date" ? `${text}T00:00:00Z` : text);
      return parsed.ok
        ? timestampOf(parsed.value)
        : new CelError(`Invalid ${format} formatted string ${text}: ${parsed.message}`);
    }
    case "byte":
      return Uint8Array.from(Buffer.from(text, "base64"));
    default:
      return text;
  }
}

function listToCel(value: unknown, schema: Schema, definitions: Definitions): CelValue {
  if (!Array.isArray(value)) return expected("an array for the provided schema with type=array");
  if (schema.items === undefined) return new CelError("invalid array type, expected Items with a non-empty Schema");
  return new DataList(value, schema, schema.items, definitions);
}

class DataList extends CelList {
  readonly #items: readonly unknown[];
  readonly #schema: Schema;
  readonly #itemSchema: Schema;
  readonly #definitions: Definitions;

  constructor(items: readonly unknown[], schema: Schema, itemSchema: Schema, definitions: Definitions) {
    super();
    this.#items = items;
    this.#schema = schema;
    this.#itemSchema = itemSchema;
    this.#definitions = definitions;
  }

  get length(): number {
    return this.#items.length;
  }

  at(index: number): CelValue {
    return dataToCel(this.#items[index], this.#itemSchema, this.#definitions);
  }

  /** In lists of type set and map the order does not count. */
  override equals(other: CelList): boolean | CelError | undefined {
    const type = this.#schema["x-kubernetes-list-type"];
    if (type !== "set" && type !== "map") return undefined;
    if (this.length !== other.length) return false;
    const own = new Map([...this].map((item) => [this.#identity(item), item]));
    for (const item of other) {
      const match = own.get(this.#identity(item));
      if (match === undefined) return false;
      const equal = equalValues(match, item);
      if (equal !== true) return equal;
    }
    return true;
  }

  /** A set takes in what is new; a map list replaces the items whose keys it knows. */
  override concat(other: CelList): CelValue {
    const type = this.#schema["x-kubernetes-list-type"];
    if (type !== "set" && type !== "map") return super.concat(other);
    const items = [...this];
    const positions = new Map(items.map((item, index) => [this.#identity(item), index]));
    for (const item of other) {
      const identity = this.#identity(item);
      const known = positions.get(identity);
      if (known === undefined) {
        positions.set(identity, items.length);
        items.push(item);
      } else if (type === "map") items[known] = item;
    }
    return new ArrayList(items);
  }

  #identity(item: CelValue): string {
    if (this.#schema["x-kubernetes-list-type"] === "set" || !(item instanceof CelMap)) return identityOf(item);
    const keys = this.#schema["x-kubernetes-list-map-keys"] ?? [];
    return keys.map((key) => identityOf(item.find(escapeField(key) ?? key) ?? null)).join();
  }
}

const identityOf = (value: CelValue): string =>
  value instanceof DataMap ? goJson(value.raw) : `${typeof value}:${typeof value === "object" ? "" : String(value)}`;

/** An object with declared fields, or a map. Of an object only declared fields can be seen, and null ones are absent. */
class DataMap extends CelMap {
  readonly raw: Members;
  readonly #schema: Schema;
  readonly #definitions: Definitions;
  readonly #isObject: boolean;

  constructor(raw: Members, schema: Schema, definitions: Definitions) {
    super();
    this.raw = raw;
    this.#schema = schema["x-kubernetes-embedded-resource"] === true ? withObjectMeta(schema) : schema;
    this.#definitions = definitions;
    this.#isObject = this.#schema.properties !== undefined;
  }

  get size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string") return noSuchOverload;
    const name = this.#isObject ? unescapeField(key) : key;
    if (name === undefined || !Object.hasOwn(this.raw, name)) return undefined;
    const value = this.raw[name];
    if (this.#isObject && (value === null || value === undefined)) return undefined;
    const schema = this.#fieldSchema(name);
    return schema && dataToCel(value, schema, this.#definitions);
  }

  *keys(): Iterable<CelValue> {
    for (const name of Object.keys(this.raw)) {
      if (this.#fieldSchema(name) !== undefined) yield this.#isObject ? (escapeField(name) ?? name) : name;
    }
  }

  /** What no expression can see must be the same too. */
  override equals(other: CelMap): boolean | CelError | undefined {
    if (!(other instanceof DataMap)) return undefined;
    if (this.size !== other.size) return false;
    for (const name of Object.keys(this.raw)) {
      const schema = this.#fieldSchema(name);
      if (schema === undefined) {
        if (Object.hasOwn(other.raw, name) && !deepEqual(this.raw[name], other.raw[name])) return false;
        continue;
      }
      const key = this.#isObject ? (escapeField(name) ?? name) : name;
      const [own, its] = [this.find(key), other.find(key)];
      if (own === undefined || its === undefined) {
        if (own !== its) return false;
        continue;
      }
      const equal = equalValues(own, its);
      if (equal !== true) return equal;
    }
    return true;
  }

  #fieldSchema(name: string): Schema | undefined {
    const { properties } = this.#schema;
    if (properties !== undefined) return Object.hasOwn(properties, name) ? properties[name] : undefined;
    return valuesOf(this.#schema);
  }
}

class JsonList extends CelList {
  readonly #items: readonly unknown[];
  constructor(items: readonly unknown[]) {
    super();
    this.#items = items;
  }
  get length(): number {
    return this.#items.length;
  }
  at(index: number): CelValue {
    return jsonToCel(this.#items[index]);
  }
}

class JsonMap extends CelMap {
  readonly #members: Members;
  constructor(members: Members) {
    super();
    this.#members = members;
  }
  get size(): number {
    return Object.keys(this.#members).length;
  }
  find(key: CelValue): CelValue | undefined {
    if (typeof key !== "string" || !Object.hasOwn(this.#members, key)) return undefined;
    return jsonToCel(this.#members[key]);
  }
  keys(): Iterable<CelValue> {
    return Object.keys(this.#members);
  }
}
