import type { Job } from "../../api/builtin/job.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import { isConditionTrue } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { EventNote } from "../../runtime/events.ts";
import { lookAfterDeletionMs } from "../workloads/manage-pods.ts";
import { isPodActive, isPodFinished, isPodReady, isPodTerminating, timeMs } from "../workloads/pod-facts.ts";
import { decidedEnd, type JobEnd, type JobStatus, withCondition, withEnd } from "./conditions.ts";
import { formatIndexes, parseIndexes } from "./indexes.ts";
import { failedIndexes, hasLimitPerIndex, maxFailedIndexesOf, triesOf } from "./per-index.ts";
import { failureAction, indexOf, isFailed, isIndexed, isTracked, replacesOnlyFailed } from "./pod-facts.ts";
import { fulfilledRule } from "./success-policy.ts";

export interface JobSnapshot {
  readonly job: Job;
  /** All pods that the Job controls. */
  readonly pods: readonly Pod[];
  readonly now: Date;
  /** Until when no new pod may be started, because the last ones failed. */
  readonly notBeforeMs: number;
  /** How long an index waits after so many failures of its own, where each has its own tries. */
  readonly indexDelayMs?: (failures: number) => number;
}

export interface JobDecision {
  /** Written before finalizers are removed, so that no pod that ended is ever forgotten; absent when nothing ended. */
  readonly announced?: JobStatus;
  readonly release: readonly Pod[];
  readonly remove: readonly Pod[];
  /** The indexes of the pods to make; undefined for pods that have none. */
  readonly create: readonly (number | undefined)[];
  /** Written at the end. */
  readonly status: JobStatus;
  readonly events: readonly EventNote[];
  readonly newFailures: number;
  readonly newSuccesses: number;
  readonly lookAgainMs?: number;
}

/** What is to be done for a Job that has not finished; pure. */
export function evaluate(snapshot: JobSnapshot): JobDecision {
  const { job, pods, now } = snapshot;
  const before = job.status ?? {};
  const isSuspended = job.spec.suspend === true;
  const tally = count(job, pods, isSuspended);
  const active = pods.filter((pod) => isPodActive(pod) && !tally.ended.has(uidOf(pod)));
  const startTime = isSuspended ? undefined : (before.startTime ?? formatTime(now));
  const end = decidedEnd(job) ?? (isSuspended ? undefined : endOf(snapshot, tally, active, startTime));
  const plan = end === undefined ? manage(snapshot, tally, active, isSuspended) : { create: [], remove: active };
  const gone = new Set(plan.remove.map(uidOf));
  const staying = active.filter((pod) => !gone.has(uidOf(pod)));
  const stillEnding = pods.filter((pod) => isPodTerminating(pod) && !isPodFinished(pod)).length + plan.remove.length;
  const isOver = end !== undefined && stillEnding === 0 && staying.length === 0;
  const events: EventNote[] = [];
  let conditions = before.conditions ?? [];
  if (end !== undefined) {
    conditions = withEnd(conditions, end, isOver, now);
    if (isOver) events.push(endEvent(end));
  }
  const suspension = suspend(conditions, isSuspended, before.startTime !== undefined, now);
  conditions = suspension.conditions;
  events.push(...suspension.events);
  const indexes = {
    ...(tally.completed.size > 0 && { completedIndexes: formatIndexes(tally.completed) }),
    ...(hasLimitPerIndex(job) && { failedIndexes: formatIndexes(tally.failedIndexes) }),
  };
  const status: JobStatus = {
    ...(startTime !== undefined && { startTime }),
    ...(isOver && end?.kind === "Success" && { completionTime: formatTime(now) }),
    ...positive("active", staying.length + plan.create.length),
    ...positive("succeeded", tally.succeeded),
    ...positive("failed", tally.failed),
    terminating: stillEnding,
    ready: staying.filter(isPodReady).length,
    ...indexes,
    uncountedTerminatedPods: {},
    ...(conditions.length > 0 && { conditions }),
  } as JobStatus;
  const lookAgainMs = nextLook(snapshot, startTime, end, plan);
  return {
    ...(tally.isNew && { announced: { ...before, ...indexes, uncountedTerminatedPods: tally.uncounted } }),
    release: tally.release,
    remove: plan.remove,
    create: plan.create,
    status,
    events,
    newFailures: tally.newFailures,
    newSuccesses: tally.newSuccesses,
    ...(lookAgainMs !== undefined && { lookAgainMs }),
  };
}

interface Tally {
  readonly succeeded: number;
  readonly failed: number;
  readonly completed: ReadonlySet<number>;
  readonly failedIndexes: ReadonlySet<number>;
  readonly uncounted: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] };
  readonly isNew: boolean;
  readonly release: readonly Pod[];
  /** Uids of pods that count as ended, even if they still terminate. */
  readonly ended: ReadonlySet<string>;
  readonly failJob: string | undefined;
  readonly newFailures: number;
  readonly newSuccesses: number;
}

