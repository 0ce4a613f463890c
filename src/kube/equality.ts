import type { KubeObject } from "./object.ts";

/** Equality of JSON values: the order of keys does not count, and a missing member equals an undefined one. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return Number.isNaN(left) && Number.isNaN(right);
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => deepEqual(item, right[index]));
  }
  return membersEqual(left as Members, right as Members);
}

/**
 * Whether two versions of an object say the same. What the server stamps on every write (resourceVersion, managedFields)
 * does not count; the generation does not either, because it only tells that something else differs.
 */
export function sameContent(left: KubeObject, right: KubeObject): boolean {
  if (left === right) return true;
  const { metadata: leftMetadata, ...leftRest } = left;
  const { metadata: rightMetadata, ...rightRest } = right;
  return deepEqual(stable(leftMetadata), stable(rightMetadata)) && deepEqual(leftRest, rightRest);
}

/** Whether everything that `wanted` states is already so in `actual`; fields that it does not mention may be anything. */
export function contains(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) return deepEqual(actual, wanted);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual)) return false;
  return Object.entries(wanted).every(([key, value]) => contains((actual as Members)[key], value));
}

type Members = Readonly<Record<string, unknown>>;

function membersEqual(left: Members, right: Members): boolean {
  let defined = 0;
  for (const key of Object.keys(left)) {
    if (left[key] === undefined) continue;
    if (!Object.hasOwn(right, key) || !deepEqual(left[key], right[key])) return false;
    defined += 1;
  }
  for (const key of Object.keys(right)) if (right[key] !== undefined) defined -= 1;
  return defined === 0;
}

function stable(metadata: KubeObject["metadata"]): unknown {
  const { resourceVersion: _version, managedFields: _fields, generation: _generation, ...rest } = metadata;
  return rest;
}
