/** Deciding about rules without evaluating them: places in documents, keys of what is remembered, what `with` covers. */
import type { Term } from "../syntax/ast.ts";
import { compareValues, equalValues } from "../values/compare.ts";
import { scalarKeyOf } from "../values/number.ts";
import { RegoObject, type Value } from "../values/value.ts";
import { lookup } from "./lookup.ts";
import type { Machine, MemoEntry } from "./machine.ts";
import type { CompiledRule } from "./program.ts";
import { constantValue } from "./terms.ts";

/** The constants before the last key, up to the first key that is none. */
export function fixedPlace(keys: readonly Term[]): readonly Value[] {
  const place: Value[] = [];
  for (const key of keys.slice(0, -1)) {
    if (key.kind !== "scalar") break;
    place.push(key.value);
  }
  return place;
}

export function haveOneValue(rules: readonly CompiledRule[]): boolean {
  let first: Value | undefined;
  for (const rule of rules) {
    for (let branch: CompiledRule | undefined = rule; branch !== undefined; branch = branch.elseRule) {
      const value = branch.head.value === undefined ? undefined : constantValue(branch.head.value);
      if (value === undefined) return false;
      first ??= value;
      if (!equalValues(first, value)) return false;
    }
  }
  return true;
}

export function memoEntry(machine: Machine, groupId: number): MemoEntry {
  let entry = machine.memo[groupId];
  if (entry === undefined) {
    entry = { whole: undefined, hasWhole: false, byKey: undefined };
    machine.memo[groupId] = entry;
  }
  return entry;
}

/** Only scalars make cheap keys; calls with larger arguments are computed again. */
export function memoKey(args: readonly Value[]): unknown {
  const [first] = args;
  // Numbers that are written differently but equal share what was computed for the first of them, as in OPA.
  if (args.length === 1 && first !== undefined) return scalarKeyOf(first);
  let key = "";
  for (const arg of args) {
    const scalar = scalarKeyOf(arg);
    if (scalar === undefined) return undefined;
    key += typeof scalar === "string" ? `${JSON.stringify(scalar)},` : `${scalar},`;
  }
  return key;
}

export function walk(value: Value | undefined, keys: readonly Value[]): Value | undefined {
  let current = value;
  for (const key of keys) {
    if (current === undefined) return undefined;
    current = lookup(current, key);
  }
  return current;
}

export function mayMatch(pattern: readonly Term[], keys: readonly Value[]): boolean {
  for (let index = 0; index < Math.min(pattern.length, keys.length); index++) {
    const part = pattern[index];
    const key = keys[index];
    if (part?.kind === "scalar" && key !== undefined && compareValues(part.value, key) !== 0) return false;
  }
  return true;
}

/** The first one wins, except that objects are merged. */
export function mergeDocuments(first: Value, second: Value): Value {
  if (!(first instanceof RegoObject) || !(second instanceof RegoObject)) return first;
  const merged = second.copy();
  for (const [key, value] of first.entries()) {
    const other = second.get(key);
    merged.set(key, other === undefined ? value : mergeDocuments(value, other));
  }
  return merged;
}

export function isPrefix(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.every((name, index) => path[index] === name);
}

export function isOverridden(path: readonly string[], overrides: readonly (readonly string[])[]): boolean {
  return overrides.some((override) => override.length <= path.length && isPrefix(override, path));
}
