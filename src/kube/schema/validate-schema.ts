import { unbounded } from "../cel/cost.ts";
import { type DeclaredType, declaredType, maxRequestBytes } from "../cel/declared-type.ts";
import { escapeField } from "../cel/escape.ts";
import { type FieldError, forbidden, internalError, invalid, notSupported, required } from "../field-error.ts";
import { defaultErrors } from "./default-errors.ts";
import { listShapeErrors } from "./list-shape.ts";
import { valuesOf } from "./resolve.ts";
import { type RuleCosts, ruleErrors, ruleTextErrors } from "./rule-errors.ts";
import type { Schema } from "./schema.ts";
import { structuralErrors } from "./structural.ts";

/** What all rules of one schema may cost together, estimated. */
export const schemaCostLimit = 100_000_000;

export interface ValidateSchemaOptions {
  /** How errors name the schema. A definition with one version is shown as if it had one schema for all. */
  readonly path?: string;
}

/**
 * What is wrong with the schema of a CustomResourceDefinition: it must be structural, its defaults must fit, and its rules
 * must compile and stay within the cost limits. The words are those of kube-apiserver.
 */
export function validateSchema(schema: Schema, options: ValidateSchemaOptions = {}): readonly FieldError[] {
  const path = options.path ?? "spec.validation.openAPIV3Schema";
  const errors: FieldError[] = [];
  if (schema.nullable === true) errors.push(forbidden(`${path}.nullable`, "nullable cannot be true at the root"));
  const structural = structuralErrors(schema, path);
  const defaults = structural.length > 0 ? [] : defaultErrors(schema, path);
  errors.push(...structural, ...defaults);
  const costs: RuleCosts = { total: 0, most: [] };
  const checksRules = structural.length + defaults.length === 0;
  const root: Visit = { schema, path, isRoot: true, isMeta: false, cardinality: 1 };
  const found = visit(root, { costs, checksRules, declared: declaredType(schema, {}, true) });
  errors.push(...found.schema, ...found.rules);
  if (costs.total > schemaCostLimit) {
    const detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    errors.push(...costs.most.map((rule) => forbidden(rule.path, detail)));
    const name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    errors.push(forbidden(path, costMessage(name, costs.total, schemaCostLimit)));
  }
  return errors;
}

/** How far a cost is over its limit, and what helps. */
export function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

interface Visit {
  readonly schema: Schema;
  readonly path: string;
  readonly isRoot: boolean;
  /** Inside the apiVersion, kind or metadata of a resource. */
  readonly isMeta: boolean;
  readonly forbidDefaults?: string;
  /** The nearest list around that does not say which of its items is which. */
  readonly uncorrelatable?: string;
  /** How often the value can occur in one object; undefined when nothing bounds it. */
  readonly cardinality: number | undefined;
}

interface RuleContext {
  readonly costs: RuleCosts;
  readonly checksRules: boolean;
  readonly declared: DeclaredType | undefined;
}

interface Found {
  readonly schema: FieldError[];
  readonly rules: FieldError[];
}

function visit(at: Visit, context: RuleContext): Found {
  const { schema, path } = at;
  const found: Found = { schema: [...nodeErrors(at)], rules: [] };
  const take = (part: Found): void => {
    found.schema.push(...part.schema);
    found.rules.push(...part.rules);
  };
  const cardinality = times(at.cardinality, elementsOf(schema));
  const values = valuesOf(schema);
  if (schema.additionalProperties !== undefined && Object.keys(schema.properties ?? {}).length > 0) {
    if (schema.additionalProperties !== true) {
      found.schema.push(
        forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
      );
    }
  }
  if (values !== undefined) {
    const metaReason = at.isMeta && { forbidDefaults: "inside additionalProperties applying to object metadata" };
    const child = {
      ...at,
      ...metaReason,
      schema: values,
      path: `${path}.additionalProperties`,
      isRoot: false,
      cardinality,
    };
    take(visit(child, { ...context, declared: context.declared?.element ?? declaredOf(values) }));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = (at.isRoot || schema["x-kubernetes-embedded-resource"] === true) && metaFields.has(name);
    const child: Visit = {
      ...at,
      schema: property,
      path: `${path}.properties[${name}]`,
      isRoot: false,
      isMeta: at.isMeta || isMeta,
      ...(isMeta && at.isRoot && { forbidDefaults: `in top-level ${name}` }),
      cardinality,
    };
    const escaped = escapeField(name);
    const declared =
      (escaped === undefined ? undefined : context.declared?.fields?.get(escaped)) ?? declaredOf(property);
    take(visit(child, { ...context, declared }));
  }
  for (const [part, name] of logicOf(schema)) {
    take(visit({ ...at, schema: part, path: `${path}.${name}`, isRoot: false }, { ...context, checksRules: false }));
  }
  if (schema.items !== undefined) {
    const isMap = schema["x-kubernetes-list-type"] === "map";
    const child: Visit = {
      ...at,
      ...(!isMap && { uncorrelatable: path }),
      schema: schema.items,
      path: `${path}.items`,
      isRoot: false,
      cardinality,
    };
    take(visit(child, { ...context, declared: context.declared?.element ?? declaredOf(schema.items) }));
  }
  found.schema.push(
    ...extensionErrors(schema, path),
    ...listShapeErrors(schema, path),
    ...ruleTextErrors(schema, path),
  );
  found.rules.push(...rulesAt(at, context, found.schema.length > 0));
  return found;
}

