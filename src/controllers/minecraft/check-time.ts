import type { PaperMCServer } from "../../api/papermc-server.ts";
import { parseTime } from "../../kube/time.ts";
import { parseSchedule } from "./cron.ts";

/** When facts are to be fetched: at the servers' checkCron, counted from the last time. */
export type CheckTime = { readonly kind: "Now" } | { readonly kind: "At"; readonly time: Date };

/** Without a server that can say, once an hour. */
const withoutServersMs = 60 * 60_000;

export function checkTime(lastFetched: string | undefined, servers: readonly PaperMCServer[], now: Date): CheckTime {
  const last = lastFetched === undefined ? undefined : parseTime(lastFetched);
  if (!last?.ok) return { kind: "Now" };
  const times = servers.flatMap(({ spec: { updateSchedule } }) => {
    const schedule = parseSchedule(updateSchedule.checkCron, updateSchedule.timeZone);
    const next = schedule.ok ? schedule.value.next(last.value) : undefined;
    return next ? [next.getTime()] : [];
  });
  const next = times.length > 0 ? Math.min(...times) : last.value.getTime() + withoutServersMs;
  return next <= now.getTime() ? { kind: "Now" } : { kind: "At", time: new Date(next) };
}

export const untilMs = (time: Date, now: Date): number => Math.max(1_000, time.getTime() - now.getTime());
