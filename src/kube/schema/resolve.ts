import type { Definitions, Schema } from "./schema.ts";

/** The schema that a `$ref` stands for; a chain of references is followed, a missing one accepts anything. */
export function resolveRef(schema: Schema, definitions: Definitions): Schema {
  let resolved = schema;
  for (let hops = 0; resolved.$ref !== undefined && hops < maxHops; hops += 1) {
    resolved = definitions[resolved.$ref.replace(/^#\/(?:definitions|components\/schemas)\//, "")] ?? acceptsAnything;
  }
  return resolved;
}

// A chain longer than this goes in circles.
const maxHops = 32;
const acceptsAnything: Schema = { "x-kubernetes-preserve-unknown-fields": true };

/**
 * Compiles every schema once, also when schemas refer to each other in circles: while one is being compiled, a function
 * that looks it up later stands in for it.
 */
export function memoized<F extends (...given: never[]) => unknown>(
  definitions: Definitions,
  build: (schema: Schema, compile: (schema: Schema) => F) => F,
): (schema: Schema) => F {
  const compiled = new Map<Schema, F>();
  const building = new Set<Schema>();
  const compile = (given: Schema): F => {
    const schema = resolveRef(given, definitions);
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    if (building.has(schema)) {
      return ((...parameters: never[]) => compiled.get(schema)?.(...parameters)) as F;
    }
    building.add(schema);
    const made = build(schema, compile);
    building.delete(schema);
    compiled.set(schema, made);
    return made;
  };
  return compile;
}

/** The schema of a map's values, when it has one. */
export const valuesOf = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;

export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A copy with some members replaced or, where undefined, left out; the same object when there is nothing to change.
 * Built from entries, so that a member called `__proto__` stays an ordinary member.
 */
export function withMembers(value: Members, changes: ReadonlyMap<string, unknown>): Members {
  if (changes.size === 0) return value;
  const entries = new Map<string, unknown>(Object.entries(value));
  for (const [name, changed] of changes) {
    if (changed === undefined) entries.delete(name);
    else entries.set(name, changed);
  }
  return Object.fromEntries(entries);
}
