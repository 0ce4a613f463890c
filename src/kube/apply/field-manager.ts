/**
 * Field management as the API server calls it: every write goes through `update`, every server-side apply through `apply`,
 * and both answer the object with the `managedFields` that the real server would have written.
 */
import type { KubeObject, ManagedFieldsEntry } from "../object.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { formatTime } from "../time.ts";
import { capUpdateManagers } from "./cap-managers.ts";
import { type FieldConflict, tellConflicts } from "./conflict.ts";
import { excludeFields, type FieldFilter } from "./field-filter.ts";
import { has, type Path, union } from "./field-set.ts";
import { isMap, type JsonMap } from "./json-value.ts";
import { changeoverManager, unchangedSinceLastApplied, withLastApplied } from "./last-applied.ts";
import { identityKey, type Managed, nobody, readManagedFields, writeManagedFields } from "./managed-fields.ts";
import { fieldElement } from "./path-element.ts";
import { startingManagers } from "./starting-managers.ts";
import { withoutUntracked } from "./untracked-fields.ts";
import { applyConfiguration, ConversionFault, type Managers, updateOwnership } from "./updater.ts";
import { typeErrorText, validateTyped } from "./validate.ts";
import { type VersionSchema, versionedTypes } from "./versioned-types.ts";

export interface FieldManagerOptions {
  readonly schema: Schema;
  readonly definitions?: Definitions;
  /** The version that the resource is served in, `apps/v1`. */
  readonly apiVersion: string;
  /** Applied objects of another kind are refused. */
  readonly kind?: string;
  /** Other versions whose entries may be met in `managedFields`; entries of all other versions are dropped. */
  readonly otherVersions?: readonly VersionSchema[];
  readonly convert?: (object: KubeObject, apiVersion: string) => KubeObject;
  /**
   * What a write through a sub-resource (`""` is the resource itself) cannot change and therefore never owns, as dotted
   * paths: `{ "": ["status"], status: ["metadata", "spec"] }`.
   */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>;
  readonly builtIn?: BuiltInTraits;
}

/** What differs for kinds that the real server holds in Go structs instead of plain JSON. */
export interface BuiltInTraits {
  /** What an object has before anything is set, such as `spec.strategy: {}`; nobody comes to own these containers. */
  readonly emptyObject: Readonly<Record<string, unknown>>;
}

export interface FieldManager {
  apply(request: FieldApply): ApplyResult;
  /** The updated object with new managedFields; on create `live` is absent. Never fails: what cannot be told is left out. */
  update(request: FieldUpdate): KubeObject;
}

export interface FieldApply {
  readonly live?: KubeObject;
  readonly applied: KubeObject;
  readonly manager: string;
  readonly force: boolean;
  readonly subresource?: string;
  readonly now: Date;
}

export interface FieldUpdate {
  readonly live?: KubeObject;
  readonly updated: KubeObject;
  readonly manager: string;
  readonly subresource?: string;
  readonly now: Date;
}

export type ApplyResult =
  /** Not yet defaulted and validated; equal to the live object but for managedFields when nothing changed. */
  | { readonly kind: "Applied"; readonly object: KubeObject }
  | { readonly kind: "Conflict"; readonly message: string; readonly conflicts: readonly FieldConflict[] }
  | { readonly kind: "Invalid"; readonly reason: "BadRequest" | "InternalError"; readonly message: string };

