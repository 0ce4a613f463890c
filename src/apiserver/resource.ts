import type { FieldError } from "../kube/field-error.ts";
import type { ScalePaths } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { Definitions, Schema } from "../kube/schema/schema.ts";

/** One resource that the server serves in one version, built in or brought by a CustomResourceDefinition. */
export interface ServedResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
  readonly scale?: ScalePaths;
  /** Field selectors besides metadata.name and metadata.namespace, as paths: `status.phase`, `involvedObject.uid`. */
  readonly selectableFields: readonly string[];
  /** What a field selector compares with where that is not simply the value at its path; of the stored form. */
  fieldValue?(stored: KubeObject, field: string): string | undefined;
  /** How a refused field selector is worded, where it differs from the other kinds. */
  readonly unknownFieldMessage?: (field: string) => string;
  readonly schema: Schema;
  readonly definitions: Definitions;
  readonly strategy: Strategy;
  /** How /status is written; without one, everything but status stays as it was. */
  readonly statusStrategy?: StatusStrategy;
  /** How other parts of the object are written through sub-resources of their own. */
  readonly partStrategies?: Readonly<Record<string, StatusStrategy>>;
  readonly columns: readonly TableColumn[];
  /** Set when the stored form is another one than the served form, such as events.k8s.io/v1 Events kept as core Events. */
  readonly storedAs?: StoredForm;
}

/** How one version of a resource is kept: several versions, even of different groups, may share one stored form. */
export interface StoredForm {
  readonly group: string;
  readonly plural: string;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

export interface ServedSubresource {
  /** `status`, `scale`, `log`, `eviction`, `token`, … */
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

/**
 * What is particular to a resource on the way of a write. All functions are pure: they take plain JSON and answer a new
 * value (or the same one when nothing changes), never changing what they were given.
 */
export interface Strategy {
  /** Fills in what the writer left out. */
  default(object: KubeObject): KubeObject;
  /** Before a create: clears what a creator may not set (status), sets what the server sets. */
  prepareForCreate(object: KubeObject): KubeObject;
  /** Before an update of the main resource: keeps status and other fields that this path may not change. */
  prepareForUpdate(object: KubeObject, old: KubeObject): KubeObject;
  validate(object: KubeObject): readonly FieldError[];
  validateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[];
  /** Warning headers, such as a deprecated field; the old object is absent in a create. */
  warnings?(object: KubeObject, old?: KubeObject): readonly string[];
  /** A PUT to a name that does not exist creates the object (Lease, Endpoints, …). */
  readonly allowCreateOnUpdate?: boolean;
  /** A PUT without a resourceVersion overwrites whatever is there. */
  readonly allowUnconditionalUpdate?: boolean;
}

export interface StatusStrategy {
  /** Keeps everything of the old object but its status and what else this path may change. */
  prepareForUpdate(object: KubeObject, old: KubeObject): KubeObject;
  validateUpdate(object: KubeObject, old: KubeObject): readonly FieldError[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description: string;
  readonly priority: number;
  /** The cell as the API writes it; ages are computed by the server against `now`. */
  cell(object: KubeObject, now: Date): unknown;
}
