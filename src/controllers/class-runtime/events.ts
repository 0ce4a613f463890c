import type { ClassRuntime, ClassRuntimeEvent } from "../../api/class-runtime.ts";
import { findCondition } from "../../kube/condition.ts";
import type { EventNote } from "../../runtime/events.ts";
import type { Outcome } from "./act.ts";
import type { Assessment } from "./assess.ts";
import type { Decision } from "./evaluate.ts";

/** What happened, and only that: a reconcile that changes nothing says nothing. */
export function eventsOf(
  classRuntime: ClassRuntime,
  decision: Decision,
  outcome: Outcome,
  { phase, degraded, message }: Assessment,
): readonly EventNote[] {
  const before = classRuntime.status?.phase ?? "pending";
  const normal = (reason: ClassRuntimeEvent, text: string): EventNote => ({ type: "Normal", reason, message: text });
  const warning = (reason: ClassRuntimeEvent, text: string): EventNote => ({ type: "Warning", reason, message: text });
  const notes: EventNote[] = [];
  if (outcome.applied.length > 0) notes.push(normal("Applied", `Applied ${few(outcome.applied)}`));
  if (outcome.removed.length > 0) notes.push(normal("OrphanDeleted", `Deleted ${few(outcome.removed)}`));
  if (phase === "available" && before !== "available") notes.push(normal("Available", message));
  if (before === "degraded" && phase === "progressing") notes.push(normal("Recovered", message));
  const old = findCondition(classRuntime.status?.conditions, "Degraded");
  if (degraded && (before !== "degraded" || old?.reason !== degraded.reason)) {
    notes.push(warning("Degraded", `${degraded.reason}: ${degraded.message}`));
  }
  for (const note of decision.enforcement.notes) notes.push(normal(note.reason, note.message));
  for (const result of outcome.enforced) {
    const { dimension, target } = result.change;
    notes.push(
      result.ok
        ? normal("NFRApplied", `${dimension} is ${target} now`)
        : warning("NFRApplyFailed", `${result.reason}: ${result.message}`),
    );
  }
  return notes;
}

const maxNamed = 4;

function few(names: readonly string[]): string {
  const more = names.length - maxNamed;
  return `${names.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
