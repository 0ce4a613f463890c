import type { PaperMCServer } from "../../api/papermc-server.ts";
import { annotations } from "../../api/well-known.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { parseSchedule } from "./cron.ts";

/** Whether a server may be restarted for an update now. */
export type Window =
  | { readonly kind: "Open"; readonly since: Date }
  | { readonly kind: "Closed"; readonly opensAt?: Date }
  /** Never by itself: switched off, or its schedule cannot be read. */
  | { readonly kind: "Never" };

const defaultDurationMs = 60 * 60_000;

export function windowAt({ spec: { updateSchedule } }: PaperMCServer, now: Date): Window {
  const { maintenanceWindow, timeZone } = updateSchedule;
  if (!maintenanceWindow.enabled) return { kind: "Never" };
  const schedule = parseSchedule(maintenanceWindow.cron, timeZone);
  if (!schedule.ok) return { kind: "Never" };
  const duration = parseDurationMs(maintenanceWindow.duration);
  const durationMs = duration.ok && duration.value > 0 ? duration.value : defaultDurationMs;
  const since = schedule.value.next(new Date(now.getTime() - durationMs));
  if (since && since <= now) return { kind: "Open", since };
  const opensAt = schedule.value.next(now);
  return { kind: "Closed", ...(opensAt && { opensAt }) };
}

/** A request by annotation counts for so long, so that one that is found again later does nothing. */
export const requestMaxAgeMs = 5 * 60_000;

export function isAskedFor(
  server: PaperMCServer,
  annotation: keyof typeof asked,
  now: Date,
): "No" | "Yes" | "Outdated" {
  const time = askedAt(server, annotation);
  if (time === undefined) return "No";
  return Math.abs(now.getTime() - time.getTime()) <= requestMaxAgeMs ? "Yes" : "Outdated";
}

/** When it was asked for, in the annotation's own word: the seconds since 1970. What says no time is long past. */
export function askedAt({ metadata }: PaperMCServer, annotation: keyof typeof asked): Date | undefined {
  const value = metadata.annotations?.[asked[annotation]]?.trim();
  if (value === undefined) return undefined;
  return new Date(/^[0-9]{1,11}$/.test(value) ? Number(value) * 1_000 : 0);
}

const asked = { applyNow: annotations.applyNow, backupNow: annotations.backupNow } as const;
