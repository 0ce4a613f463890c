/** `metadata.managedFields` read into owners by identity, and written back in the order of the real server. */
import { compareUtf8 } from "../go-text.ts";
import type { ManagedFieldsEntry } from "../object.ts";
import { readFieldsV1, writeFieldsV1 } from "./fields-v1.ts";
import { isList, isMap } from "./json-value.ts";
import type { Managers, Ownership } from "./updater.ts";

/** Owners and times, both by manager identity. */
export interface Managed {
  readonly owners: Managers;
  readonly times: ReadonlyMap<string, string>;
}

export const nobody: Managed = { owners: new Map(), times: new Map() };

/** Who a manager is: all of an entry but its fields and its time. */
export interface ManagerIdentity {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly subresource?: string;
}

/** The key of a manager. An applier is the same one whatever version it applies in; an updater is not. */
export function identityKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const parts: string[] = [];
  if (manager) parts.push(`"manager":${JSON.stringify(manager)}`);
  if (operation) parts.push(`"operation":"${operation}"`);
  if (apiVersion && operation !== "Apply") parts.push(`"apiVersion":${JSON.stringify(apiVersion)}`);
  if (subresource) parts.push(`"subresource":${JSON.stringify(subresource)}`);
  return `{${parts.join(",")}}`;
}

export function identityOf(key: string): ManagerIdentity {
  const known = identities.get(key);
  if (known) return known;
  const identity = JSON.parse(key) as ManagerIdentity;
  if (identities.size >= maxKnownIdentities) identities.clear();
  identities.set(key, identity);
  return identity;
}

/** A cluster has few managers, and each is met in every object that it writes. */
const identities = new Map<string, ManagerIdentity>();
const maxKnownIdentities = 1000;

export type ReadManaged =
  | { readonly kind: "Read"; readonly managed: Managed }
  | { readonly kind: "Malformed"; readonly message: string };

export function readManagedFields(entries: unknown): ReadManaged {
  const owners = new Map<string, Ownership>();
  const times = new Map<string, string>();
  const list = entries === undefined || entries === null ? [] : entries;
  if (!isList(list)) return malformed("managedFields must be a list");
  for (const [index, entry] of list.entries()) {
    if (!isMap(entry)) return malformed(`managed fields entry ${index} must be an object`);
    const { operation, apiVersion, manager, subresource, time, fieldsType, fieldsV1 } = entry;
    if (operation !== "Apply" && operation !== "Update") return malformed("operation must be `Apply` or `Update`");
    if (typeof apiVersion !== "string" || apiVersion === "") return malformed("apiVersion must not be empty");
    if (fieldsType === undefined || fieldsType === "") {
      return malformed(`missing fieldsType in managed fields entry ${index}`);
    }
    if (fieldsType !== "FieldsV1") {
      return malformed(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
    }
    const read = readFieldsV1(fieldsV1 ?? emptyFields);
    if (read.kind === "Malformed") return malformed(`error decoding set: ${read.message}`);
    const key = identityKey({
      operation,
      apiVersion,
      ...(typeof manager === "string" && { manager }),
      ...(typeof subresource === "string" && { subresource }),
    });
    owners.set(key, { set: read.set, version: apiVersion, applied: operation === "Apply" });
    if (typeof time === "string") times.set(key, time);
  }
  return { kind: "Read", managed: { owners, times } };
}

const emptyFields = {};

const malformed = (message: string): ReadManaged => ({ kind: "Malformed", message });

/** Appliers first, then by time, manager, version and sub-resource; undefined when nobody owns anything. */
export function writeManagedFields({ owners, times }: Managed): readonly ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  const entries: ManagedFieldsEntry[] = [];
  for (const [key, { set, version, applied }] of owners) {
    const { manager, operation, subresource } = identityOf(key);
    const time = times.get(key);
    entries.push({
      ...(manager && { manager }),
      operation: applied ? "Apply" : (operation ?? "Update"),
      apiVersion: version,
      ...(time !== undefined && { time }),
      fieldsType: "FieldsV1",
      fieldsV1: writeFieldsV1(set),
      ...(subresource && { subresource }),
    });
  }
  return entries.sort(compareEntries);
}

function compareEntries(left: ManagedFieldsEntry, right: ManagedFieldsEntry): number {
  return (
    compareUtf8(left.operation ?? "", right.operation ?? "") ||
    secondsOf(left.time) - secondsOf(right.time) ||
    compareUtf8(left.manager ?? "", right.manager ?? "") ||
    compareUtf8(left.apiVersion ?? "", right.apiVersion ?? "") ||
    compareUtf8(left.subresource ?? "", right.subresource ?? "")
  );
}

/** Whole seconds since 1970; entries without a time count as oldest. */
export function secondsOf(time: string | undefined): number {
  const milliseconds = time === undefined ? 0 : Date.parse(time);
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
}
