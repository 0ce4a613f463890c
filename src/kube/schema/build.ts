import type { Schema, ValidationRule } from "./schema.ts";

/**
 * The schema builder: one definition gives a TypeScript type and a structural schema.
 *
 *     const spec = object({ replicas: integer({ minimum: 0 }), paused: optional(boolean()) });
 *     type Spec = TypeOf<typeof spec>;   // { readonly replicas: number; readonly paused?: boolean }
 */
export interface Field<T, Presence extends "required" | "optional" | "defaulted" = "required"> {
  readonly schema: Schema;
  readonly presence: Presence;
  /** Carries the type only; never set. */
  readonly type?: T;
}

export type AnyField = Field<unknown, "required" | "optional" | "defaulted">;
export type Fields = Readonly<Record<string, AnyField>>;
export type TypeOf<F extends AnyField> = F extends Field<infer T, "required" | "optional" | "defaulted"> ? T : never;

/** Required and defaulted fields are always there for a reader; optional ones may be missing. */
export type ObjectOf<F extends Fields> = {
  readonly [K in keyof F as F[K]["presence"] extends "optional" ? never : K]: TypeOf<F[K]>;
} & {
  readonly [K in keyof F as F[K]["presence"] extends "optional" ? K : never]?: TypeOf<F[K]>;
} extends infer O
  ? { [K in keyof O]: O[K] }
  : never;

interface CommonOptions {
  readonly description?: string;
  readonly nullable?: boolean;
  readonly rules?: readonly ValidationRule[];
}
export interface StringOptions extends CommonOptions {
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}
export interface NumberOptions extends CommonOptions {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
}
export interface ListOptions extends CommonOptions {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Items are told apart by these fields: a list of type map. */
  readonly keys?: readonly string[];
  readonly listType?: "atomic" | "set" | "map";
}
export interface ObjectOptions extends CommonOptions {
  readonly preserveUnknownFields?: boolean;
  readonly mapType?: "atomic" | "granular";
}
export interface MapOptions extends CommonOptions {
  readonly maxProperties?: number;
}

export const string = (options: StringOptions = {}): Field<string> => field({ type: "string", ...schemaOf(options) });
export const integer = (options: NumberOptions = {}): Field<number> => field({ type: "integer", ...schemaOf(options) });
export const number = (options: NumberOptions = {}): Field<number> => field({ type: "number", ...schemaOf(options) });
export const boolean = (options: CommonOptions = {}): Field<boolean> =>
  field({ type: "boolean", ...schemaOf(options) });
export const dateTime = (options: CommonOptions = {}): Field<string> => string({ format: "date-time", ...options });

/** One of a closed set of strings. */
export const oneOf = <const V extends readonly string[]>(values: V, options: CommonOptions = {}): Field<V[number]> =>
  field({ type: "string", enum: values, ...schemaOf(options) });

export const object = <const F extends Fields>(fields: F, options: ObjectOptions = {}): Field<ObjectOf<F>> => {
  const { preserveUnknownFields, mapType, ...common } = options;
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.presence === "required");
  return field({
    type: "object",
    ...schemaOf(common),
    ...(names.length > 0 && {
      properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    }),
    ...(required.length > 0 && { required }),
    ...(preserveUnknownFields && { "x-kubernetes-preserve-unknown-fields": true }),
    ...(mapType && { "x-kubernetes-map-type": mapType }),
  });
};

export const array = <T>(items: Field<T>, options: ListOptions = {}): Field<readonly T[]> => {
  const { keys, listType, ...common } = options;
  const type = listType ?? (keys ? "map" : undefined);
  return field({
    type: "array",
    ...schemaOf(common),
    items: items.schema,
    ...(type && { "x-kubernetes-list-type": type }),
    ...(keys && { "x-kubernetes-list-map-keys": keys }),
  });
};

export const map = <T>(values: Field<T>, options: MapOptions = {}): Field<Readonly<Record<string, T>>> =>
  field({ type: "object", ...schemaOf(options), additionalProperties: values.schema });

export const intOrString = (options: CommonOptions = {}): Field<number | string> =>
  field({ "x-kubernetes-int-or-string": true, ...schemaOf(options) });

/** Any object: kept as it is, not looked into. */
export const anyObject = (options: CommonOptions = {}): Field<Readonly<Record<string, unknown>>> =>
  field({ type: "object", ...schemaOf(options), "x-kubernetes-preserve-unknown-fields": true });

/** Any JSON value at all. */
export const anything = (options: CommonOptions = {}): Field<unknown> =>
  field({ ...schemaOf(options), "x-kubernetes-preserve-unknown-fields": true });

/** A field that may be left out. */
export const optional = <T>(of: Field<T>): Field<T, "optional"> => ({ schema: of.schema, presence: "optional" });

/** A field that may be left out by a writer, and is filled in for every reader. */
export const defaulted = <T>(of: Field<T>, value: T): Field<T, "defaulted"> => ({
  schema: { ...of.schema, default: value },
  presence: "defaulted",
});

const field = <T>(schema: Schema): Field<T> => ({ schema, presence: "required" });

function schemaOf(options: CommonOptions): Partial<Schema> {
  const { rules, ...rest } = options;
  return { ...rest, ...(rules && { "x-kubernetes-validations": rules }) };
}
