import { decodeJson } from "./decode.ts";
import type { Draft } from "./draft.ts";
import { wireStructOf } from "./wire-types.ts";

/** The two spellings of an event: `v1` and `events.k8s.io/v1`. Nothing is lost on the way there and back. */

const renamed: readonly (readonly [core: string, modern: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

export function toCoreEvent(event: Draft): Draft {
  return rename(event, "v1", new Map(renamed.map(([core, modern]) => [modern, core])));
}

export function toModernEvent(event: Draft): Draft {
  return rename(event, "events.k8s.io/v1", new Map(renamed));
}

function rename(event: Draft, apiVersion: string, names: ReadonlyMap<string, string>): Draft {
  const result: Draft = {};
  for (const [field, value] of Object.entries(event)) result[names.get(field) ?? field] = value;
  const struct = wireStructOf(apiVersion, "Event");
  // Each version writes its own empty fields.
  return struct ? (decodeJson(struct, { ...result, apiVersion }).object as Draft) : { ...result, apiVersion };
}
