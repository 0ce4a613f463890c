/** A write that changes nothing but the times of its managers is no write. */
import type { KubeObject } from "../object.ts";
import { equalJson } from "./json-value.ts";

/** `next`, with the times of `live` where everything else is equal, so that storing it is seen to change nothing. */
export function keepTimesIfUnchanged(live: KubeObject, next: KubeObject): KubeObject {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (!before || !after || before.length !== after.length || after.length === 0) return next;
  if (after.every((entry, index) => entry.time === before[index]?.time)) return next;
  const restored = after.map((entry, index) => ({ ...entry, time: before[index]?.time }));
  if (!equalJson(restored, before)) return next;
  const candidate = { ...next, metadata: { ...next.metadata, managedFields: before } };
  return equalJson(candidate, live) ? candidate : next;
}
