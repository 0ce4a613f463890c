import type { Job } from "../../api/builtin/job.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";

export type JobStatus = NonNullable<Job["status"]>;
export type JobCondition = NonNullable<JobStatus["conditions"]>[number];

/** How a Job ends: first the target, while its last pods still end, then the end itself. */
export interface JobEnd {
  readonly kind: "Success" | "Failure";
  readonly reason: string;
  readonly message: string;
}

export const isFinished = ({ status }: Job): boolean =>
  isConditionTrue(status?.conditions, "Complete") || isConditionTrue(status?.conditions, "Failed");

/** The end that was decided earlier. */
export function decidedEnd({ status }: Job): JobEnd | undefined {
  for (const [type, kind] of [
    ["FailureTarget", "Failure"],
    ["SuccessCriteriaMet", "Success"],
  ] as const) {
    const condition = findCondition(status?.conditions, type);
    if (condition?.status === "True") return { kind, reason: condition.reason ?? "", message: condition.message ?? "" };
  }
  return undefined;
}

export function withCondition(
  conditions: readonly JobCondition[],
  type: string,
  status: "True" | "False",
  reason: string,
  message: string,
  now: Date,
): readonly JobCondition[] {
  const current = findCondition(conditions, type);
  if (current?.status === status && current.reason === reason) return conditions;
  const at = formatTime(now);
  const next: JobCondition = { type, status, lastProbeTime: at, lastTransitionTime: at, reason, message };
  return current === undefined ? [...conditions, next] : conditions.map((one) => (one.type === type ? next : one));
}

export function withEnd(
  conditions: readonly JobCondition[],
  end: JobEnd,
  isOver: boolean,
  now: Date,
): readonly JobCondition[] {
  const [target, last] = end.kind === "Success" ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
  const aimed = withCondition(conditions, target ?? "", "True", end.reason, end.message, now);
  return isOver ? withCondition(aimed, last ?? "", "True", end.reason, end.message, now) : aimed;
}