/** Every pod is counted once: it is announced as uncounted, loses its finalizer, and only then is it in the numbers. */
function count(job: Job, pods: readonly Pod[], isSuspended: boolean): Tally {
  const { uncountedTerminatedPods = {}, succeeded = 0, failed = 0, completedIndexes }: JobStatus = job.status ?? {};
  const announced = new Set([...(uncountedTerminatedPods.succeeded ?? []), ...(uncountedTerminatedPods.failed ?? [])]);
  const won: string[] = [];
  const lost: string[] = [];
  const release: Pod[] = [];
  const completed = new Set(parseIndexes(completedIndexes));
  const isLeaving = job.metadata.deletionTimestamp !== undefined;
  const isWon = decidedEnd(job)?.kind === "Success";
  let failJob: string | undefined;
  for (const pod of pods) {
    const hasSucceeded = pod.status?.phase === "Succeeded";
    const index = indexOf(pod);
    const isDuplicate = isIndexed(job) && hasSucceeded && (index === undefined || completed.has(index));
    if (!isTracked(pod)) continue;
    if (announced.has(uidOf(pod))) release.push(pod);
    else if (hasSucceeded) {
      release.push(pod);
      if (!isDuplicate) won.push(uidOf(pod));
    } else if (isFailed(pod, job)) {
      release.push(pod);
      const action = failureAction(pod, job);
      if (action.kind === "FailJob") failJob ??= action.message;
      // Pods that were sent away because nobody needs them any more have not failed.
      const isSentAway = pod.status?.phase !== "Failed" && (isSuspended || isWon);
      if (action.kind !== "Ignore" && !isSentAway) lost.push(uidOf(pod));
    } else if (isLeaving) release.push(pod);
    if (hasSucceeded && index !== undefined) completed.add(index);
  }
  const all = {
    succeeded: [...(uncountedTerminatedPods.succeeded ?? []), ...won],
    failed: [...(uncountedTerminatedPods.failed ?? []), ...lost],
  };
  return {
    succeeded: isIndexed(job) ? completed.size : succeeded + all.succeeded.length,
    failed: failed + all.failed.length,
    completed,
    failedIndexes: failedIndexes(job, pods),
    uncounted: {
      ...(all.succeeded.length > 0 && { succeeded: all.succeeded }),
      ...(all.failed.length > 0 && { failed: all.failed }),
    },
    isNew: won.length + lost.length > 0,
    release,
    ended: new Set(release.map(uidOf)),
    failJob,
    newFailures: lost.length,
    newSuccesses: won.length,
  };
}

