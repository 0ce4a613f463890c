import { deepEqual } from "../equality.ts";
import { type FieldError, forbidden, formatFieldError, invalid, required } from "../field-error.ts";
import { compareUtf8 } from "../go-text.ts";
import { compilePattern } from "./pattern.ts";
import { valuesOf } from "./resolve.ts";
import type { Schema } from "./schema.ts";

/**
 * Whether a schema is structural: every field has a type, and the logic in `allOf`, `anyOf`, `oneOf` and `not` only
 * restricts what is declared outside of it.
 */
export function structuralErrors(schema: Schema, path: string): readonly FieldError[] {
  const errors = [...invariants(schema, "root", path), ...completeness(schema, schema, path, path)];
  return errors
    .map((error) => ({ error, text: formatFieldError(error) }))
    .sort((left, right) => compareUtf8(left.text, right.text))
    .map(({ error }) => error);
}

type Level = "root" | "item" | "field";

function invariants(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type === "array" && schema.items === undefined)
    errors.push(required(`${path}.items`, "must be specified"));
  if (schema.items !== undefined) errors.push(...invariants(schema.items, "item", `${path}.items`));
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    errors.push(...invariants(child, "field", `${path}.properties[${name}]`));
  }
  if (schema.additionalProperties !== undefined) {
    if (level === "root") errors.push(forbidden(`${path}.additionalProperties`, "must not be used at the root"));
    const values = valuesOf(schema);
    if (values !== undefined) errors.push(...invariants(values, "field", `${path}.additionalProperties`));
  }
  errors.push(...extensionErrors(schema, path));
  const isTypedTwice = deepEqual(schema.anyOf, intOrString);
  errors.push(...valueErrors(schema, isTypedTwice, deepEqual(schema.allOf?.[0]?.anyOf, intOrString), path));
  errors.push(...typeErrors(schema, level, path), ...metadataErrors(schema, level, path));
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (
    schema["x-kubernetes-embedded-resource"] === true &&
    !isOpen &&
    Object.keys(schema.properties ?? {}).length === 0
  ) {
    errors.push(
      required(
        `${path}.properties`,
        "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
      ),
    );
  }
  return errors;
}

const intOrString: readonly Schema[] = [{ type: "integer" }, { type: "string" }];

function extensionErrors(schema: Schema, path: string): readonly FieldError[] {
  if (schema["x-kubernetes-int-or-string"] !== true) return [];
  const names = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const;
  return names
    .filter((name) => schema[name] === true)
    .map((name) => invalid(`${path}.${name}`, true, "must be false if x-kubernetes-int-or-string is true"));
}

const emptyType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function typeErrors(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const { type = "" } = schema;
  const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
  const errors: FieldError[] = [];
  if (isEmbedded && type !== "object") {
    const detail = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail));
  } else if (
    type === "" &&
    schema["x-kubernetes-int-or-string"] !== true &&
    schema["x-kubernetes-preserve-unknown-fields"] !== true
  ) {
    errors.push(required(`${path}.type`, emptyType[level]));
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    errors.push(forbidden(`${path}.additionalProperties`, "must not be used if x-kubernetes-embedded-resource is set"));
  }
  if (level === "root" && type !== "" && type !== "object") {
    errors.push(invalid(`${path}.type`, type, "must be object at the root"));
  }
  return errors;
}

/** The metadata of resources is Kubernetes' own; a schema may only restrict names. */
function metadataErrors(schema: Schema, level: Level, path: string): readonly FieldError[] {
  const isResource = level === "root" || schema["x-kubernetes-embedded-resource"] === true;
  const errors: FieldError[] = [];
  const { metadata } = schema.properties ?? {};
  for (const name of ["kind", "apiVersion"]) {
    const child = schema.properties?.[name];
    if (isResource && child !== undefined && child.type !== "string") {
      errors.push(invalid(`${path}.properties[${name}].type`, child.type ?? "", "must be string"));
    }
  }
  if (metadata === undefined) return errors;
  const metadataPath = `${path}.properties[metadata]`;
  if (isResource && metadata.type !== "object") {
    errors.push(invalid(`${metadataPath}.type`, metadata.type ?? "", "must be object"));
  }
  if (level !== "root") return errors;
  const { type: _type, default: _default, properties, ...rest } = metadata;
  const names = Object.keys(properties ?? {});
  const isOnlyNames = names.every((name) => name === "name" || name === "generateName");
  if (isOnlyNames && Object.keys(rest).length === 0) return errors;
  errors.push(
    forbidden(
      metadataPath,
      "must not specify anything other than name and generateName, but metadata is implicitly specified",
    ),
  );
  return errors;
}

