import { deepEqual } from "../equality.ts";
import { goJson } from "../go-text.ts";
import { isMembers, resolveRef, valuesOf } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";

/**
 * A value beside the value that it had before an update. Fields and map entries are found by name, items only in lists of
 * type map, by their keys: the items of other lists have no identity.
 */
export class Correlation {
  readonly value: unknown;
  readonly old: unknown;
  readonly #schema: Schema;
  readonly #definitions: Definitions;
  #equal: boolean | undefined;
  #oldItems: ReadonlyMap<string, unknown> | undefined;

  constructor(value: unknown, old: unknown, schema: Schema, definitions: Definitions) {
    this.value = value;
    this.old = old;
    this.#schema = resolveRef(schema, definitions);
    this.#definitions = definitions;
  }

  /** The member of this name in both, if both have it and the schema declares it. */
  key(name: string): Correlation | undefined {
    const { value, old } = this;
    if (!isMembers(value) || !isMembers(old) || !Object.hasOwn(value, name) || !Object.hasOwn(old, name))
      return undefined;
    const properties = this.#schema.properties;
    const schema = properties && Object.hasOwn(properties, name) ? properties[name] : valuesOf(this.#schema);
    return schema && new Correlation(value[name], old[name], schema, this.#definitions);
  }

  index(position: number): Correlation | undefined {
    const { value, old } = this;
    if (!Array.isArray(value) || !Array.isArray(old) || this.#schema.items === undefined) return undefined;
    if (this.#schema["x-kubernetes-list-type"] !== "map") return undefined;
    const keys = this.#schema["x-kubernetes-list-map-keys"] ?? [];
    this.#oldItems ??= itemsByKey(old, keys);
    const identity = itemKey(value[position], keys);
    if (identity === undefined || !this.#oldItems.has(identity)) return undefined;
    return new Correlation(value[position], this.#oldItems.get(identity), this.#schema.items, this.#definitions);
  }

  isUnchanged(): boolean {
    this.#equal ??= deepEqual(this.value, this.old);
    return this.#equal;
  }
}

/** Old items by the values of their keys; the first of several with the same keys counts. */
export function itemsByKey(items: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const item of items) {
    const identity = itemKey(item, keys);
    if (identity !== undefined && !found.has(identity)) found.set(identity, item);
  }
  return found;
}

export function itemKey(item: unknown, keys: readonly string[]): string | undefined {
  if (!isMembers(item)) return undefined;
  return goJson(keys.map((key) => (Object.hasOwn(item, key) ? [item[key]] : [])));
}
