import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
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

type Waiting = PaperMCServer | Plugin;

/** The last and the next time at which a release of any of these becomes old enough. */
export function eligibilityAt(
  objects: readonly Waiting[],
  now: Date,
): { readonly lastMs: number; readonly nextMs: number } {
  let [lastMs, nextMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const object of objects) {
    const times = eligibleTimes(object);
    const passed = times.findLastIndex((time) => time < now.getTime());
    lastMs = Math.max(lastMs, times[passed] ?? lastMs);
    nextMs = Math.min(nextMs, times[passed + 1] ?? nextMs);
  }
  return { lastMs, nextMs };
}

/** From the earliest to the latest; every object of a fleet asks about all others, so it is worked out once for each. */
function eligibleTimes(object: Waiting): readonly number[] {
  const known = timesOf.get(object);
  if (known) return known;
  const { spec, status } = object;
  const times = (status?.availableVersions ?? []).flatMap(
    ({ releasedAt }) => eligibleAt(releasedAt, spec.updateDelay)?.getTime() ?? [],
  );
  times.sort((a, b) => a - b);
  timesOf.set(object, times);
  return times;
}

const timesOf = new WeakMap<Waiting, readonly number[]>();