/** The logic of a schema; the two usual ways to say int-or-string are let through. */
function valueErrors(schema: Schema, skipAnyOf: boolean, skipFirstAllOf: boolean, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!skipAnyOf) {
    for (const [index, part] of (schema.anyOf ?? []).entries())
      errors.push(...nestedErrors(part, false, `${path}.anyOf[${index}]`));
  }
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    errors.push(...nestedErrors(part, skipFirstAllOf && index === 0, `${path}.allOf[${index}]`));
  }
  for (const [index, part] of (schema.oneOf ?? []).entries())
    errors.push(...nestedErrors(part, false, `${path}.oneOf[${index}]`));
  if (schema.not !== undefined) errors.push(...nestedErrors(schema.not, false, `${path}.not`));
  const compiled = schema.pattern ? compilePattern(schema.pattern) : undefined;
  if (compiled?.ok === false) {
    errors.push(
      invalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${compiled.message}`),
    );
  }
  return errors;
}

/** What may not be said inside logic, and how it is refused. */
const forbiddenInside: readonly (readonly [keyof Schema, (schema: Schema) => boolean, string])[] = [
  ["type", ({ type }) => type !== undefined, "must be empty to be structural"],
  [
    "additionalProperties",
    ({ additionalProperties }) => additionalProperties !== undefined && additionalProperties !== false,
    "must be undefined to be structural",
  ],
  [
    "default",
    (schema) => schema.default !== undefined && schema.default !== null,
    "must be undefined to be structural",
  ],
  ["title", ({ title }) => title !== undefined && title !== "", "must be empty to be structural"],
  [
    "description",
    ({ description }) => description !== undefined && description !== "",
    "must be empty to be structural",
  ],
  ["nullable", ({ nullable }) => nullable === true, "must be false to be structural"],
  [
    "x-kubernetes-preserve-unknown-fields",
    (schema) => schema["x-kubernetes-preserve-unknown-fields"] === true,
    "must be false to be structural",
  ],
  [
    "x-kubernetes-embedded-resource",
    (schema) => schema["x-kubernetes-embedded-resource"] === true,
    "must be false to be structural",
  ],
  [
    "x-kubernetes-int-or-string",
    (schema) => schema["x-kubernetes-int-or-string"] === true,
    "must be false to be structural",
  ],
  [
    "x-kubernetes-list-map-keys",
    (schema) => (schema["x-kubernetes-list-map-keys"] ?? []).length > 0,
    "must be empty to be structural",
  ],
  [
    "x-kubernetes-list-type",
    (schema) => schema["x-kubernetes-list-type"] !== undefined,
    "must be undefined to be structural",
  ],
  [
    "x-kubernetes-map-type",
    (schema) => schema["x-kubernetes-map-type"] !== undefined,
    "must be undefined to be structural",
  ],
  [
    "x-kubernetes-validations",
    (schema) => (schema["x-kubernetes-validations"] ?? []).length > 0,
    "must be empty to be structural",
  ],
];

function nestedErrors(schema: Schema, skipAnyOf: boolean, path: string): readonly FieldError[] {
  const errors = [...valueErrors(schema, skipAnyOf, false, path)];
  if (schema.items !== undefined) errors.push(...nestedErrors(schema.items, false, `${path}.items`));
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    errors.push(...nestedErrors(child, false, `${path}.properties[${name}]`));
  }
  for (const [name, isUsed, detail] of forbiddenInside) {
    if (isUsed(schema)) errors.push(forbidden(`${path}.${name}`, detail));
  }
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, "metadata")) {
    errors.push(forbidden(`${path}.properties[metadata]`, "must not be specified in a nested context"));
  }
  return errors;
}

/** What logic talks about must be declared outside of it. */
function completeness(logic: Schema, schema: Schema, schemaPath: string, logicPath: string): readonly FieldError[] {
  const parts: readonly (readonly [Schema | undefined, string])[] = [
    [logic.not, "not"],
    ...(logic.allOf ?? []).map((part, index) => [part, `allOf[${index}]`] as const),
    ...(logic.anyOf ?? []).map((part, index) => [part, `anyOf[${index}]`] as const),
    ...(logic.oneOf ?? []).map((part, index) => [part, `oneOf[${index}]`] as const),
  ];
  return parts.flatMap(([part, name]) =>
    part ? nestedCompleteness(part, schema, schemaPath, `${logicPath}.${name}`) : [],
  );
}

function nestedCompleteness(part: Schema, schema: Schema, schemaPath: string, partPath: string): readonly FieldError[] {
  const errors = [...completeness(part, schema, schemaPath, partPath)];
  if (part.items !== undefined) {
    const [path, itemsPath] = [`${schemaPath}.items`, `${partPath}.items`];
    if (schema.items === undefined) errors.push(required(path, `because it is defined in ${itemsPath}`));
    else errors.push(...nestedCompleteness(part.items, schema.items, path, itemsPath));
  }
  for (const [name, child] of Object.entries(part.properties ?? {})) {
    const declared = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const [path, childPath] = [`${schemaPath}.properties[${name}]`, `${partPath}.properties[${name}]`];
    if (declared === undefined) errors.push(required(path, `because it is defined in ${childPath}`));
    else errors.push(...nestedCompleteness(child, declared, path, childPath));
  }
  return errors;
}
