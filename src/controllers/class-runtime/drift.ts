import { deepEqual } from "../../kube/equality.ts";

/**
 * Whether an object already says everything that we want of it. Fields and list entries that others have added do not
 * matter; entries of lists are told apart by the key that the API merges them by.
 */
export function holds(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  // The server does not keep empty lists.
  if (Array.isArray(wanted)) return Array.isArray(actual) ? listHolds(actual, wanted) : wanted.length === 0;
  if (typeof wanted !== "object" || wanted === null) return deepEqual(actual, wanted);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual))
    return actual === undefined && isEmpty(wanted);
  return Object.entries(wanted).every(([key, value]) => holds((actual as Members)[key], value));
}

type Members = Readonly<Record<string, unknown>>;

const isEmpty = (value: object): boolean => Object.values(value).every((member) => member === undefined);

function listHolds(actual: readonly unknown[], wanted: readonly unknown[]): boolean {
  return wanted.every((item, index) => {
    const key = keyOf(item);
    if (key === undefined) return holds(actual[index], item);
    return actual.some((candidate) => keyOf(candidate, key.field)?.value === key.value && holds(candidate, item));
  });
}

const keyFields = ["uid", "name", "containerPort", "port", "type"] as const;

function keyOf(item: unknown, only?: string): { readonly field: string; readonly value: unknown } | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const field = only ?? keyFields.find((candidate) => candidate in item);
  return field === undefined ? undefined : { field, value: (item as Members)[field] };
}
