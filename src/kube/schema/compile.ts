import { forgettable } from "../../env/forgettable.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { checkChild, compileChecks } from "./check.ts";
import { Correlation } from "./correlation.ts";
import { compileDefault } from "./default.ts";
import { compileEmbedded } from "./embedded-resource.ts";
import { compileListTypes } from "./list-type.ts";
import { compilePruneResource, type Pruned } from "./prune.ts";
import { isMembers } from "./resolve.ts";
import { compileRules } from "./rules.ts";
import type { Definitions, Schema } from "./schema.ts";
import { Walk } from "./walk.ts";

/**
 * A schema, compiled once: everything that a server does with an object of a kind. All functions are pure; values come
 * back as they were given when there is nothing to change.
 */
export interface CompiledSchema {
  /** Drops what the schema does not know and says what that was: `unknown field "spec.foo"`. */
  prune(value: unknown): Pruned;
  /** Fills in what the writer left out. */
  default<T>(value: T): T;
  /** Everything that is wrong with a new object. */
  validate(value: unknown, options?: ValidateOptions): readonly FieldError[];
  /** As `validate`, but what was wrong already and has not changed may stay; transition rules are checked. */
  validateUpdate(value: unknown, old: unknown, options?: ValidateOptions): readonly FieldError[];
  /** As `validateUpdate` for a write to the status sub-resource: only the status is held against the schema. */
  validateStatusUpdate(value: unknown, old: unknown, options?: ValidateOptions): readonly FieldError[];
}

export interface ValidateOptions {
  /** Errors that were found before (in the metadata, say); they come first in the answer, and may make rules moot. */
  readonly before?: readonly FieldError[];
  /** Called for what is wrong with a rule but tolerated, because the value has not changed. */
  readonly onWarning?: (warning: string) => void;
}

export function compileSchema(schema: Schema, definitions: Definitions = {}): CompiledSchema {
  // Kinds are defined when the program starts; most of what could be compiled is never used in a given process.
  const prune = forgettable(() => compilePruneResource(schema, definitions));
  const fill = forgettable(() => compileDefault(schema, definitions));
  const checks = forgettable(() => compileChecks(definitions));
  const embedded = forgettable(() => compileEmbedded(definitions)(schema));
  const listTypes = forgettable(() => compileListTypes(definitions)(schema));
  const rules = forgettable(() => compileRules(schema, definitions));

  const validate = (value: unknown, old: unknown, given: Given, options: ValidateOptions): readonly FieldError[] => {
    const errors: FieldError[] = [...(options.before ?? []), ...given(value, old)];
    errors.push(...embedded()(value, ""));
    // Lists that broke the rule before this update may go on breaking it.
    if (old === undefined || listTypes()(old, "").length === 0) errors.push(...listTypes()(value, ""));
    const compiled = rules();
    if (compiled === undefined) return errors;
    if (errors.some(({ type }) => blockingTypes.has(type))) return [...errors, rulesWereSkipped];
    const correlation = old === undefined ? undefined : new Correlation(value, old, schema, definitions);
    return [...errors, ...compiled.validate(value, old, correlation, options.onWarning)];
  };
  const whole: Given = (value, old) => {
    const walk = new Walk();
    const check = checks()(schema);
    checkChild(check, value, walk, old === undefined ? undefined : new Correlation(value, old, schema, definitions));
    return walk.result();
  };
  const statusOnly: Given = (value, old) => {
    const status = isMembers(value) ? value["status"] : undefined;
    const statusSchema = schema.properties?.["status"];
    if (status === undefined || statusSchema === undefined) return [];
    const before = isMembers(old) ? old["status"] : undefined;
    const walk = new Walk("status");
    const correlation = before === undefined ? undefined : new Correlation(status, before, statusSchema, definitions);
    checkChild(checks()(statusSchema), status, walk, correlation);
    return walk.result();
  };

  return {
    prune: (value) => prune()(value),
    default: <T>(value: T) => fill()(value) as T,
    validate: (value, options = {}) => validate(value, undefined, whole, options),
    validateUpdate: (value, old, options = {}) => validate(value, old, whole, options),
    validateStatusUpdate: (value, old, options = {}) => validate(value, old, statusOnly, options),
  };
}

type Given = (value: unknown, old: unknown) => readonly FieldError[];

/** With any of these, an object may not have the shape that rules rely on. */
const blockingTypes: ReadonlySet<FieldError["type"]> = new Set([
  "NotSupported",
  "Required",
  "TooLong",
  "TooMany",
  "TypeInvalid",
]);

const rulesWereSkipped = invalid(
  "<nil>",
  null,
  "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
);
