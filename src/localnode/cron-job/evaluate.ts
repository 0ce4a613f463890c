import type { Job } from "../../api/builtin/job.ts";
import { findCondition } from "../../kube/condition.ts";
import { isFinished } from "../job/conditions.ts";
import { timeMs } from "../workloads/pod-facts.ts";
import type { CronJob } from "./kind.ts";
import type { Schedule } from "./schedule.ts";

export interface CronSnapshot {
  readonly cronJob: CronJob;
  readonly jobs: readonly Job[];
  readonly schedule: Schedule;
  readonly now: Date;
}

export interface CronDecision {
  /** The moment for which a Job is to be made now. */
  readonly start?: Date;
  /** Jobs that make way for the new one. */
  readonly replace: readonly Job[];
  /** Finished Jobs beyond the history that is kept. */
  readonly forget: readonly Job[];
  readonly active: readonly Job[];
  readonly lastSuccessfulTime?: string;
  readonly lookAgainMs?: number;
  readonly skipped?: "Missed" | "StillRunning";
}

export function evaluate({ cronJob, jobs, schedule, now }: CronSnapshot): CronDecision {
  const active = jobs.filter((job) => !isFinished(job));
  const successes = jobs.map(successTime).filter((time) => time !== undefined);
  const lastSuccessfulTime = [...successes, cronJob.status?.lastSuccessfulTime ?? ""].sort().at(-1);
  const base = {
    active,
    forget: beyondHistory(cronJob, jobs),
    replace: [] as readonly Job[],
    ...(lastSuccessfulTime && { lastSuccessfulTime }),
  };
  if (cronJob.spec.suspend || cronJob.metadata.deletionTimestamp !== undefined) return base;
  const due = lastDue(cronJob, schedule, now);
  const following = schedule.next(now);
  const waits = following === undefined ? {} : { lookAgainMs: following.getTime() - now.getTime() + slackMs };
  if (due.kind === "None") return { ...base, ...waits };
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  const isLate =
    startingDeadlineSeconds !== undefined && due.at.getTime() + startingDeadlineSeconds * 1000 < now.getTime();
  if (isLate) return { ...base, ...waits, skipped: "Missed" };
  if (concurrencyPolicy === "Forbid" && active.length > 0) return { ...base, ...waits, skipped: "StillRunning" };
  const replace = concurrencyPolicy === "Replace" ? active : [];
  return { ...base, ...waits, start: due.at, replace };
}

type Due = { readonly kind: "None" } | { readonly kind: "At"; readonly at: Date };

/** The latest moment that has passed since the last Job; the ones before it are made up for by it. */
function lastDue(cronJob: CronJob, schedule: Schedule, now: Date): Due {
  const { startingDeadlineSeconds } = cronJob.spec;
  let since = timeMs(cronJob.status?.lastScheduleTime) ?? timeMs(cronJob.metadata.creationTimestamp) ?? now.getTime();
  if (startingDeadlineSeconds !== undefined) since = Math.max(since, now.getTime() - startingDeadlineSeconds * 1000);
  let latest: Date | undefined;
  for (let missed = 0; ; missed++) {
    const next = schedule.next(latest ?? new Date(since));
    if (next === undefined || next.getTime() > now.getTime()) break;
    latest = next;
    // After a long sleep there may be very many; the newest is found from near the end instead.
    if (missed > maxMissed) return { kind: "At", at: newestBefore(schedule, now) ?? latest };
  }
  return latest === undefined ? { kind: "None" } : { kind: "At", at: latest };
}

function newestBefore(schedule: Schedule, now: Date): Date | undefined {
  for (const backMs of lookBackMs) {
    let latest: Date | undefined;
    for (let at = schedule.next(new Date(now.getTime() - backMs)); at && at <= now; at = schedule.next(at)) latest = at;
    if (latest !== undefined) return latest;
  }
  return undefined;
}

const maxMissed = 100;
const lookBackMs = [120_000, 3_700_000, 90_000_000];
/** A timer may fire a moment early. */
const slackMs = 100;

function beyondHistory({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const ended = (type: string): readonly Job[] =>
    jobs
      .filter(({ status }) => findCondition(status?.conditions, type)?.status === "True")
      .sort((left, right) => ((left.status?.startTime ?? "") < (right.status?.startTime ?? "") ? -1 : 1));
  const oldest = (all: readonly Job[], kept: number): readonly Job[] => all.slice(0, Math.max(0, all.length - kept));
  return [
    ...oldest(ended("Complete"), spec.successfulJobsHistoryLimit ?? 3),
    ...oldest(ended("Failed"), spec.failedJobsHistoryLimit ?? 1),
  ];
}

const successTime = ({ status }: Job): string | undefined =>
  findCondition(status?.conditions, "Complete")?.status === "True" ? status?.completionTime : undefined;
