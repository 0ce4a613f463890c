import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { parseTime } from "../../kube/time.ts";

/** Says of a release whether it is old enough: `releasedAt < now - updateDelay`. One of unknown age is not held back. */
export function oldEnough(delay: string | undefined, now: Date): (releasedAt: string | undefined) => boolean {
  const eligible = eligibility(delay);
  return (releasedAt) => {
    const at = eligible(releasedAt);
    return at === undefined || now.getTime() > at;
  };
}

/** From when on a release may be taken; undefined when nothing holds it back. */
export function eligibleAt(releasedAt: string | undefined, delay: string | undefined): Date | undefined {
  const at = eligibility(delay)(releasedAt);
  return at === undefined ? undefined : new Date(at);
}

function eligibility(delay: string | undefined): (releasedAt: string | undefined) => number | undefined {
  const parsed = delay === undefined ? undefined : parseDurationMs(delay);
  if (!parsed?.ok || parsed.value <= 0) return () => undefined;
  return (releasedAt) => {
    const released = releasedAt === undefined ? undefined : parseTime(releasedAt);
    return released?.ok ? released.value.getTime() + parsed.value : undefined;
  };
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
  const eligible = eligibility(spec.updateDelay);
  const times: number[] = [];
  for (const { releasedAt } of status?.availableVersions ?? []) {
    const at = eligible(releasedAt);
    if (at !== undefined) times.push(at);
  }
  times.sort((a, b) => a - b);
  timesOf.set(object, times);
  return times;
}

const timesOf = new WeakMap<Waiting, readonly number[]>();
