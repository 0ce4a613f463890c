import { compilePrune } from "./prune.ts";
import { isMembers, type Members, memoized, resolveRef, valuesOf, withMembers } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";

/** Fills in what the writer left out; what needs no change comes back as the same object. */
export type Fill = (value: unknown) => unknown;

/**
 * As apiextensions defaults: a missing field or a null that is not allowed gets the schema's default, and defaults inside
 * that default apply too. A null that is neither allowed nor defaulted is dropped from objects.
 */
export function compileDefault(root: Schema, definitions: Definitions): Fill {
  const prune = compilePrune(definitions);
  const compile = memoized<Fill>(definitions, (schema, compileChild) => {
    const fillMembers = membersFill(schema, definitions, compileChild, prune);
    const fillItems = itemsFill(schema, definitions, compileChild, prune);
    return (value) => (Array.isArray(value) ? fillItems(value) : isMembers(value) ? fillMembers(value) : value);
  });
  return compile(root);
}

type PruneOf = ReturnType<typeof compilePrune>;

interface Child {
  readonly fill: Fill;
  readonly nullable: boolean;
  /** Undefined when there is no default. */
  readonly standard: unknown;
}

function childOf(given: Schema, definitions: Definitions, compile: (schema: Schema) => Fill, prune: PruneOf): Child {
  const schema = resolveRef(given, definitions);
  const written = given.default ?? schema.default;
  const standard = written === null ? undefined : written;
  return {
    fill: compile(given),
    nullable: schema.nullable === true,
    // A default may carry fields that the schema does not know: they are dropped once and for all.
    standard: standard === undefined ? undefined : prune(given)(standard).value,
  };
}

function membersFill(
  schema: Schema,
  definitions: Definitions,
  compile: (schema: Schema) => Fill,
  prune: PruneOf,
): (value: Members) => Members {
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [name, childOf(child, definitions, compile, prune)]),
  );
  const defaulted = [...properties].filter(([, child]) => child.standard !== undefined);
  const values = valuesOf(schema);
  const others = values && childOf(values, definitions, compile, prune);
  return (object) => {
    const changes = new Map<string, unknown>();
    for (const [name, child] of defaulted) {
      if (!Object.hasOwn(object, name)) changes.set(name, child.fill(child.standard));
    }
    for (const name of Object.keys(object)) {
      const child = properties.get(name) ?? others;
      if (child === undefined) continue;
      const value = object[name];
      const filled = value === null && !child.nullable ? child.fill(child.standard) : child.fill(value);
      if (filled !== value) changes.set(name, filled);
    }
    return withMembers(object, changes);
  };
}

function itemsFill(
  schema: Schema,
  definitions: Definitions,
  compile: (schema: Schema) => Fill,
  prune: PruneOf,
): (value: readonly unknown[]) => readonly unknown[] {
  if (schema.items === undefined) return (list) => list;
  const item = childOf(schema.items, definitions, compile, prune);
  return (list) => {
    let changed = false;
    const filled = list.map((value) => {
      const next = value === null && !item.nullable ? item.fill(item.standard ?? null) : item.fill(value);
      changed ||= next !== value;
      return next;
    });
    return changed ? filled : list;
  };
}
