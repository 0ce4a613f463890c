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

const maxAgeSeconds = 5 * 60;

/** A request by annotation counts for five minutes, so that one that is found again later does nothing. */
export function isAskedFor(
  server: PaperMCServer,
  annotation: keyof typeof asked,
  now: Date,
): "No" | "Yes" | "Outdated" {
  const value = server.metadata.annotations?.[asked[annotation]];
  if (value === undefined) return "No";
  const seconds = /^[0-9]{1,12}$/.test(value.trim()) ? Number(value) : Number.NaN;
  const ageSeconds = now.getTime() / 1_000 - seconds;
  return Math.abs(ageSeconds) <= maxAgeSeconds ? "Yes" : "Outdated";
}

const asked = { applyNow: annotations.applyNow, backupNow: annotations.backupNow } as const;
