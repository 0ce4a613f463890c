/**
 * Who owns what after a write. `updateOwnership` looks at a finished object, `applyConfiguration` merges what one manager
 * wants into the live object first and takes away what that manager no longer wants.
 */
import { type Comparison, compareTyped } from "./compare.ts";
import type { FieldFilter } from "./field-filter.ts";
import {
  contains,
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmpty,
  type Path,
  pathsOf,
  union,
} from "./field-set.ts";
import { equalJson } from "./json-value.ts";
import { mergeTyped } from "./merge.ts";
import { withNamedFields } from "./named-fields.ts";
import { reconcileFieldSet } from "./reconcile.ts";
import { removeItems } from "./remove.ts";
import { toFieldSet } from "./to-field-set.ts";
import type { TypedValue } from "./typed-value.ts";

/** What one manager owns, in the version that it last wrote in. */
export interface Ownership {
  readonly set: FieldSet;
  readonly version: string;
  readonly applied: boolean;
}

export type Managers = ReadonlyMap<string, Ownership>;

export interface Updater {
  /** The value in another version, or undefined when that version no longer exists. Throws when it cannot be converted. */
  readonly convert: (value: TypedValue, version: string) => TypedValue | undefined;
  /** For each version, what nobody may own by this kind of write. */
  readonly filters?: ReadonlyMap<string, FieldFilter>;
}

/** Thrown by `convert` for a value that cannot be had in the version that is asked for. */
export class ConversionFault extends Error {}

export interface Conflict {
  readonly manager: string;
  readonly path: Path;
}

export interface UpdateRequest {
  readonly live: TypedValue;
  readonly updated: TypedValue;
  readonly version: string;
  readonly managers: Managers;
  readonly manager: string;
}

export function updateOwnership(updater: Updater, request: UpdateRequest): Managers {
  const { live, updated, version, manager } = request;
  const managers = reconcileManagers(updater, live, request.managers);
  const comparison = compareTyped(live, updated);
  const others = withoutTaken(updater, { ...request, managers }, comparison);
  const before = others.get(manager)?.set ?? emptySet;
  const changed = union(union(difference(before, comparison.removed), comparison.modified), comparison.added);
  const set = filtered(updater, version, changed);
  if (isEmpty(set)) others.delete(manager);
  else others.set(manager, { set, version, applied: false });
  return others;
}

export interface ApplyRequest {
  readonly live: TypedValue;
  readonly applied: TypedValue;
  readonly version: string;
  readonly managers: Managers;
  readonly manager: string;
  readonly force: boolean;
}

export type ApplyOutcome =
  /** `value` is undefined when the live object already is what was applied. */
  | { readonly kind: "Applied"; readonly value: TypedValue | undefined; readonly managers: Managers }
  | { readonly kind: "Conflict"; readonly conflicts: readonly Conflict[] };

export function applyConfiguration(updater: Updater, request: ApplyRequest): ApplyOutcome {
  const { live, applied, version, manager, force } = request;
  const reconciled = reconcileManagers(updater, live, request.managers);
  const last = reconciled.get(manager);
  const set = filtered(updater, version, toFieldSet(applied));
  const managers = new Map(reconciled).set(manager, { set, version, applied: true });
  const merged = mergeTyped(live, applied);
  const updated = last ? withoutDropped(updater, merged, { managers, manager, last }) : merged;

  const taken = { live, updated, version, managers, manager };
  const comparison = compareTyped(live, updated);
  if (!force) {
    const conflicts = conflictsOf(updater, taken, comparison);
    if (conflicts.length > 0) return { kind: "Conflict", conflicts };
  }
  const after = withoutTaken(updater, taken, comparison);
  return { kind: "Applied", value: equalJson(live.value, updated.value) ? undefined : updated, managers: after };
}

const filtered = (updater: Updater, version: string, set: FieldSet): FieldSet =>
  updater.filters?.get(version)?.(set) ?? set;

function filteredComparison(updater: Updater, version: string, comparison: Comparison): Comparison {
  const filter = updater.filters?.get(version);
  if (!filter) return comparison;
  return {
    added: filter(comparison.added),
    modified: filter(comparison.modified),
    removed: filter(comparison.removed),
  };
}

function reconcileManagers(updater: Updater, live: TypedValue, managers: Managers): Managers {
  const reconciled = new Map<string, Ownership>();
  for (const [name, ownership] of managers) {
    const converted = updater.convert(live, ownership.version);
    // Nobody can own fields of a version that is gone.
    if (!converted) continue;
    const set = reconcileFieldSet(ownership.set, converted.type);
    reconciled.set(name, set === ownership.set ? ownership : { ...ownership, set });
  }
  return reconciled;
}

