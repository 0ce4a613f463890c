import type { Job } from "../../api/builtin/job.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { FailureReason } from "../../api/kubernetes-execution-status.ts";
import { annotations } from "../../api/well-known.ts";
import { durationMs, parseDurationMs } from "../../kube/duration.ts";
import { givenApproval } from "./approval/approval.ts";
import { belongsTo, jobStateOf } from "./job-state.ts";
import { jobFinalizer } from "./names.ts";
import { specHashOf } from "./spec-hash.ts";

export interface Settings {
  readonly approvalTimeoutMs: number;
  readonly rollbackRetentionMs: number;
  readonly protectedNamespaces: readonly string[];
  /** Our own image. */
  readonly image: string;
  /** What policies know this cluster by. */
  readonly clusterName?: string;
}

export const defaultSettings: Omit<Settings, "image"> = {
  approvalTimeoutMs: 3_600_000,
  rollbackRetentionMs: 3_600_000,
  protectedNamespaces: [],
};

/** What is known of one execution when it is reconciled. */
export interface Observation {
  readonly execution: KubernetesExecution;
  /** The one that has the effect. */
  readonly job?: Job;
  readonly dryRunJob?: Job;
  readonly frozen: boolean;
  readonly now: Date;
  readonly settings: Settings;
}

/** The one thing to do next. */
export type Step =
  | { readonly kind: "Validate"; readonly again: boolean }
  | { readonly kind: "AwaitApproval"; readonly untilMs: number }
  | { readonly kind: "Hold" }
  | { readonly kind: "Start" }
  | { readonly kind: "AwaitJob"; readonly untilMs: number }
  /** The Job has ended well: read its result and look whether the world is as it should be. */
  | { readonly kind: "Verify"; readonly job: Job }
  | { readonly kind: "JobFailed"; readonly job: Job; readonly reason: FailureReason; readonly message: string }
  | { readonly kind: "JobLost" }
  | { readonly kind: "Fail"; readonly reason: FailureReason; readonly message: string }
  | { readonly kind: "Cancel"; readonly job?: Job }
  | { readonly kind: "Keep"; readonly untilMs: number }
  | { readonly kind: "Finalize"; readonly as: "completed" | "rolled-back"; readonly why: string }
  /** Its result is in the status: the Job may go. */
  | { readonly kind: "Release"; readonly jobs: readonly Job[] }
  | { readonly kind: "Nothing" };

export function evaluate(observation: Observation): Step {
  const { execution } = observation;
  switch (execution.status?.phase) {
    case undefined:
    case "validating":
      if (execution.spec.cancel) return { kind: "Cancel" };
      return { kind: "Validate", again: false };
    case "validated":
      return beforeStart(observation);
    case "waiting_approval":
      return waitingForApproval(observation);
    case "executing":
      return executing(observation);
    case "rollback_ready":
      return keeping(observation);
    case "completed":
    case "failed":
      return release(observation) ?? { kind: "Nothing" };
  }
}

/** Everything is fine and nobody need be asked: start, unless somebody has stopped everything. */
function beforeStart({ execution, job, frozen, now }: Observation): Step {
  // A Job that is there was made by us before we could say so; whatever else holds now, it runs.
  if (job && belongsTo(job, execution.metadata.uid)) return { kind: "Start" };
  if (execution.spec.cancel) return { kind: "Cancel" };
  if (frozen) return { kind: "Hold" };
  // What was found out long ago says nothing about now: look again, and capture the rollback again.
  return isValidatedStill(execution, now) ? { kind: "Start" } : { kind: "Validate", again: true };
}

/** Somebody's word may come after the policies or the target have changed: it is always looked at again behind it (F45). */
function isValidatedStill(execution: KubernetesExecution, now: Date): boolean {
  const { validationTime } = execution.status ?? {};
  if (validationTime === undefined || sinceMs(validationTime, now) > validationKeepsMs) return false;
  const approvedAt = givenApproval(execution)?.at;
  return approvedAt === undefined || new Date(validationTime) >= new Date(approvedAt);
}

