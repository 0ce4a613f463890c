import type { KubeObject, ObjectMeta } from "./object.ts";
import {
  type AnyField,
  type Field,
  type Fields,
  type ObjectOf,
  object,
  optional,
  type TypeOf,
} from "./schema/build.ts";
import type { Schema } from "./schema/schema.ts";

/** All that a request needs to know of a kind. */
export interface KindRef<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Carries the type only; never set. */
  readonly type?: T;
}

/** The single truth about a kind: its type, schema, columns and words all follow from this. */
export interface Kind<T extends KubeObject = KubeObject> extends KindRef<T> {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly description: string;
  readonly schema: Schema;
  readonly statusSubresource: boolean;
  readonly scale?: ScalePaths;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  /** Condition types and, for each, the closed set of reasons that we ever write. */
  readonly conditions: Readonly<Record<string, readonly string[]>>;
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 is always shown, higher ones only in wide output. */
  readonly priority?: number;
  readonly format?: string;
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface KindDefinition<S extends AnyField, St extends AnyField, F extends Fields> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly description: string;
  readonly spec?: S;
  readonly status?: St;
  /** Top-level fields besides spec and status, such as a ConfigMap's data. */
  readonly fields?: F;
  /** CEL rules on the whole object. */
  readonly rules?: Schema["x-kubernetes-validations"];
  readonly scale?: ScalePaths;
  readonly columns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly string[];
  readonly conditions?: Readonly<Record<string, readonly string[]>>;
}

export type Resource<S, St, F> = KubeObject & { readonly metadata: ObjectMeta } & (unknown extends S
    ? unknown
    : { readonly spec: S }) &
  (unknown extends St ? unknown : { readonly status?: St }) &
  F;

/** The TypeScript type of a kind's objects: `type Widget = ResourceOf<typeof Widget>`. */
export type ResourceOf<K extends KindRef> = K extends KindRef<infer T> ? T : never;

export function defineKind<
  S extends AnyField = Field<unknown>,
  St extends AnyField = Field<unknown>,
  const F extends Fields = Record<never, never>,
>(definition: KindDefinition<S, St, F>): Kind<Resource<TypeOf<S>, TypeOf<St>, ObjectOf<F>>> {
  const { spec, status, fields, kind } = definition;
  const body = object({
    ...fields,
    ...(spec && { spec }),
    ...(status && { status: optional(status as Field<unknown>) }),
  });
  return {
    group: definition.group,
    version: definition.version,
    kind,
    plural: definition.plural,
    namespaced: definition.scope !== "Cluster",
    singular: definition.singular ?? kind.toLowerCase(),
    listKind: definition.listKind ?? `${kind}List`,
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    description: definition.description,
    schema: {
      ...body.schema,
      description: definition.description,
      properties: { ...objectHeader, ...body.schema.properties },
      ...(definition.rules && { "x-kubernetes-validations": definition.rules }),
    },
    statusSubresource: status !== undefined,
    ...(definition.scale && { scale: definition.scale }),
    columns: definition.columns ?? [],
    selectableFields: definition.selectableFields ?? [],
    conditions: definition.conditions ?? {},
  };
}

// Bare on purpose: a server refuses a definition that says anything more about metadata.
const objectHeader: Readonly<Record<string, Schema>> = {
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object" },
};

export const apiVersionOf = (kind: Pick<KindRef, "group" | "version">): string =>
  kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
