import type { Refused, Write } from "../../runtime/write.ts";
import { childId, childKindOf, childKindRef } from "./child-kinds.ts";
import { type Decision, isQuota } from "./evaluate.ts";
import { enforce, enforcerManager, enforcerObject } from "./nfr/enforce.ts";
import { heldOf } from "./nfr/held-values.ts";
import type { Enforced } from "./nfr/reduce-enforcement.ts";
import type { Anomaly } from "./pod-trouble.ts";
import type { WantedChild } from "./templates/template.ts";

export interface Outcome {
  /** Children that were written. */
  readonly applied: readonly string[];
  readonly removed: readonly string[];
  /** What the API refused, as reasons to be degraded; the rest was still done. */
  readonly refusals: readonly Anomaly[];
  readonly enforced: readonly Enforced[];
}

/**
 * Applies what is missing or different, then removes what is not wanted. Never with force: a field that belongs to somebody
 * else is a conflict that a person has to see.
 */
export async function act(decision: Decision, write: Write): Promise<Outcome> {
  const applied: string[] = [];
  const removed: string[] = [];
  const refusals: Anomaly[] = [];
  for (const child of decision.apply) {
    const kind = childKindOf(child.kind);
    const id = childId(kind, child.name);
    const exists = decision.observed.has(id);
    if (exists) await handOver(child, decision, write);
    const answer = await write.apply(childKindRef(kind), child.object);
    if (answer.ok) {
      applied.push(id);
      if (!exists) await handOver(child, decision, write);
    } else
      refusals.push({
        ...refusalOf(id, answer),
        ...(child.functionKey !== undefined && { functionKey: child.functionKey }),
      });
  }
  for (const { kind, object } of decision.remove) {
    const id = childId(kind, object.metadata.name);
    const answer = await write.delete(childKindRef(kind), object);
    if (answer.ok) removed.push(id);
    // A namesake has taken its place: the next look decides about that one.
    else if (answer.reason !== "Conflict") refusals.push(refusalOf(id, answer));
  }
  const enforced = refusals.length === 0 ? await enforce(decision.enforcement.changes, write) : [];
  return { applied, removed, refusals, enforced };
}

/**
 * Gives what is left out of our own apply to the enforcer's field manager, before it or, for a new object, right after: a
 * field that nobody owns would fall back to its default.
 */
async function handOver(child: WantedChild, { observed }: Decision, write: Write): Promise<void> {
  if (child.left === undefined) return;
  const kind = childKindOf(child.kind);
  const present = observed.get(childId(kind, child.name))?.object;
  const values = present ? heldOf(kind, present, child.left) : (child.initial ?? {});
  const { replicas = 1, ...resources } = values;
  if (replicas === 1 && Object.keys(resources).length === 0) return;
  const object = present ?? { apiVersion: "", kind: "", metadata: { ...child.object.metadata } };
  // A refusal here only means that somebody else holds the values already, which is just as good.
  await write.apply(childKindRef(kind), enforcerObject({ kind, object }, values), { fieldManager: enforcerManager });
}

function refusalOf(id: string, { reason, message, causes }: Refused): Anomaly {
  if (reason === "Conflict") {
    const fields = [...new Set(causes.flatMap(({ field }) => field ?? []))].sort().join(", ");
    const where = fields === "" ? "" : ` Fields: ${fields}.`;
    return { reason: "Conflict", message: `Field manager ownership conflict applying ${id}.${where}` };
  }
  if (reason === "Invalid" || reason === "BadRequest") {
    return { reason: "ApplyInvalid", message: `Validation failed: ${message}.` };
  }
  if (isQuota(message)) return { reason: "QuotaExceeded", message: `${id} exceeds a quota: ${message}` };
  return { reason: "ApplyFailed", message: `${id} was refused (${reason}): ${message}` };
}
