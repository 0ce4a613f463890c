import { parseDurationMs } from "../../kube/duration.ts";
import { parseTime } from "../../kube/time.ts";

/** Whether a release is old enough: `releasedAt < now - updateDelay`. A release of unknown age is not held back. */
export function isOldEnough(releasedAt: string | undefined, delay: string | undefined, now: Date): boolean {
  const eligible = eligibleAt(releasedAt, delay);
  return eligible === undefined || now.getTime() > eligible.getTime();
}

/** From when on a release may be taken; undefined when nothing holds it back. */
export function eligibleAt(releasedAt: string | undefined, delay: string | undefined): Date | undefined {
  if (delay === undefined || releasedAt === undefined) return undefined;
  const [delayMs, released] = [parseDurationMs(delay), parseTime(releasedAt)];
  if (!delayMs.ok || !released.ok || delayMs.value <= 0) return undefined;
  return new Date(released.value.getTime() + delayMs.value);
}