/** The change as every other manager sees it, each in the version of its own fields. */
function* seenByOthers(
  updater: Updater,
  request: UpdateRequest,
  comparison: Comparison,
): Generator<readonly [string, Ownership, Comparison | undefined]> {
  const seen = new Map([[request.version, filteredComparison(updater, request.version, comparison)]]);
  for (const [name, ownership] of request.managers) {
    if (name === request.manager) continue;
    const { version } = ownership;
    let change = seen.get(version);
    if (!change) {
      const before = updater.convert(request.live, version);
      const after = updater.convert(request.updated, version);
      // Filters name the fields of the written version, so a change seen in another one is taken as it is.
      change = before && after && compareTyped(before, after);
      if (change) seen.set(version, change);
    }
    yield [name, ownership, change];
  }
}

function conflictsOf(updater: Updater, request: UpdateRequest, comparison: Comparison): readonly Conflict[] {
  const conflicts: Conflict[] = [];
  for (const [manager, ownership, change] of seenByOthers(updater, request, comparison)) {
    if (!change) continue;
    const taken = intersection(ownership.set, union(change.modified, change.added));
    for (const path of pathsOf(taken)) conflicts.push({ manager, path });
  }
  return conflicts;
}

/** All managers, without what the writer took from them or removed; without those who own nothing any more. */
function withoutTaken(updater: Updater, request: UpdateRequest, comparison: Comparison): Map<string, Ownership> {
  const rest = new Map<string, Ownership>();
  const own = request.managers.get(request.manager);
  if (own && !isEmpty(own.set)) rest.set(request.manager, own);
  for (const [manager, ownership, change] of seenByOthers(updater, request, comparison)) {
    if (!change) continue;
    const taken = union(change.modified, change.added);
    const set = difference(difference(ownership.set, intersection(ownership.set, taken)), change.removed);
    if (isEmpty(set)) continue;
    rest.set(manager, set === ownership.set ? ownership : { ...ownership, set });
  }
  return rest;
}

interface Dropping {
  /** Everyone, the applier with what it wants now. */
  readonly managers: Managers;
  readonly manager: string;
  readonly last: Ownership;
}

/** Takes away what the applier wanted last time, does not want now, and nobody else owns. */
function withoutDropped(updater: Updater, merged: TypedValue, { managers, manager, last }: Dropping): TypedValue {
  const now = managers.get(manager);
  if (!now || isEmpty(last.set)) return merged;
  // The usual case: the same fields as before, perhaps with other values.
  if (now.version === last.version && contains(now.set, last.set)) return merged;
  const whole = updater.convert(merged, last.version);
  if (!whole) return merged;
  const { type } = whole;
  const lastSet = withNamedFields(last.set, type);
  const bare = removeItems(whole, lastSet);
  const kept = withOwnedItems(updater, whole, bare, { managers, version: last.version });
  const keptAtLast = updater.convert(kept, last.version);
  if (!keptAtLast) return convertBack(updater, whole, now.version);
  const before = withNamedFields(toFieldSet(whole), type);
  const after = withNamedFields(toFieldSet(keptAtLast), type);
  // Fields that the applier never owned were caught inside an item that it did; they stay.
  const dropped = intersection(difference(before, after), lastSet);
  return convertBack(updater, removeItems(whole, dropped), now.version);
}

function convertBack(updater: Updater, value: TypedValue, version: string): TypedValue {
  const converted = updater.convert(value, version);
  if (!converted) throw new Error(`the version ${version} that is being written does not exist`);
  return converted;
}

interface Owners {
  readonly managers: Managers;
  readonly version: string;
}

/** Puts back what any manager owns, version by version. */
function withOwnedItems(updater: Updater, whole: TypedValue, bare: TypedValue, owners: Owners): TypedValue {
  const owned = new Map<string, FieldSet>();
  for (const { version, set } of owners.managers.values())
    owned.set(version, union(owned.get(version) ?? emptySet, set));
  // The version of the removed fields comes first: converting may need a field that was taken away and is still owned.
  const versions = [...owned.keys()].sort(
    (left, right) => Number(right === owners.version) - Number(left === owners.version),
  );
  let wholeNow = whole;
  let bareNow = bare;
  for (const version of versions) {
    const wholeThere = updater.convert(wholeNow, version);
    const bareThere = wholeThere && updater.convert(bareNow, version);
    if (!wholeThere || !bareThere) continue;
    const { type } = wholeThere;
    const present = withNamedFields(toFieldSet(wholeThere), type);
    const stays = union(
      withNamedFields(toFieldSet(bareThere), type),
      withNamedFields(owned.get(version) ?? emptySet, type),
    );
    wholeNow = wholeThere;
    bareNow = removeItems(wholeThere, difference(present, stays));
  }
  return bareNow;
}
