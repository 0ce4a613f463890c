import type { VolumeSnapshot } from "../../api/builtin/volume.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { BackupTrigger } from "../../api/papermc-server-status.ts";
import { parseTime } from "../../kube/time.ts";
import { parseSchedule, type Schedule } from "./cron.ts";
import { askedAt, isAskedFor } from "./update-window.ts";

/** Whether a snapshot is to be made now, and for what. */
export type BackupPlan =
  | { readonly kind: "Off"; readonly hasRequest: boolean }
  | {
      readonly kind: "Wait";
      readonly lookAgainMs?: number;
      readonly hasRequest: boolean;
      readonly wrongSchedule?: string;
    }
  | {
      readonly kind: "Make";
      readonly trigger: BackupTrigger;
      readonly at: Date;
      readonly hasRequest: boolean;
      readonly wrongSchedule?: string;
    };

/** A firing that was missed while nobody looked is made up for once, if it is not older than this. */
const maxLateMs = 60 * 60_000;
const defaultMaxCount = 10;

export function planBackup(server: PaperMCServer, now: Date): BackupPlan {
  const { backup, updateSchedule } = server.spec;
  const request = isAskedFor(server, "backupNow", now);
  const hasRequest = request !== "No";
  if (!backup?.enabled) return { kind: "Off", hasRequest };
  const schedule = backup.schedule === undefined ? undefined : parseSchedule(backup.schedule, updateSchedule.timeZone);
  const wrong = schedule && !schedule.ok ? { wrongSchedule: `spec.backup.schedule: ${schedule.message}` } : {};
  // Named after the time in the request, so that one request makes one snapshot however often it is looked at.
  if (request === "Yes")
    return { kind: "Make", trigger: "manual", at: askedAt(server, "backupNow") ?? now, hasRequest, ...wrong };
  if (!schedule?.ok) return { kind: "Wait", hasRequest, ...wrong };
  const fired = lastFiring(schedule.value, server, now);
  if (fired) return { kind: "Make", trigger: "scheduled", at: fired, hasRequest };
  const next = schedule.value.next(now);
  return { kind: "Wait", hasRequest, ...(next && { lookAgainMs: next.getTime() - now.getTime() + 1_000 }) };
}

/** The latest firing since the last snapshot, the creation of the server, or an hour ago. */
function lastFiring(schedule: Schedule, { metadata, status }: PaperMCServer, now: Date): Date | undefined {
  const last = status?.backup?.lastBackup;
  const since = [
    now.getTime() - maxLateMs,
    timeOf(metadata.creationTimestamp),
    last?.trigger === "scheduled" || last?.successful ? timeOf(last.startedAt) : 0,
  ];
  let fired: Date | undefined;
  let next = schedule.next(new Date(Math.max(...since)));
  while (next && next <= now) {
    fired = next;
    next = schedule.next(next);
  }
  return fired;
}

/** The oldest ones that are too many, but never the one that an update under way relies on. */
export function surplusOf({ spec, status }: PaperMCServer, all: readonly VolumeSnapshot[]): readonly VolumeSnapshot[] {
  const count = Math.max(0, all.length - (spec.backup?.retention?.maxCount ?? defaultMaxCount));
  // Two of the same second may come in any order, so the one that must stay may be the first.
  return all.filter(({ metadata }) => metadata.name !== status?.updateProgress?.snapshotName).slice(0, count);
}

function timeOf(text: string | undefined): number {
  const time = parseTime(text ?? "");
  return time.ok ? time.value.getTime() : 0;
}
