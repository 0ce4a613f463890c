import { type FieldError, forbidden, invalid, notSupported, required } from "../field-error.ts";
import type { Schema } from "./schema.ts";

/** Lists of type set and map need items that can be told apart. */
export function listShapeErrors(schema: Schema, path: string): readonly FieldError[] {
  const listType: string | undefined = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const errors: FieldError[] = [];
  if (listType !== undefined && schema.type !== "array") {
    const detail = "must be array if x-kubernetes-list-type is specified";
    errors.push(
      schema.type === undefined ? required(`${path}.type`, detail) : invalid(`${path}.type`, schema.type, detail),
    );
  } else if (listType === "set" && schema.items !== undefined)
    errors.push(...setItemErrors(schema.items, `${path}.items`));
  if (listType !== undefined && !["atomic", "set", "map"].includes(listType)) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(field, detail) : invalid(field, listType, detail));
  }
  if (listType === "map") errors.push(...mapListErrors(schema, keys, path));
  if (listType === "map" || listType === "set") errors.push(...identityErrors(schema, keys, path));
  return errors;
}

function setItemErrors(items: Schema, path: string): readonly FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalid(`${path}.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type !== "object" || items["x-kubernetes-map-type"] === "atomic") return [];
  return [invalid(`${path}.x-kubernetes-map-type`, listType ?? null, detail)];
}

function mapListErrors({ items }: Schema, keys: readonly string[], path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(keysPath, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return errors;
  }
  if (items.type !== "object") {
    errors.push(
      invalid(`${path}.items.type`, items.type ?? "", "must be object if parent array's x-kubernetes-list-type is map"),
    );
    return errors;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) errors.push(invalid(keysPath, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      errors.push(
        invalid(
          `${path}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    }
    if (seen.has(key)) errors.push(invalid(keysPath, keys, "must not contain duplicate entries"));
    seen.add(key);
  }
  return errors;
}

function identityErrors(schema: Schema, keys: readonly string[], path: string): readonly FieldError[] {
  const { items } = schema;
  if (items === undefined) return [];
  const listType = schema["x-kubernetes-list-type"];
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  }
  for (const key of listType === "map" ? keys : []) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const at = `${path}.items.properties[${key}]`;
    if (!(items.required ?? []).includes(key) && (property.default === undefined || property.default === null)) {
      errors.push(
        required(
          `${at}.default`,
          "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
        ),
      );
    }
    if (property.nullable === true) {
      errors.push(
        forbidden(`${at}.nullable`, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"),
      );
    }
  }
  return errors;
}
