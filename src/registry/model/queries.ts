import type { Directory } from "./directory.ts";
import type { Entry } from "./entry.ts";
import { type ExpiryLimits, healthAt, isListedAt } from "./expiry.ts";
import type { TargetKind } from "./kept-target.ts";
import type { Whole } from "./name-index.ts";
import { multiCapability, type ServiceHealth } from "./service.ts";

/** The questions of the specification ("Repository Queries"), each answered from an index. */
export interface Search {
  readonly serviceName?: string | undefined;
  readonly serviceType?: string | undefined;
  readonly serviceSubType?: string | undefined;
  readonly languageName?: string | undefined;
}

/**
 * A type alone also finds services that can do everything (multi-capability); an engine or a language asks for code
 * execution, where every given field must match exactly.
 */
export function search(directory: Directory, asked: Search, nowMs: number, limits: ExpiryLimits): readonly Entry[] {
  const found = candidates(directory, asked);
  const wanted = matcher(asked);
  // Whoever was heard of lately is listed; only of the others must more be known.
  const isListed = (entry: Entry): boolean =>
    nowMs - entry.heardAtMs < limits.deregisterAfterMs || isListedAt(entry, nowMs, limits);
  return found.filter((entry) => wanted(entry) && isListed(entry));
}

/** The same as one text, where it is kept as one: for a name whose services all match and none is silent for too long. */
export function searchWhole(
  directory: Directory,
  asked: Search,
  nowMs: number,
  limits: ExpiryLimits,
): Whole | undefined {
  if (asked.serviceName === undefined) return undefined;
  const whole = directory.groupNamed(asked.serviceName)?.whole(nowMs, limits);
  return whole !== undefined && isWantedKind(asked, whole.kind) ? whole : undefined;
}

/** From the smallest index that has all that can match, in order. */
export function candidates(directory: Directory, asked: Search): readonly Entry[] {
  const { serviceName, serviceType, serviceSubType, languageName } = asked;
  if (serviceType !== undefined && serviceSubType !== undefined && languageName !== undefined)
    return directory.engines(serviceType, serviceSubType, languageName);
  if (serviceName !== undefined) return directory.named(serviceName);
  if (serviceType === undefined) return directory.registered();
  if (isExact(asked) || serviceType === multiCapability) return directory.ofType(serviceType);
  return merged(directory.ofType(serviceType), directory.ofType(multiCapability));
}

/** For the candidates above. Neighbours are mostly of one kind, so that each kind is looked at once. */
export function matcher(asked: Search): (entry: Entry) => boolean {
  const { serviceName, serviceType, serviceSubType, languageName } = asked;
  const isByEngine = serviceType !== undefined && serviceSubType !== undefined && languageName !== undefined;
  let known: TargetKind | undefined;
  let isKnownWanted = false;
  return ({ kind, instance }) => {
    if (kind !== known) {
      known = kind;
      isKnownWanted = isWantedKind(asked, kind);
    }
    // All others that are asked for by name were found by name.
    return isKnownWanted && (!isByEngine || serviceName === undefined || instance.target.serviceName === serviceName);
  };
}

function isWantedKind(asked: Search, kind: TargetKind): boolean {
  const { serviceType, serviceSubType, languageName } = asked;
  return (
    (serviceType === undefined ||
      kind.serviceType === serviceType ||
      (kind.serviceType === multiCapability && !isExact(asked))) &&
    (serviceSubType === undefined || kind.serviceSubType === serviceSubType) &&
    (languageName === undefined || kind.languageName === languageName)
  );
}

const isExact = ({ serviceSubType, languageName }: Search): boolean =>
  serviceSubType !== undefined || languageName !== undefined;

/** Two ordered lists as one. */
function merged(left: readonly Entry[], right: readonly Entry[]): readonly Entry[] {
  if (right.length === 0) return left;
  if (left.length === 0) return right;
  const all: Entry[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const a = left[l];
    const b = right[r];
    if (b === undefined || (a !== undefined && a.instance.order <= b.instance.order)) {
      if (a !== undefined) all.push(a);
      l++;
    } else {
      all.push(b);
      r++;
    }
  }
  return all;
}

/** Services not heard of for longer than the given age; those that were never heard count from their registration. */
export function stale(
  directory: Directory,
  maxAgeMs: number,
  inactiveOnly: boolean,
  now: { readonly wallMs: number; readonly monotonicMs: number },
  limits: ExpiryLimits,
): readonly Entry[] {
  return directory.registered().filter((entry) => {
    if (!isListedAt(entry, now.monotonicMs, limits)) return false;
    const health = healthAt(entry, now.monotonicMs, limits);
    if (inactiveOnly && (health === "HEALTHY" || health === "PENDING")) return false;
    return now.wallMs - (entry.lastSeenMs ?? entry.instance.registeredAtMs) > maxAgeMs;
  });
}

export type HealthCounts = Readonly<Record<ServiceHealth, number>> & { readonly total: number };

export function countHealth(entries: Iterable<Entry>, nowMs: number, limits: ExpiryLimits): HealthCounts {
  const counts = { PENDING: 0, HEALTHY: 0, UNHEALTHY: 0, DOWN: 0, total: 0 };
  for (const entry of entries) {
    if (!isListedAt(entry, nowMs, limits)) continue;
    counts[healthAt(entry, nowMs, limits)]++;
    counts.total++;
  }
  return counts;
}
