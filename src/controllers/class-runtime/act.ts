import { ClassRuntime } from "../../api/class-runtime.ts";
import type { KubeObject, OwnerReference } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { isQuotaRefusal } from "../../kube/quota/refusal.ts";
import type { Refused, Write } from "../../runtime/write.ts";
import { type ChildKind, childId, childKindOf, childKindRef, isOptional } from "./child-kinds.ts";
import type { Decision } from "./evaluate.ts";
import { enforce, enforcerManager, enforcerObject } from "./nfr/enforce.ts";
import { heldOf } from "./nfr/held-values.ts";
import type { Enforced } from "./nfr/reduce-enforcement.ts";
import type { Anomaly } from "./pod-trouble.ts";
import type { WantedChild } from "./templates/template.ts";

export interface Outcome {
  /** Children that were written. */
  readonly applied: readonly string[];
  readonly removed: readonly string[];
  /** Of those that were removed, the ones that nobody owned. */
  readonly orphans: readonly Anomaly[];
  /** What the API refused, as reasons to be degraded; the rest was still done. */
  readonly refusals: readonly Anomaly[];
  /** Children of a kind that is defined, but not served yet. */
  readonly unserved: readonly string[];
  readonly enforced: readonly Enforced[];
}

/** What has a name in the class's namespace, whoever it belongs to. */
export type Namesake = (kind: ChildKind, name: string) => KubeObject | undefined;

/**
 * Applies what is missing or different, then removes what is not wanted. Never with force: a field or a whole object that
 * belongs to somebody else is a conflict that a person has to see.
 */
export async function act(
  decision: Decision,
  write: Write,
  classRuntime: ClassRuntime,
  namesake: Namesake,
): Promise<Outcome> {
  const applied: string[] = [];
  const removed: string[] = [];
  const refusals: Anomaly[] = [];
  const unserved: string[] = [];
  for (const child of decision.apply) {
    const kind = childKindOf(child.kind);
    const id = childId(kind, child.name);
    const owner = ownerElsewhere(namesake(kind, child.name), classRuntime);
    if (owner) {
      refusals.push({ ...taken(id, owner), ...functionOf(child) });
      continue;
    }
    const exists = decision.observed.has(id);
    if (exists) await handOver(child, decision, write);
    const answer = await write.apply(childKindRef(kind), child.object);
    if (answer.ok) {
      applied.push(id);
      if (!exists) await handOver(child, decision, write);
    } else if (isOptional(kind) && answer.reason === "NotFound") unserved.push(id);
    else refusals.push({ ...refusalOf(id, answer), ...functionOf(child) });
  }
  // What is left of an earlier spec may still serve, so it goes only when what follows it is there.
  const isDone = refusals.length === 0 && unserved.length === 0;
  for (const { kind, object } of isDone ? decision.remove : []) {
    const id = childId(kind, object.metadata.name);
    const answer = await write.delete(childKindRef(kind), object);
    if (answer.ok) removed.push(id);
    // A namesake has taken its place: the next look decides about that one.
    else if (answer.reason !== "Conflict") refusals.push(refusalOf(id, answer));
  }
  const enforced = isDone && refusals.length === 0 ? await enforce(decision.enforcement.changes, write) : [];
  const orphans = isDone ? decision.anomalies.filter(({ reason }) => reason === "Orphaned") : [];
  return { applied, removed, orphans, refusals, unserved, enforced };
}

const functionOf = ({ functionKey }: WantedChild): Pick<Anomaly, "functionKey"> =>
  functionKey === undefined ? {} : { functionKey };

/**
 * Two classes can mean the same name: `a.b` and `a-b`, or `x` with several functions and `x-fn-0`. Both write as one field
 * manager, so the API would let the second take the object from the first.
 */
function ownerElsewhere(object: KubeObject | undefined, { metadata }: ClassRuntime): OwnerReference | undefined {
  const owner = object && controllerOf(object);
  const isOurs = owner?.uid === metadata.uid || (owner?.kind === ClassRuntime.kind && owner.name === metadata.name);
  return isOurs ? undefined : owner;
}

const taken = (id: string, { kind, name }: OwnerReference): Anomaly => ({
  reason: "Conflict",
  message: `Field manager ownership conflict applying ${id}. It belongs to ${kind}/${name}.`,
});

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
  if (isQuotaRefusal(message)) return { reason: "QuotaExceeded", message: `${id} does not fit a quota: ${message}` };
  return { reason: "ApplyFailed", message: `${id} was refused (${reason}): ${message}` };
}
