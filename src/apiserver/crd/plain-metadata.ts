import type { ObjectMeta } from "../../kube/object.ts";

/**
 * Whether metadata is already in the form of its type, field by field: then decoding it would give the same again. Nearly
 * all metadata is, and this look costs a tenth of the decoding. What is doubtful counts as not plain.
 */
export function isPlainMetadata(value: unknown): value is ObjectMeta {
  if (!isMembers(value)) return false;
  for (const field in value) if (!plain[field]?.(value[field])) return false;
  return true;
}

type Look = (value: unknown) => boolean;

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Look = (value) => typeof value === "string" && value !== "";
const isCount: Look = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isTime: Look = (value) =>
  typeof value === "string" && /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ$/.test(value);
const isTexts: Look = (value) => {
  if (!isMembers(value)) return false;
  let count = 0;
  for (const key in value) {
    if (typeof value[key] !== "string") return false;
    count++;
  }
  return count > 0;
};
const isTextList: Look = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
const isManagers: Look = (value) => Array.isArray(value) && value.length > 0 && value.every(isManager);

const managerFields: Readonly<Record<string, Look>> = {
  manager: isText,
  operation: isText,
  apiVersion: isText,
  time: isTime,
  fieldsType: isText,
  fieldsV1: isMembers,
  subresource: isText,
};

function isManager(value: unknown): boolean {
  if (!isMembers(value)) return false;
  for (const field in value) if (!managerFields[field]?.(value[field])) return false;
  return true;
}

const plain: Readonly<Record<string, Look>> = {
  name: isText,
  generateName: isText,
  namespace: isText,
  uid: isText,
  resourceVersion: isText,
  generation: isCount,
  creationTimestamp: isTime,
  deletionTimestamp: isTime,
  labels: isTexts,
  annotations: isTexts,
  finalizers: isTextList,
  managedFields: isManagers,
};