function rulesAt(at: Visit, context: RuleContext, hasErrors: boolean): readonly FieldError[] {
  const rules = at.schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0 || hasErrors || !context.checksRules) return [];
  const path = `${at.path}.x-kubernetes-validations`;
  if (context.declared === undefined) {
    const why =
      "failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    return [internalError(path, `internal error: ${why}`)];
  }
  // Without a bound, as many are assumed as fit into a request.
  const cardinality = at.cardinality ?? Math.floor(maxRequestBytes / (context.declared.minSerializedSize + 1));
  const isResource = at.isRoot || at.schema["x-kubernetes-embedded-resource"] === true;
  // Rules see their own level as a type of its own name.
  const declared = declaredType(at.schema, {}, isResource) ?? context.declared;
  return ruleErrors(at.schema, declared, path, cardinality, at.uncorrelatable, context.costs);
}

const metaFields: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);
const types = ["array", "boolean", "integer", "number", "object", "string"];

function nodeErrors({ schema, path, isMeta, forbidDefaults }: Visit): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type: string = schema.type ?? "";
  if (type !== "" && !types.includes(type)) errors.push(notSupported(`${path}.type`, type, types));
  if (schema.default !== undefined && forbidDefaults !== undefined) {
    errors.push(forbidden(`${path}.default`, `must not be set ${forbidDefaults}`));
  }
  for (const name of ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]) {
    if ((schema as Readonly<Record<string, unknown>>)[name] !== undefined)
      errors.push(forbidden(`${path}.${name}`, `${name} is not supported`));
  }
  if (type === "null") {
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  }
  if (isMeta && schema["x-kubernetes-embedded-resource"] === true) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  }
  if (schema.uniqueItems === true) {
    errors.push(
      forbidden(
        `${path}.uniqueItems`,
        "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
      ),
    );
  }
  return errors;
}

function extensionErrors(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  const mapType: string | undefined = schema["x-kubernetes-map-type"];
  if (mapType === undefined) return errors;
  if (schema.type !== "object") {
    const detail = "must be object if x-kubernetes-map-type is specified";
    errors.push(
      schema.type === undefined ? required(`${path}.type`, detail) : invalid(`${path}.type`, schema.type, detail),
    );
  }
  if (mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  return errors;
}

const logicOf = (schema: Schema): readonly (readonly [Schema, string])[] => [
  ...(schema.not ? [[schema.not, "not"] as const] : []),
  ...(schema.allOf ?? []).map((part, index) => [part, `allOf[${index}]`] as const),
  ...(schema.oneOf ?? []).map((part, index) => [part, `oneOf[${index}]`] as const),
  ...(schema.anyOf ?? []).map((part, index) => [part, `anyOf[${index}]`] as const),
];

const declaredOf = (schema: Schema): DeclaredType | undefined =>
  declaredType(schema, {}, schema["x-kubernetes-embedded-resource"] === true);

/** By how much a schema multiplies what is below it. */
function elementsOf(schema: Schema): number | undefined {
  if (schema.type === "array") return schema.maxItems === undefined ? undefined : Math.max(0, schema.maxItems);
  if (schema.type !== "object" || schema.additionalProperties === undefined) return 1;
  return schema.maxProperties === undefined ? undefined : Math.max(0, schema.maxProperties);
}

const times = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? undefined : Math.min(left * right, unbounded);
