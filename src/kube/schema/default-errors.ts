import { deepEqual } from "../equality.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { compileSchema } from "./compile.ts";
import { compilePrune } from "./prune.ts";
import type { Schema } from "./schema.ts";

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
  const value = schema.default;
  const { default: _default, ...plain } = schema;
  const errors: FieldError[] = [];
  const pruned = compilePrune({})(plain)(value).value;
  if (!deepEqual(pruned, value)) errors.push(invalid(path, value, "must not have unknown fields"));
  const found = compileSchema({ type: "object", properties: { x: plain } }).validate({ x: value });
  for (const error of found) {
    // As on the real server, an item of a default is named with a dot before its bracket.
    const below = error.field.replace(/^x/, "").replace(/^\[/, ".[");
    // Messages name fields as if the default were the whole object.
    const detail = error.detail.replace(/^x\b(.*? in body)/, (_whole, rest: string) => rest.replace(/^\./, ""));
    errors.push({ ...error, field: error.field === "<nil>" ? path : `${path}${below}`, detail });
  }
  return errors;
}
