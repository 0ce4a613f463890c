import type { JsonPatchOperation } from "../client/client.ts";
import { deepEqual } from "../kube/equality.ts";
import { formatPointer } from "../kube/json-pointer.ts";

/** The JSON patch from one value to another. Objects are compared member by member; a list that differs is replaced. */
export function jsonDifference(
  from: unknown,
  to: unknown,
  path: readonly string[] = [],
): readonly JsonPatchOperation[] {
  if (deepEqual(from, to)) return [];
  if (!isPlain(from) || !isPlain(to)) return [{ op: "replace", path: formatPointer(path), value: to }];
  const operations: JsonPatchOperation[] = [];
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && to[key] === undefined)
      operations.push({ op: "remove", path: formatPointer([...path, key]) });
  }
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    if (from[key] === undefined) operations.push({ op: "add", path: formatPointer([...path, key]), value });
    else operations.push(...jsonDifference(from[key], value, [...path, key]));
  }
  return operations;
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
