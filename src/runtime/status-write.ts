import { deepEqual } from "../kube/equality.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import type { ReconcileContext } from "./controller.ts";

/** `Outdated`: the object has changed since it was read, so the status would be about something else. */
export type StatusWritten = "Written" | "Unchanged" | "Outdated" | "Gone";

/** Writes a status if it differs from what is there, for exactly the object and version that it was computed from. */
export async function writeStatus<T extends KubeObject>(
  kind: KindRef<T> & { readonly statusSubresource?: boolean },
  object: T,
  status: unknown,
  context: Pick<ReconcileContext, "read" | "write">,
): Promise<StatusWritten> {
  const latest = context.read.get(kind, object.metadata);
  if (latest === undefined || latest.metadata.uid !== object.metadata.uid) return "Gone";
  const { uid, resourceVersion, generation } = latest.metadata;
  const present = statusOf(latest);
  // A new specification, or a status that somebody else has written meanwhile: what we computed is about the past.
  if (generation !== object.metadata.generation || !deepEqual(present, statusOf(object))) return "Outdated";
  const patch = mergeDifference(present, status);
  if (patch === undefined) return "Unchanged";
  const written = await context.write.patch(
    kind,
    latest.metadata,
    { type: "merge", value: { metadata: { uid, resourceVersion }, status: patch } },
    kind.statusSubresource === false ? {} : { subresource: "status" },
  );
  if (written.ok) return "Written";
  if (written.reason === "Conflict") return "Outdated";
  if (written.reason === "NotFound") return "Gone";
  throw new Error(
    `cannot write the status of ${kind.kind} ${latest.metadata.name}: ${written.reason}: ${written.message}`,
  );
}

/** The merge patch that leads from one value to the other; undefined when they are the same. */
export function mergeDifference(from: unknown, to: unknown): unknown {
  if (deepEqual(from, to)) return undefined;
  if (!isPlain(from) || !isPlain(to)) return to;
  const difference: Record<string, unknown> = {};
  for (const key of Object.keys(from)) if (to[key] === undefined) difference[key] = null;
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const change = mergeDifference(from[key], value);
    if (change !== undefined) difference[key] = change;
  }
  return difference;
}

const statusOf = (object: KubeObject): unknown => (object as { readonly status?: unknown }).status;

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