export function createFieldManager(options: FieldManagerOptions): FieldManager {
  const { apiVersion } = options;
  const types = versionedTypes(options, options.otherVersions, options.convert);
  const filtersOf = filtersBySubresource(options);
  const emptyFor = (object: KubeObject): JsonMap => ({
    ...options.builtIn?.emptyObject,
    apiVersion,
    kind: object.kind,
  });

  const updaterFor = (subresource: string) => ({ convert: types.convert, filters: filtersOf(subresource) });

  function update(request: FieldUpdate): KubeObject {
    const { live, updated } = request;
    const bare = withManagedFields(updated, undefined);
    const managed = startingManagers(live, updated, {
      subresource: request.subresource ?? "",
      isBuiltIn: options.builtIn !== undefined,
    });
    // An object that nobody has tracked from its creation is not tracked before its first apply.
    if (managed.owners.size === 0 && live?.metadata.uid) return bare;
    const before = live ? withManagedFields(live, undefined) : emptyFor(updated);
    const after = trackUpdate(before, bare, managed, request);
    return typeof after === "string" ? bare : withManagedFields(updated, writeManagedFields(after));
  }

  /** The managers after an update, or why that cannot be told. */
  function trackUpdate(before: JsonMap, after: JsonMap, managed: Managed, request: Writer): Managed | string {
    const live = { type: types.type, value: before };
    const updated = { type: types.type, value: after };
    const errors = [...validateTyped(updated, "allowed"), ...validateTyped(live, "allowed")];
    if (errors.length > 0) return typeErrorText(errors);
    const updater = updaterFor(request.subresource ?? "");
    const change = { live, updated, version: apiVersion, managers: managed.owners, manager: currentOperation };
    try {
      return capUpdateManagers(recordUpdate(updateOwnership(updater, change), managed, request));
    } catch (error) {
      if (error instanceof ConversionFault) return error.message;
      throw error;
    }
  }

  /** The change is found under a name of its own, so that the writer's entry and time move only when something did. */
  function recordUpdate(changed: Managers, managed: Managed, { manager, subresource, now }: Writer): Managed {
    const owners = withoutUntracked(changed, currentOperation);
    const current = owners.get(currentOperation);
    if (!current) return { owners, times: managed.times };
    owners.delete(currentOperation);
    const key = identityKey(identify(manager, "Update", subresource));
    const previous = owners.get(key);
    owners.set(key, previous ? { ...current, set: union(current.set, previous.set) } : current);
    return { owners, times: new Map(managed.times).set(key, formatTime(now)) };
  }

  const identify = (manager: string, operation: "Apply" | "Update", subresource: string | undefined) => ({
    manager: manager === "" ? "unknown" : manager,
    operation,
    apiVersion,
    ...(subresource && { subresource }),
  });

  function apply(request: FieldApply): ApplyResult {
    const { applied, manager, subresource, now } = request;
    const objection = objectionTo(applied, options);
    if (objection !== undefined) return invalid("BadRequest", objection);
    const patch = { type: types.type, value: applied };
    const errors = validateTyped(patch, "refused");
    if (errors.length > 0) {
      return invalid(
        "InternalError",
        `failed to create typed patch object (${tell(applied)}): ${typeErrorText(errors)}`,
      );
    }
    const read = readManagedFields(request.live?.metadata.managedFields);
    if (read.kind === "Malformed") return invalid("InternalError", `failed to decode managed fields: ${read.message}`);
    const before: JsonMap = request.live ? withManagedFields(request.live, undefined) : emptyFor(applied);
    const live = { type: types.type, value: before };
    const liveErrors = validateTyped(live, "allowed");
    if (liveErrors.length > 0) {
      return invalid(
        "InternalError",
        `failed to create typed live object (${tell(applied)}): ${typeErrorText(liveErrors)}`,
      );
    }
    const managed = read.managed.owners.size === 0 ? firstOwners(before, request) : read.managed;
    if (typeof managed === "string") {
      return invalid("InternalError", `failed to create manager for existing fields: ${managed}`);
    }

    const key = identityKey(identify(manager, "Apply", subresource));
    const updater = updaterFor(subresource ?? "");
    const configuration = { live, applied: patch, version: apiVersion, managers: managed.owners, manager: key };
    const attempt = (force: boolean) => applyConfiguration(updater, { ...configuration, force });
    try {
      let outcome = attempt(request.force);
      if (outcome.kind === "Conflict" && manager === changeoverManager) {
        const allowed = unchangedSinceLastApplied(before, types.type, apiVersion);
        const left = allowed && outcome.conflicts.filter(({ path }) => !has(allowed, path));
        if (left) outcome = left.length === 0 ? attempt(true) : { kind: "Conflict", conflicts: left };
      }
      if (outcome.kind === "Conflict") return { kind: "Conflict", ...tellConflicts(outcome.conflicts) };
      const changed = outcome.value !== undefined;
      const object = outcome.value && isMap(outcome.value.value) ? outcome.value.value : before;
      const told = manager === changeoverManager ? withLastApplied(object, applied as unknown as JsonMap) : object;
      const owners = withoutUntracked(outcome.managers, key, managed.owners.get(key));
      const times = changed ? new Map(managed.times).set(key, formatTime(now)) : managed.times;
      return { kind: "Applied", object: withManagedFields(told, writeManagedFields({ owners, times })) };
    } catch (error) {
      if (error instanceof ConversionFault) return invalid("InternalError", error.message);
      throw error;
    }
  }

  /** The fields of an object that came without managers belong to a manager that stands for all who wrote it. */
  function firstOwners(live: JsonMap, request: FieldApply): Managed | string {
    const before = emptyFor(request.applied);
    return trackUpdate(before, live, nobody, { ...request, manager: beforeFirstApply });
  }

  return { apply, update };
}

const currentOperation = "current-operation";
const beforeFirstApply = "before-first-apply";

type Writer = Pick<FieldUpdate, "manager" | "subresource" | "now">;

const invalid = (reason: "BadRequest" | "InternalError", message: string): ApplyResult => ({
  kind: "Invalid",
  reason,
  message,
});

function filtersBySubresource(options: FieldManagerOptions): (subresource: string) => ReadonlyMap<string, FieldFilter> {
  const versions = [options.apiVersion, ...(options.otherVersions ?? []).map((version) => version.apiVersion)];
  const made = new Map<string, ReadonlyMap<string, FieldFilter>>();
  return (subresource) => {
    const known = made.get(subresource);
    if (known) return known;
    const paths = (options.resetFields?.[subresource] ?? []).map((path): Path => path.split(".").map(fieldElement));
    const filter = excludeFields(...paths);
    const filters = new Map(paths.length > 0 ? versions.map((version) => [version, filter]) : []);
    made.set(subresource, filters);
    return filters;
  };
}

function objectionTo(applied: KubeObject, { apiVersion, kind }: FieldManagerOptions): string | undefined {
  if (applied.apiVersion !== apiVersion || (kind !== undefined && applied.kind !== kind)) {
    return `invalid object type: ${typeName(applied)}`;
  }
  const given: unknown = applied.metadata?.managedFields;
  return given === undefined || given === null ? undefined : "metadata.managedFields must be nil";
}

const typeName = ({ apiVersion, kind }: KubeObject): string =>
  `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;

const tell = (object: KubeObject): string =>
  `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}; ${typeName(object)}`;

function withManagedFields(object: object, entries: readonly ManagedFieldsEntry[] | undefined): KubeObject & JsonMap {
  const whole = object as KubeObject & JsonMap;
  const { metadata } = whole;
  if (!metadata || (!entries && metadata.managedFields === undefined)) return whole;
  const { managedFields: _replaced, ...others } = metadata;
  return { ...whole, metadata: entries ? { ...others, managedFields: entries } : others };
}
