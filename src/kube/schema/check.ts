import { deepEqual } from "../equality.ts";
import { notSupported, required, tooMany } from "../field-error.ts";
import { goJson } from "../go-text.ts";
import { compileCombinators } from "./check-combinators.ts";
import { compileNumber } from "./check-number.ts";
import { compileString } from "./check-string.ts";
import { compileType } from "./check-type.ts";
import type { Correlation } from "./correlation.ts";
import { isMembers, type Members, memoized, valuesOf } from "./resolve.ts";
import type { Definitions, Schema } from "./schema.ts";
import type { Walk } from "./walk.ts";

/**
 * One compiled schema: adds what is wrong with the value to the walk, in the words and the order of kube-apiserver.
 * With a correlation, what did not change since the old object may stay wrong (ratcheting).
 */
export type Check = (value: unknown, walk: Walk, correlation: Correlation | undefined) => void;

export const compileChecks = (definitions: Definitions): ((schema: Schema) => Check) =>
  memoized<Check>(definitions, build);

function build(schema: Schema, compile: (schema: Schema) => Check): Check {
  const type = compileType(schema);
  const combinators = compileCombinators(schema, compile);
  const string = compileString(schema);
  const number = compileNumber(schema);
  const list = compileList(schema, compile);
  const oneOfValues = compileEnum(schema);
  const object = compileObject(schema, compile);
  return (value, walk, correlation) => {
    type(value, walk);
    if (value === null || value === undefined) {
      oneOfValues(null, walk);
      return;
    }
    combinators(value, walk, correlation);
    if (typeof value === "string") string(value, walk);
    else if (typeof value === "number") number(value, walk);
    else if (Array.isArray(value)) list(value, walk, correlation);
    oneOfValues(value, walk);
    if (isMembers(value)) object(value, walk, correlation);
    // One for the enumeration, one for the schema as a whole.
    walk.matches += 2;
  };
}

/** A child that is as it was before the update keeps its errors to itself. */
export function checkChild(check: Check, value: unknown, walk: Walk, correlation: Correlation | undefined): void {
  if (correlation === undefined) {
    check(value, walk, undefined);
    return;
  }
  const outcome = walk.apart(() => check(value, walk, correlation));
  walk.take(outcome.problems.length > 0 && correlation.isUnchanged() ? { ...outcome, problems: [] } : outcome);
}

function compileEnum(schema: Schema): (value: unknown, walk: Walk) => void {
  const { enum: allowed } = schema;
  if (allowed === undefined || allowed.length === 0) return () => {};
  const words = allowed.map((value) => (typeof value === "string" ? value : goJson(value)));
  const scalars = new Set(allowed.filter((value) => typeof value !== "object"));
  const others = allowed.filter((value) => typeof value === "object" && value !== null);
  return (value, walk) => {
    // Null is never one of the values, not even when it is listed.
    if (value !== null && (scalars.has(value) || others.some((other) => deepEqual(other, value)))) return;
    walk.add(notSupported(walk.field(), value, words));
  };
}

function compileList(
  schema: Schema,
  compile: (schema: Schema) => Check,
): (value: readonly unknown[], walk: Walk, correlation: Correlation | undefined) => void {
  const { minItems, maxItems, uniqueItems } = schema;
  const item = schema.items && compile(schema.items);
  return (list, walk, correlation) => {
    if (item !== undefined) {
      for (let index = 0; index < list.length; index += 1) {
        walk.enter(index);
        checkChild(item, list[index], walk, correlation?.index(index));
        walk.leave();
      }
    }
    if (minItems !== undefined && list.length < minItems) {
      walk.addInvalid(list.length, `should have at least ${minItems} items`);
    }
    if (maxItems !== undefined && list.length > maxItems) walk.add(tooMany(walk.field(), list.length, maxItems));
    if (uniqueItems === true && new Set(list.map(goJson)).size < list.length) {
      walk.addInvalid("", "shouldn't contain duplicates");
    }
    walk.matches += 2;
  };
}

function compileObject(
  schema: Schema,
  compile: (schema: Schema) => Check,
): (value: Members, walk: Walk, correlation: Correlation | undefined) => void {
  const { minProperties, maxProperties, additionalProperties } = schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, child]) => ({ name, check: compile(child) }));
  const declared = new Set(properties.map(({ name }) => name));
  const values = valuesOf(schema);
  const other = values && compile(values);
  const needed = schema.required ?? [];
  return (object, walk, correlation) => {
    if (minProperties !== undefined || maxProperties !== undefined) {
      const size = Object.keys(object).length;
      if (minProperties !== undefined && size < minProperties) {
        walk.addInvalid(size, `should have at least ${minProperties} properties`);
      }
      if (maxProperties !== undefined && size > maxProperties) walk.add(tooMany(walk.field(), size, maxProperties));
    }
    if (other !== undefined) {
      for (const name of Object.keys(object)) {
        if (!declared.has(name)) checkMember(name, other, object, walk, correlation);
      }
    } else if (additionalProperties === false) refuseOthers(object, declared, walk);
    for (const { name, check } of properties) {
      if (Object.hasOwn(object, name) && object[name] !== undefined)
        checkMember(name, check, object, walk, correlation);
    }
    for (const name of needed) {
      if (Object.hasOwn(object, name) && object[name] !== undefined) continue;
      walk.enter(name);
      walk.add(required(walk.field()));
      walk.leave();
    }
    walk.matches += 1;
  };
}

function checkMember(
  name: string,
  check: Check,
  object: Members,
  walk: Walk,
  correlation: Correlation | undefined,
): void {
  walk.enter(name);
  checkChild(check, object[name], walk, correlation?.key(name));
  walk.leave();
}

function refuseOthers(object: Members, declared: ReadonlySet<string>, walk: Walk): void {
  for (const name of Object.keys(object)) {
    if (declared.has(name)) continue;
    const path = walk.path();
    walk.add({
      type: "Invalid",
      field: walk.field(),
      value: name,
      detail: `${path}.${name} in body is a forbidden property`,
    });
  }
}
