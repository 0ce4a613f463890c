/**
 * A Scale object has managers of its own, but they are stored with the object that is scaled: its `replicas` field stands
 * for the Scale's. These two functions go between them.
 */
import type { ManagedFieldsEntry } from "../object.ts";
import { difference, has, isEmpty, type Path, setOf } from "./field-set.ts";
import { type Managed, readManagedFields, writeManagedFields } from "./managed-fields.ts";
import { fieldElement } from "./path-element.ts";
import type { Ownership } from "./updater.ts";

/** For each version of the scaled kind, where its replicas are: `spec.replicas`. */
export type ReplicasPaths = Readonly<Record<string, string>>;

const scaleVersion = "autoscaling/v1";
const replicasInScale = pathOf("spec.replicas");

function pathOf(dotted: string): Path {
  return dotted.replace(/^\./, "").split(".").map(fieldElement);
}

/** The managers of the Scale, made of those who own the replicas of the scaled object. */
export function scaleManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const managed = read(parent);
  const owners = new Map<string, Ownership>();
  for (const [key, { set, version, applied }] of managed.owners) {
    const path = pathFor(paths, version);
    if (!path || !has(set, path)) continue;
    owners.set(key, { set: setOf(replicasInScale), version: scaleVersion, applied });
  }
  return writeManagedFields({ owners, times: managed.times });
}

/** The managers of the scaled object after its Scale was written, seen in the version that the write came in. */
export function parentManagedFields(
  parent: readonly ManagedFieldsEntry[] | undefined,
  scale: readonly ManagedFieldsEntry[] | undefined,
  apiVersion: string,
  paths: ReplicasPaths,
): readonly ManagedFieldsEntry[] | undefined {
  const managed = read(parent);
  const scaleOwners = new Map(read(scale).owners);
  const owners = new Map<string, Ownership>();
  for (const [key, ownership] of managed.owners) {
    const path = pathFor(paths, ownership.version);
    // Nothing is known about a version that is not served.
    if (!path) continue;
    if (!has(ownership.set, path) || scaleOwners.delete(key)) {
      owners.set(key, ownership);
      continue;
    }
    const set = difference(ownership.set, setOf(path));
    if (!isEmpty(set)) owners.set(key, { ...ownership, set });
  }
  const path = pathFor(paths, apiVersion);
  for (const [key, { set, applied }] of scaleOwners) {
    if (path && has(set, replicasInScale)) owners.set(key, { set: setOf(path), version: apiVersion, applied });
  }
  // Times are those of the parent's entries, so a manager that is new here has none, as on the real server.
  return writeManagedFields({ owners, times: managed.times });
}

function pathFor(paths: ReplicasPaths, version: string): Path | undefined {
  const dotted = Object.hasOwn(paths, version) ? paths[version] : undefined;
  return dotted === undefined ? undefined : pathOf(dotted);
}

function read(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
  const result = readManagedFields(entries);
  if (result.kind === "Malformed") throw new RangeError(`managedFields cannot be read: ${result.message}`);
  return result.managed;
}