function waitingForApproval(observation: Observation): Step {
  const { execution, now, settings } = observation;
  if (observation.job && belongsTo(observation.job, execution.metadata.uid)) return { kind: "Start" };
  if (execution.spec.cancel) return { kind: "Cancel" };
  const deadlineMs = timeOf(execution.status?.phaseStartTime, now) + settings.approvalTimeoutMs;
  const verdict = approvalOf(execution, deadlineMs);
  if (verdict.kind === "Rejected") return { kind: "Fail", reason: "approval_rejected", message: verdict.message };
  if (verdict.kind === "Approved") return beforeStart(observation);
  if (now.getTime() >= deadlineMs)
    return { kind: "Fail", reason: "approval_timeout", message: "nobody has approved it in time" };
  return { kind: "AwaitApproval", untilMs: deadlineMs };
}

export type ApprovalVerdict =
  | { readonly kind: "None" }
  | { readonly kind: "Approved"; readonly by: string }
  | { readonly kind: "Rejected"; readonly message: string };

/** Only another person's word about exactly this spec, given in time, counts (S4, S5). */
export function approvalOf(execution: KubernetesExecution, deadlineMs: number): ApprovalVerdict {
  const approval = givenApproval(execution);
  if (approval === undefined || approval.by === "") return { kind: "None" };
  if (approval.decision === "Rejected")
    return {
      kind: "Rejected",
      message: `${approval.by} has rejected it${approval.reason ? `: ${approval.reason}` : ""}`,
    };
  if (approval.specHash !== specHashOf(execution.spec)) return { kind: "None" };
  const { [annotations.requestedBy]: requester, [annotations.plannedBy]: planner } =
    execution.metadata.annotations ?? {};
  if (approval.by === requester || approval.by === planner) return { kind: "None" };
  if (new Date(approval.at).getTime() > deadlineMs) return { kind: "None" };
  return { kind: "Approved", by: approval.by };
}

function executing({ execution, job, now }: Observation): Step {
  const { jobUID, phaseStartTime } = execution.status ?? {};
  if (job === undefined || job.metadata.uid !== jobUID) return { kind: "JobLost" };
  const state = jobStateOf(job);
  if (state.kind === "Succeeded") return { kind: "Verify", job };
  if (state.kind === "Failed") {
    const reason = state.timedOut ? "execution_timeout" : "execution_failed";
    return { kind: "JobFailed", job, reason, message: state.message };
  }
  if (execution.spec.cancel) return { kind: "Cancel", job };
  const deadlineMs = timeOf(phaseStartTime, now) + timeoutMsOf(execution) + jobGraceMs;
  // The Job's own deadline comes first; this is for a cluster whose Job controller does not do its work.
  if (now.getTime() >= deadlineMs)
    return { kind: "JobFailed", job, reason: "execution_timeout", message: "the Job did not end in time" };
  return { kind: "AwaitJob", untilMs: deadlineMs };
}

function keeping(observation: Observation): Step {
  const { execution, now, settings } = observation;
  const freed = release(observation);
  if (freed) return freed;
  const wish = execution.metadata.annotations?.[annotations.finalize];
  if (wish === "completed" || wish === "rolled-back")
    return { kind: "Finalize", as: wish, why: `its parent has marked it ${wish}` };
  const untilMs = timeOf(execution.status?.phaseStartTime, now) + settings.rollbackRetentionMs;
  if (now.getTime() >= untilMs)
    return { kind: "Finalize", as: "completed", why: "nobody has asked for a rollback in time" };
  return { kind: "Keep", untilMs };
}

function release({ execution, job, dryRunJob }: Observation): Step | undefined {
  const jobs = [job, dryRunJob].filter(
    (candidate): candidate is Job =>
      candidate !== undefined &&
      belongsTo(candidate, execution.metadata.uid) &&
      (candidate.metadata.finalizers?.includes(jobFinalizer) ?? false),
  );
  return jobs.length > 0 ? { kind: "Release", jobs } : undefined;
}

export function timeoutMsOf({ spec }: KubernetesExecution): number {
  const read = parseDurationMs(spec.timeout ?? "5m");
  return Math.min(Math.max(read.ok ? read.value : 0, minTimeoutMs), maxTimeoutMs);
}

const timeOf = (time: string | undefined, now: Date): number =>
  time === undefined ? now.getTime() : new Date(time).getTime();
const sinceMs = (time: string | undefined, now: Date): number =>
  time === undefined ? Number.POSITIVE_INFINITY : now.getTime() - new Date(time).getTime();

export const validationKeepsMs = durationMs("30s");
const minTimeoutMs = durationMs("1s");
const maxTimeoutMs = durationMs("15m");
const jobGraceMs = durationMs("60s");
