import { deepEqual } from "../equality.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { compileChecks } from "./check.ts";
import { compileEmbedded } from "./embedded-resource.ts";
import { compilePrune } from "./prune.ts";
import { compileRules } from "./rules.ts";
import type { Schema } from "./schema.ts";
import { Walk } from "./walk.ts";

/** A default must itself be what the schema asks for; the errors of every default in a schema. */
export function defaultErrors(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && schema.default !== null) errors.push(...ownErrors(schema, `${path}.default`));
  if (schema.items !== undefined) errors.push(...defaultErrors(schema.items, `${path}.items`));
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    errors.push(...defaultErrors(child, `${path}.properties[${name}]`));
  }
  return errors;
}

function ownErrors(schema: Schema, path: string): readonly FieldError[] {
  const { default: value, ...plain } = schema;
  const pruned = compilePrune({})(plain)(value).value;
  const unknown = deepEqual(pruned, value) ? [] : [invalid(path, value, "must not have unknown fields")];
  return [...unknown, ...firstFailure(value, plain, path)];
}

/** Each check is only made when the ones before it pass. */
function firstFailure(value: unknown, schema: Schema, path: string): readonly FieldError[] {
  const embedded = compileEmbedded({})(schema)(value, path);
  if (embedded.length > 0) return embedded;
  const walk = new Walk(path);
  compileChecks({})(schema)(value, walk, undefined);
  if (walk.result().length > 0) return walk.result();
  // Rules need a place to stand, so the default is looked at as a field of an object.
  const rules = compileRules({ type: "object", properties: { x: schema } }, {});
  return (rules?.validate({ x: value }, undefined, undefined) ?? []).map((error) => ({
    ...error,
    field: error.field.replace(/^x/, path),
  }));
}
