/**
 * Strategic merge patch: a merge patch that also merges lists, by the keys that the schemas of the built-in kinds declare,
 * and that can carry directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`).
 */
import { fieldOf, isList, isMap, type JsonMap, setField } from "../apply/json-value.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { PatchFault, type PatchResult, patchResult } from "./patch-result.ts";
import { elementKind, identityOf, type MergeKey, orderItems, presentIn } from "./strategic-lists.ts";

export interface StrategicSchema {
  readonly schema: Schema;
  readonly definitions?: Definitions;
}

export function applyStrategicMergePatch(document: unknown, patch: unknown, schema: StrategicSchema): PatchResult {
  return patchResult(() => {
    if (!isMap(patch)) throw new PatchFault("Malformed", "invalid JSON document");
    return mergeMaps(isMap(document) ? document : {}, patch, resolve(schema));
  });
}

const directive = "$patch";
const retainKeys = "$retainKeys";
const orderPrefix = "$setElementOrder/";
const deletePrefix = "$deleteFromPrimitiveList/";

function mergeMaps(original: JsonMap, patch: JsonMap, schema: StrategicSchema): JsonMap {
  const wanted = fieldOf(patch, directive);
  if (wanted === "replace") return without(patch, directive);
  if (wanted === "delete") return {};
  if (wanted !== undefined) throw unknownPatchType(wanted);
  const merged: Record<string, unknown> = { ...original };
  const rest: Record<string, unknown> = { ...patch };
  keepRetained(merged, rest);
  mergeOrderedLists(merged, rest, schema);
  for (const name of Object.keys(rest)) mergeField(merged, name, rest[name], schema);
  return merged;
}

/** `$retainKeys` names all keys that may stay: it is how a union changes from one member to another. */
function keepRetained(merged: Record<string, unknown>, rest: Record<string, unknown>): void {
  const keys = fieldOf(rest, retainKeys);
  if (keys === undefined) return;
  delete rest[retainKeys];
  if (!isList(keys)) throw new PatchFault("Malformed", "invalid patch format of retainKeys");
  for (const name of Object.keys(rest)) {
    if (rest[name] === null || name.startsWith(deletePrefix) || name.startsWith(orderPrefix)) continue;
    if (!keys.includes(name)) throw new PatchFault("Malformed", "invalid patch format of retainKeys");
  }
  for (const name of Object.keys(merged)) if (!keys.includes(name)) delete merged[name];
}

/** `$setElementOrder/containers` orders that list; the list's own patch is merged at the same time. */
function mergeOrderedLists(
  merged: Record<string, unknown>,
  rest: Record<string, unknown>,
  schema: StrategicSchema,
): void {
  for (const key of Object.keys(rest).filter((name) => name.startsWith(orderPrefix))) {
    const order = rest[key];
    delete rest[key];
    const name = key.slice(orderPrefix.length);
    const before = fieldOf(merged, name);
    const change = fieldOf(rest, name);
    const badOrder = new PatchFault("Malformed", "invalid patch format of setElementOrder list");
    if (!isList(order) || (before !== undefined && !isList(before)) || (change !== undefined && !isList(change))) {
      throw badOrder;
    }
    const field = fieldSchema(schema, name);
    const { mergeKey, strategy } = marksOf(field);
    if (change) checkOrder(change, order, mergeKey);
    if (!before && !change) continue;
    const { items, places } = mergedItems(before, change, { field, mergeKey, strategy });
    const fromPatch = items.filter((item) => presentIn(order, item, mergeKey));
    const fromServer = items.filter((item) => !presentIn(order, item, mergeKey));
    merged[name] = orderItems({ fromPatch, fromServer, order, serverOrder: places, mergeKey });
    delete rest[name];
  }
}

interface ListMarks {
  readonly field: StrategicSchema | undefined;
  readonly mergeKey: MergeKey;
  readonly strategy: string | undefined;
}

interface MergedItems {
  readonly items: readonly unknown[];
  /** The order on the server, for those items that have a place in it. */
  readonly places: readonly unknown[];
}

function mergedItems(
  before: readonly unknown[] | undefined,
  change: readonly unknown[] | undefined,
  marks: ListMarks,
): MergedItems {
  if (!change) return { items: before ?? [], places: before ?? [] };
  if (!before) return { items: withoutDirectives(change) as readonly unknown[], places: [] };
  const items = mergeLists(before, change, marks, false);
  const places = marks.mergeKey === undefined ? before : placesAfter(before, change, marks.mergeKey);
  return { items, places };
}

/** On the real server new items take the places of deleted ones, which keeps them behind the items that stay. */
function placesAfter(before: readonly unknown[], change: readonly unknown[], mergeKey: string): readonly unknown[] {
  const wish = (item: unknown): unknown => (isMap(item) ? fieldOf(item, directive) : undefined);
  const deletions = change.filter((item) => wish(item) === "delete");
  const kept = before.filter((item) => !presentIn(deletions, item, mergeKey));
  if (kept.length === before.length) return before;
  const added = change.filter((item) => wish(item) === undefined && !presentIn(kept, item, mergeKey));
  const freed = before.length - kept.length;
  return [...kept, ...added.slice(0, freed), ...before.slice(kept.length + added.length)];
}

/** The items of the patch must stand in the order that the directive asks for. */
function checkOrder(change: readonly unknown[], order: readonly unknown[], mergeKey: MergeKey): void {
  if (order.length === 0) return;
  let next = 0;
  for (const item of change) {
    if (isMap(item) && Object.hasOwn(item, directive)) continue;
    const identity = identityOf(item, mergeKey);
    while (next < order.length && identityOf(order[next], mergeKey) !== identity) next += 1;
    if (next === order.length) {
      throw new PatchFault(
        "Unsupported",
        `the order in the patch list doesn't match its ${orderPrefix.slice(0, -1)} list`,
      );
    }
    next += 1;
  }
}

