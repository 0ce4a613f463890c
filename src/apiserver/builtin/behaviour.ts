import type { FieldError } from "../../kube/field-error.ts";
import type { ScalePaths } from "../../kube/kind.ts";
import type { StoredForm, TableColumn } from "../resource.ts";
import type { Draft } from "./draft.ts";
import type { NameRule } from "./names.ts";

/** A part of an object: what a writer may change of the old spec, and whether the outcome is allowed. */
export interface PartBehaviour {
  spec(wanted: Draft, old: Draft): Draft;
  validate(object: Draft, old: Draft): readonly FieldError[];
}

/** What one kind does differently from the others. Everything that is absent has the ordinary behaviour. */
export interface Behaviour {
  readonly name?: NameRule;
  /** Fills in defaults; the draft is already in the form of its type. */
  fill?(draft: Draft): void;
  /** After status is cleared. */
  prepareCreate?(draft: Draft): void;
  /** After status is put back to what it was. */
  prepareUpdate?(draft: Draft, old: Draft): void;
  /** Before a write of /status; everything but status and metadata is put back already. */
  prepareStatus?(draft: Draft, old: Draft): void;
  /** Besides metadata. */
  validate?(object: Draft): readonly FieldError[];
  /** Besides metadata and what `validate` says, which an update must satisfy too. */
  validateUpdate?(object: Draft, old: Draft): readonly FieldError[];
  /** Set when an update is not judged by `validate` as well. */
  readonly updateSkipsValidate?: boolean;
  /** Parts that are written through sub-resources of their own, by their names. */
  readonly parts?: Readonly<Record<string, PartBehaviour>>;
  validateStatus?(object: Draft, old: Draft): readonly FieldError[];
  /** The old object is absent in a create. */
  warnings?(object: Draft, old?: Draft): readonly string[];
  readonly allowCreateOnUpdate?: boolean;
  readonly refusesUnconditionalUpdate?: boolean;
  readonly keepsStatusOnCreate?: boolean;
  /** Other kinds want finalizers that say whose they are: `example.com/cleanup`. */
  readonly takesAnyFinalizer?: boolean;
  readonly scale?: ScalePaths;
  /** Paths whose change makes a new generation (`spec`, `metadata.annotations`); absent when the kind has none at all. */
  readonly generationPaths?: readonly string[];
  readonly unknownFieldMessage?: (field: string) => string;
  /** Selectable fields that are not simply the value at their path in the stored form. */
  readonly fieldValues?: Readonly<Record<string, (object: Draft) => string>>;
  readonly selectableFields?: readonly string[];
  /** Said to everybody who uses the resource. */
  readonly deprecation?: string;
  readonly storedAs?: StoredForm;
  readonly columns: readonly TableColumn[];
}
