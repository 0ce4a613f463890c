/** Keeps the list of updaters short: the oldest ones are merged into one entry per version. */
import { compareUtf8 } from "../go-text.ts";
import { union } from "./field-set.ts";
import { identityKey, type Managed, secondsOf } from "./managed-fields.ts";

export const maxUpdateManagers = 10;

const ancientManager = "ancient-changes";

export function capUpdateManagers(managed: Managed): Managed {
  const updaters = [...managed.owners.keys()].filter((key) => managed.owners.get(key)?.applied === false);
  if (updaters.length <= maxUpdateManagers) return managed;
  const age = (key: string): number => secondsOf(managed.times.get(key));
  updaters.sort((left, right) => age(left) - age(right) || compareUtf8(left, right));

  const owners = new Map(managed.owners);
  const times = new Map(managed.times);
  const firstOfVersion = new Map<string, string>();
  let remaining = updaters.length;
  for (const key of updaters) {
    if (remaining <= maxUpdateManagers) break;
    const ownership = owners.get(key);
    if (!ownership) continue;
    const first = firstOfVersion.get(ownership.version);
    if (first === undefined) {
      firstOfVersion.set(ownership.version, key);
      continue;
    }
    const bucket = identityKey({ manager: ancientManager, operation: "Update", apiVersion: ownership.version });
    const oldest = owners.get(bucket) ?? owners.get(first);
    if (!owners.has(bucket)) owners.delete(first);
    owners.delete(key);
    owners.set(bucket, { ...ownership, set: oldest ? union(ownership.set, oldest.set) : ownership.set });
    remaining -= 1;
    // The merged entry is as old as the youngest change in it.
    const time = managed.times.get(key);
    if (time === undefined) times.delete(bucket);
    else times.set(bucket, time);
  }
  return { owners, times };
}
