import type { KubeObject, ObjectMeta } from "../object.ts";
import { isList, isMap } from "./json-value.ts";
import { type Managed, nobody, readManagedFields } from "./managed-fields.ts";

/** Whose managers an update starts from: those it brings along, unless it brings none or may not bring any. */
export function startingManagers(
  live: KubeObject | undefined,
  updated: KubeObject,
  { subresource, isBuiltIn }: { readonly subresource: string; readonly isBuiltIn: boolean },
): Managed {
  if (subresource === "") {
    // Written by a client, so not even metadata is certain.
    const given: unknown = (updated.metadata as ObjectMeta | undefined)?.managedFields;
    if (isReset(given, isBuiltIn)) return nobody;
    const read = readManagedFields(given);
    if (read.kind === "Read" && read.managed.owners.size > 0) return read.managed;
  }
  const read = readManagedFields(live?.metadata.managedFields);
  return read.kind === "Read" ? read.managed : nobody;
}

/** One empty entry asks to forget all managers; so does an empty list, but custom resources cannot tell it from none. */
function isReset(managedFields: unknown, emptyListCounts: boolean): boolean {
  if (!isList(managedFields)) return false;
  if (managedFields.length === 0) return emptyListCounts;
  const [first] = managedFields;
  return managedFields.length === 1 && isMap(first) && Object.keys(first).length === 0;
}
