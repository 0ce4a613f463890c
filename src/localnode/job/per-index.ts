import type { Job } from "../../api/builtin/job.ts";
import type { Pod } from "../../api/builtin/pod.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import { parseIndexes } from "./indexes.ts";
import { failureAction, indexOf, isFailed, isIndexed, isTracked } from "./pod-facts.ts";

/** Jobs whose indexes fail one by one: each has its own number of tries, and its pods carry how many are used up. */
export const failureCountAnnotation = "batch.kubernetes.io/job-index-failure-count";
export const ignoredCountAnnotation = "batch.kubernetes.io/job-index-ignored-failure-count";

export interface IndexTries {
  readonly failures: number;
  readonly ignored: number;
  /** When the last of them failed. */
  readonly lastMs: number | undefined;
}

export const hasLimitPerIndex = (job: Job): boolean =>
  isIndexed(job) && perIndexOf(job).backoffLimitPerIndex !== undefined;

export const maxFailedIndexesOf = (job: Job): number | undefined => perIndexOf(job).maxFailedIndexes;

/** The indexes that nobody tries again. */
export function failedIndexes(job: Job, pods: readonly Pod[]): ReadonlySet<number> {
  const { backoffLimitPerIndex, failedBefore } = perIndexOf(job);
  const failed = new Set(parseIndexes(failedBefore));
  if (backoffLimitPerIndex === undefined) return failed;
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined || index >= (job.spec.completions ?? 0) || !isTracked(pod) || !isFailed(pod, job)) continue;
    const { kind } = failureAction(pod, job);
    const isLast = numberOf(pod, failureCountAnnotation) >= backoffLimitPerIndex;
    if (kind === "FailIndex" || (kind === "Count" && isLast)) failed.add(index);
  }
  return failed;
}

/** What the pods of an index have used up already; the last one that failed knows. */
export function triesOf(job: Job, pods: readonly Pod[], index: number): IndexTries {
  let tries: IndexTries = { failures: 0, ignored: 0, lastMs: undefined };
  for (const pod of pods) {
    if (indexOf(pod) !== index || !isFailed(pod, job)) continue;
    const isIgnored = failureAction(pod, job).kind === "Ignore";
    const failures = numberOf(pod, failureCountAnnotation) + (isIgnored ? 0 : 1);
    const ignored = numberOf(pod, ignoredCountAnnotation) + (isIgnored ? 1 : 0);
    if (failures + ignored > tries.failures + tries.ignored) tries = { failures, ignored, lastMs: endedMs(pod) };
  }
  return tries;
}

function endedMs({ metadata, status }: Pod): number | undefined {
  const ends = (status?.containerStatuses ?? []).map(({ state }) => timeMs(state?.terminated?.finishedAt));
  const known = ends.filter((end) => end !== undefined);
  return known.length > 0 ? Math.max(...known) : timeMs(metadata.deletionTimestamp);
}

function numberOf({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

function perIndexOf(job: Job): {
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly failedBefore?: string;
} {
  const { backoffLimitPerIndex, maxFailedIndexes } = job.spec;
  const { failedIndexes: failedBefore } = job.status ?? {};
  return {
    ...(backoffLimitPerIndex !== undefined && { backoffLimitPerIndex }),
    ...(maxFailedIndexes !== undefined && { maxFailedIndexes }),
    ...(failedBefore !== undefined && { failedBefore }),
  };
}