function mergeField(merged: Record<string, unknown>, key: string, change: unknown, schema: StrategicSchema): void {
  if (change === undefined) return;
  const isDeletion = key.startsWith(deletePrefix);
  const name = isDeletion ? key.slice(deletePrefix.length) : key;
  if (change === null) {
    delete merged[name];
    return;
  }
  const before = fieldOf(merged, name);
  if (isMap(before) && isMap(change)) {
    const field = fieldSchema(schema, name);
    const after = marksOf(field).strategy === "replace" ? change : mergeMaps(before, change, resolveField(field));
    setField(merged, name, after);
    return;
  }
  if (isList(before) && isList(change)) {
    const field = fieldSchema(schema, name);
    setField(merged, name, mergeLists(before, change, { field, ...marksOf(field) }, isDeletion));
    return;
  }
  if (isDeletion) return;
  // Nothing to merge with: the value is taken as it is, without what only tells how to merge.
  const taken = withoutDirectives(withoutNulls(change));
  if (taken === undefined) delete merged[name];
  else setField(merged, name, taken);
}

function mergeLists(
  before: readonly unknown[],
  change: readonly unknown[],
  { field, mergeKey, strategy }: ListMarks,
  isDeletion: boolean,
): readonly unknown[] {
  if (strategy !== "merge" && !isDeletion) return change;
  if (before.length === 0 && change.length === 0) return before;
  if (elementKind(before, change) === "Scalar") {
    if (isDeletion) return before.filter((item) => !change.includes(item));
    const items = [...new Set([...before, ...change])];
    const fromPatch = items.filter((item) => change.includes(item));
    const fromServer = items.filter((item) => !change.includes(item));
    return orderItems({ fromPatch, fromServer, order: change, serverOrder: before, mergeKey: undefined });
  }
  if (mergeKey === undefined) throw new PatchFault("Unsupported", "cannot merge lists without merge key");
  return mergeKeyedLists(before as readonly JsonMap[], change as readonly JsonMap[], mergeKey, itemSchema(field));
}

function mergeKeyedLists(
  before: readonly JsonMap[],
  change: readonly JsonMap[],
  mergeKey: string,
  schema: StrategicSchema,
): readonly unknown[] {
  let kept = before;
  let replace = false;
  const items: JsonMap[] = [];
  for (const item of change) {
    const wanted = fieldOf(item, directive);
    if (wanted === undefined) items.push(item);
    else if (wanted === "replace") replace = true;
    else if (wanted === "delete") {
      const identity = identityOf(item, mergeKey);
      kept = kept.filter((other) => fieldOf(other, mergeKey) !== identity);
    } else if (wanted === "merge") {
      throw new PatchFault("Unsupported", "merging lists cannot yet be specified in the patch");
    } else throw unknownPatchType(wanted);
  }
  // `$patch: replace` anywhere in the list makes the other items the whole new list.
  if (replace) return items;
  const merged: JsonMap[] = [...kept];
  for (const item of items) {
    const identity = identityOf(item, mergeKey);
    const index = merged.findIndex((other) => fieldOf(other, mergeKey) === identity);
    const target = merged[index];
    if (target) merged[index] = mergeMaps(target, item, schema);
    else merged.push(item);
  }
  const fromPatch = merged.filter((item) => presentIn(items, item, mergeKey));
  const fromServer = merged.filter((item) => !presentIn(items, item, mergeKey));
  return orderItems({ fromPatch, fromServer, order: items, serverOrder: kept, mergeKey });
}

const unknownPatchType = (wanted: unknown): PatchFault =>
  new PatchFault("Unsupported", `unknown patch type: ${typeof wanted === "string" ? wanted : JSON.stringify(wanted)}`);

const without = (map: JsonMap, name: string): JsonMap =>
  Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));

function withoutNulls(value: unknown): unknown {
  if (isList(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}

/** Undefined for a map that is itself a directive. */
function withoutDirectives(value: unknown): unknown {
  if (isList(value)) return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isMap(value)) return value;
  if (Object.hasOwn(value, directive)) return undefined;
  const entries = Object.entries(value).map(([name, member]) => [name, withoutDirectives(member)] as const);
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}

function marksOf(field: StrategicSchema | undefined): Pick<ListMarks, "mergeKey" | "strategy"> {
  const strategies = field?.schema["x-kubernetes-patch-strategy"]?.split(",") ?? [];
  return {
    mergeKey: field?.schema["x-kubernetes-patch-merge-key"],
    strategy: strategies.find((strategy) => strategy !== "retainKeys"),
  };
}

/** The schema of one field with its own marks, not yet resolved. */
function fieldSchema({ schema, definitions }: StrategicSchema, name: string): StrategicSchema | undefined {
  const { properties, additionalProperties } = schema;
  const found = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return typeof found === "object" ? { schema: found, ...(definitions && { definitions }) } : undefined;
}

const anything: StrategicSchema = { schema: {} };

const resolveField = (field: StrategicSchema | undefined): StrategicSchema => (field ? resolve(field) : anything);

function itemSchema(field: StrategicSchema | undefined): StrategicSchema {
  if (!field) return anything;
  const { schema, definitions } = resolve(field);
  return schema.items ? resolve({ schema: schema.items, ...(definitions && { definitions }) }) : anything;
}

function resolve(given: StrategicSchema): StrategicSchema {
  const { schema, definitions } = given;
  const reference = schema.$ref ?? (schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined);
  if (reference === undefined) return given;
  const name = reference.slice(reference.lastIndexOf("/") + 1);
  const target = definitions && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!target) return anything;
  return { schema: target, ...(definitions && { definitions }) };
}