/** The first of these that holds ends the Job. */
function endOf(
  { job, now }: JobSnapshot,
  tally: Tally,
  active: readonly Pod[],
  startTime: string | undefined,
): JobEnd | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds, completions } = job.spec;
  const failure = (reason: string, message: string): JobEnd => ({ kind: "Failure", reason, message });
  if (tally.failJob !== undefined) return failure("PodFailurePolicy", tally.failJob);
  if (tally.failed > backoffLimit || restartsExceed(job, active, backoffLimit)) {
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const startedMs = timeMs(startTime);
  if (activeDeadlineSeconds !== undefined && startedMs !== undefined) {
    if (now.getTime() - startedMs >= activeDeadlineSeconds * 1000) {
      return failure("DeadlineExceeded", "Job was active longer than specified deadline");
    }
  }
  const hopeless = tally.failedIndexes.size;
  if (hopeless > (maxFailedIndexesOf(job) ?? Number.POSITIVE_INFINITY)) {
    const message = "Job has exceeded the specified maximal number of failed indexes";
    return failure("MaxFailedIndexesExceeded", message);
  }
  if (hopeless > 0 && hopeless + tally.completed.size >= (completions ?? 0)) {
    return failure("FailedIndexes", "Job has failed indexes");
  }
  const rule = isIndexed(job) ? fulfilledRule(job, tally.completed) : undefined;
  if (rule !== undefined)
    return { kind: "Success", reason: "SuccessPolicy", message: `Matched rules at index ${rule}` };
  // Without a number of completions the pods share one queue of work: the first that succeeds has seen its end.
  const isDone =
    completions === undefined ? tally.succeeded > 0 && active.length === 0 : tally.succeeded >= completions;
  if (!isDone) return undefined;
  return { kind: "Success", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

/** Pods that restart in place fail without ending; their restarts count against the same limit. */
function restartsExceed(job: Job, active: readonly Pod[], limit: number): boolean {
  if (job.spec.template.spec.restartPolicy !== "OnFailure") return false;
  const restarts = active
    .filter(({ status }) => status?.phase === "Running" || status?.phase === "Pending")
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

interface Plan {
  readonly create: readonly (number | undefined)[];
  readonly remove: readonly Pod[];
  /** When the first index that waits may be tried again. */
  readonly retryMs?: number;
}

function manage(snapshot: JobSnapshot, tally: Tally, active: readonly Pod[], isSuspended: boolean): Plan {
  const { job, pods, now, notBeforeMs } = snapshot;
  if (isSuspended) return { create: [], remove: active };
  if (job.metadata.deletionTimestamp !== undefined) return { create: [], remove: [] };
  const { parallelism = 1, completions } = job.spec;
  const wanted =
    completions === undefined
      ? tally.succeeded > 0
        ? active.length
        : parallelism
      : Math.min(parallelism, Math.max(0, completions - tally.succeeded - tally.failedIndexes.size));
  if (active.length > wanted) return { create: [], remove: surplus(active, active.length - wanted) };
  const ending = replacesOnlyFailed(job)
    ? pods.filter((pod) => isPodTerminating(pod) && !isPodFinished(pod)).length
    : 0;
  const missing = Math.min(wanted - active.length - ending, maxAtOnce);
  if (missing <= 0) return { create: [], remove: [] };
  if (hasLimitPerIndex(job)) return triedAgain(snapshot, freeIndexes(job, tally, active), missing);
  if (now.getTime() < notBeforeMs) return { create: [], remove: [] };
  if (!isIndexed(job)) return { create: Array.from({ length: missing }, () => undefined), remove: [] };
  return { create: freeIndexes(job, tally, active).slice(0, missing), remove: [] };
}

const maxAtOnce = 500;

function freeIndexes(job: Job, tally: Tally, active: readonly Pod[]): readonly number[] {
  const taken = new Set([...active.map(indexOf), ...tally.completed, ...tally.failedIndexes]);
  return Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index).filter((index) => !taken.has(index));
}

/** An index that has failed waits for itself only: the others go on. */
function triedAgain(
  { job, pods, now, indexDelayMs = () => 0 }: JobSnapshot,
  indexes: readonly number[],
  count: number,
): Plan {
  const create: number[] = [];
  const waits: number[] = [];
  for (const index of indexes) {
    if (create.length >= count) break;
    const { failures, lastMs } = triesOf(job, pods, index);
    const readyMs = failures === 0 ? 0 : (lastMs ?? 0) + indexDelayMs(failures);
    if (readyMs <= now.getTime()) create.push(index);
    else waits.push(readyMs);
  }
  return { create, remove: [], ...(waits.length > 0 && { retryMs: Math.min(...waits) }) };
}

/** Those that are not ready are missed least, then the youngest. */
const surplus = (active: readonly Pod[], count: number): readonly Pod[] =>
  [...active]
    .sort((left, right) => {
      const readiness = Number(isPodReady(left)) - Number(isPodReady(right));
      if (readiness !== 0) return readiness;
      return (right.metadata.creationTimestamp ?? "") < (left.metadata.creationTimestamp ?? "") ? -1 : 1;
    })
    .slice(0, count);

function suspend(
  conditions: NonNullable<JobStatus["conditions"]>,
  isSuspended: boolean,
  wasRunning: boolean,
  now: Date,
) {
  const isMarked = isConditionTrue(conditions, "Suspended");
  if (isSuspended && !isMarked) {
    const events: EventNote[] = wasRunning || conditions.length > 0 ? [note("Suspended", "Job suspended")] : [];
    return { conditions: withCondition(conditions, "Suspended", "True", "JobSuspended", "Job suspended", now), events };
  }
  if (!isSuspended && isMarked) {
    const events = [note("Resumed", "Job resumed")];
    return { conditions: withCondition(conditions, "Suspended", "False", "JobResumed", "Job resumed", now), events };
  }
  return { conditions, events: [] };
}

function nextLook(
  { job, now, notBeforeMs }: JobSnapshot,
  startTime: string | undefined,
  end: JobEnd | undefined,
  plan: Plan,
): number | undefined {
  if (plan.remove.length > 0) return lookAfterDeletionMs;
  if (end !== undefined || job.spec.suspend) return undefined;
  const { activeDeadlineSeconds } = job.spec;
  const startedMs = timeMs(startTime);
  const deadlineMs =
    activeDeadlineSeconds === undefined || startedMs === undefined
      ? undefined
      : startedMs + activeDeadlineSeconds * 1000;
  const retryMs = notBeforeMs > now.getTime() && plan.create.length === 0 ? notBeforeMs : undefined;
  const moments = [deadlineMs, retryMs, plan.retryMs].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : Math.max(1, Math.min(...moments) - now.getTime());
}

const endEvent = (end: JobEnd): EventNote =>
  end.kind === "Success"
    ? note("Completed", "Job completed")
    : { type: "Warning", reason: end.reason, message: end.message };

const note = (reason: string, message: string): EventNote => ({ type: "Normal", reason, message });

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? "";

const positive = (name: string, value: number): Readonly<Record<string, number>> =>
  value === 0 ? {} : { [name]: value };
