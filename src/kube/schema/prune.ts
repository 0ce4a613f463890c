import { objectMetaSchema } from "./object-meta-schema.ts";
import { isMembers, type Members, memoized, resolveRef, valuesOf, withMembers } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";

/** What is left of a value once everything that the schema does not know is gone, and the paths of what went. */
export interface Pruned {
  readonly value: unknown;
  /** `spec.containers[0].imag`; sorted. */
  readonly unknown: readonly string[];
}

type Prune = (value: unknown, path: string, unknown: string[]) => unknown;

/**
 * As apiextensions prunes: `x-kubernetes-preserve-unknown-fields` keeps everything below it except inside fields that are
 * declared; the metadata of embedded resources keeps only the fields that Kubernetes knows.
 */
export function compilePrune(definitions: Definitions): (schema: Schema) => (value: unknown) => Pruned {
  const compilers: Compilers = {
    definitions,
    prune: memoized<Prune>(definitions, (schema) => pruneOf(schema, compilers)),
    skip: memoized<Prune>(definitions, (schema) => skipOf(schema, compilers)),
  };
  return (schema) => {
    const prune = compilers.prune(schema);
    return (value) => {
      const unknown: string[] = [];
      return { value: prune(value, "", unknown), unknown: unknown.sort() };
    };
  };
}

/** As `compilePrune` for a whole resource, whose own metadata need not be in its schema. */
export function compilePruneResource(schema: Schema, definitions: Definitions): (value: unknown) => Pruned {
  const root = resolveRef(schema, definitions);
  return compilePrune(definitions)({ ...root, "x-kubernetes-embedded-resource": true });
}

interface Compilers {
  readonly definitions: Definitions;
  readonly prune: (schema: Schema) => Prune;
  readonly skip: (schema: Schema) => Prune;
}

function pruneOf(schema: Schema, compilers: Compilers): Prune {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return compilers.skip(schema);
  const members = membersPrune(schema, compilers, dropUnknown);
  const items = schema.items === undefined ? pruneAll : compilers.prune(schema.items);
  return (value, path, unknown) => {
    if (Array.isArray(value)) return eachItem(value, path, unknown, items);
    return isMembers(value) ? members(value, path, unknown) : value;
  };
}

/** Below a node that preserves unknown fields only declared fields are looked into. */
function skipOf(schema: Schema, compilers: Compilers): Prune {
  const members = membersPrune(schema, compilers, keepUnknown);
  const items = schema.items === undefined ? keepUnknown : compilers.skip(schema.items);
  return (value, path, unknown) => {
    if (Array.isArray(value)) return eachItem(value, path, unknown, items);
    return isMembers(value) ? members(value, path, unknown) : value;
  };
}

type PruneMembers = (value: Members, path: string, unknown: string[]) => Members;

function membersPrune(schema: Schema, compilers: Compilers, other: Prune): PruneMembers {
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [name, compilers.prune(child)]),
  );
  if (schema["x-kubernetes-embedded-resource"] === true) {
    properties.set("apiVersion", keepUnknown);
    properties.set("kind", keepUnknown);
    properties.set("metadata", compilers.prune(objectMetaSchema));
  }
  const values = valuesOf(schema);
  const others = values ? compilers.prune(values) : schema.additionalProperties === true ? pruneAll : other;
  return (object, path, unknown) => {
    const changes = new Map<string, unknown>();
    for (const name of Object.keys(object)) {
      const value = object[name];
      const childPath = path === "" ? name : `${path}.${name}`;
      const pruned = (properties.get(name) ?? others)(value, childPath, unknown);
      if (pruned !== value) changes.set(name, pruned);
    }
    return withMembers(object, changes);
  };
}

function eachItem(list: readonly unknown[], path: string, unknown: string[], prune: Prune): readonly unknown[] {
  let changed = false;
  const pruned = list.map((item, index) => {
    const next = prune(item, `${path}[${index}]`, unknown);
    changed ||= next !== item;
    return next;
  });
  return changed ? pruned : list;
}

const keepUnknown: Prune = (value) => value;

const dropUnknown: Prune = (_value, path, unknown) => {
  unknown.push(path);
  return undefined;
};

/** Without any schema an object loses all that it has; lists and scalars stay. */
const pruneAll: Prune = (value, path, unknown) => {
  if (Array.isArray(value)) return eachItem(value, path, unknown, pruneAll);
  if (!isMembers(value)) return value;
  const names = Object.keys(value);
  if (names.length === 0) return value;
  unknown.push(...names.map((name) => `${path}.${name}`));
  return {};
};
