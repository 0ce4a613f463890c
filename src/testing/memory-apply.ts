import { deepEqual } from "../kube/equality.ts";
import type { KubeObject, ManagedFieldsEntry } from "../kube/object.ts";
import { Refusal } from "./memory-answers.ts";
import type { Target } from "./memory-api.ts";

/**
 * Server-side apply in small: every leaf (lists count as one) has owners, kept in managedFields as `f:` trees. Applying
 * takes ownership, a different value of another applier's field is a conflict unless forced, and what an applier no longer
 * states goes unless somebody else owns it too.
 */
export function applyTo(
  target: Target,
  old: KubeObject | undefined,
  intent: Record<string, unknown>,
  manager: string,
  force: boolean,
): KubeObject {
  const wanted = leavesOf(intent);
  const entries = (old?.metadata.managedFields ?? []).filter(({ operation }) => operation === "Apply");
  const mine = entries.find(
    (entry) => entry.manager === manager && (entry.subresource ?? "") === (target.subresource ?? ""),
  );
  const others = entries.filter((entry) => entry !== mine);
  let result: unknown = old ?? {};
  const conflicts = [...wanted].flatMap(([path, value]) => {
    const owner = others.find((entry) => ownedPaths(entry).has(path));
    return owner === undefined || deepEqual(valueAt(old, path), value) ? [] : [{ path, manager: owner.manager ?? "" }];
  });
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);
  for (const path of mine === undefined ? [] : ownedPaths(mine)) {
    if (!wanted.has(path) && !others.some((entry) => ownedPaths(entry).has(path)))
      result = without(result, path.split("\0"));
  }
  for (const [path, value] of wanted) result = withValue(result, path.split("\0"), value);
  const kept = others.map((entry) => withoutPaths(entry, new Set(conflicts.map(({ path }) => path))));
  const entry: ManagedFieldsEntry = {
    manager,
    operation: "Apply",
    fieldsType: "FieldsV1",
    fieldsV1: [...wanted.keys()].sort(),
    ...(target.subresource !== undefined && { subresource: target.subresource }),
  };
  const object = result as KubeObject;
  const managedFields = [...kept, entry].sort((a, b) => ((a.manager ?? "") < (b.manager ?? "") ? -1 : 1));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function applyConflict(conflicts: readonly { readonly path: string; readonly manager: string }[]): Refusal {
  const causes = conflicts.map(({ path, manager }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with "${manager}"`,
    field: `.${path.replaceAll("\0", ".")}`,
  }));
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join("\n- ");
  return new Refusal(
    409,
    "Conflict",
    `Apply failed with ${causes.length} conflict${causes.length > 1 ? "s" : ""}: ${list}`,
    { causes },
  );
}

function leavesOf(intent: Record<string, unknown>): Map<string, unknown> {
  const leaves = new Map<string, unknown>();
  const walk = (value: unknown, path: readonly string[]): void => {
    if (isRecord(value) && Object.keys(value).length > 0) {
      for (const [key, member] of Object.entries(value)) walk(member, [...path, key]);
    } else if (!identity.has(path.join("\0")) && value !== undefined) leaves.set(path.join("\0"), value);
  };
  walk(intent, []);
  return leaves;
}

const identity = new Set([
  "apiVersion",
  "kind",
  "metadata\0name",
  "metadata\0namespace",
  "metadata\0uid",
  "metadata\0resourceVersion",
  "metadata\0managedFields",
]);

const ownedPaths = (entry: ManagedFieldsEntry): ReadonlySet<string> =>
  new Set(Array.isArray(entry.fieldsV1) ? entry.fieldsV1.map(String) : []);

const withoutPaths = (entry: ManagedFieldsEntry, paths: ReadonlySet<string>): ManagedFieldsEntry => ({
  ...entry,
  fieldsV1: [...ownedPaths(entry)].filter((path) => !paths.has(path)),
});

function valueAt(object: unknown, path: string): unknown {
  let value = object;
  for (const part of path.split("\0")) value = isRecord(value) ? value[part] : undefined;
  return value;
}

function withValue(node: unknown, [head, ...rest]: readonly string[], value: unknown): unknown {
  // An empty map says that the map is there, not that it is empty.
  if (head === undefined) return isRecord(value) && isRecord(node) ? node : value;
  const members = isRecord(node) ? node : {};
  return { ...members, [head]: withValue(members[head], rest, value) };
}

function without(node: unknown, [head, ...rest]: readonly string[]): unknown {
  if (!isRecord(node) || head === undefined || !(head in node)) return node;
  const { [head]: member, ...left } = node;
  if (rest.length === 0) return left;
  return { ...left, [head]: without(member, rest) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
