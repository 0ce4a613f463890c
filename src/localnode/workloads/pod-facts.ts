import type { Pod } from "../../api/builtin/pod.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import { parseTime } from "../../kube/time.ts";

/** What the controllers of workloads ask about a pod. */
export const isPodReady = (pod: Pod): boolean => isConditionTrue(pod.status?.conditions, "Ready");

/** Has run to its end, one way or the other. */
export const isPodFinished = (pod: Pod): boolean => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";

export const isPodTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;

/** Counts as a replica. */
export const isPodActive = (pod: Pod): boolean => !isPodFinished(pod) && !isPodTerminating(pod);

/** Milliseconds until a ready pod counts as available; undefined while it is not ready. */
export function availableInMs(pod: Pod, minReadySeconds: number, now: Date): number | undefined {
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds <= 0) return 0;
  const since = timeMs(findCondition(pod.status?.conditions, "Ready")?.lastTransitionTime);
  if (since === undefined) return undefined;
  return Math.max(0, since + minReadySeconds * 1000 - now.getTime());
}

export const isPodAvailable = (pod: Pod, minReadySeconds: number, now: Date): boolean =>
  availableInMs(pod, minReadySeconds, now) === 0;

/** The first moment at which one of the pods becomes available by the mere passing of time. */
export function nextAvailabilityMs(pods: readonly Pod[], minReadySeconds: number, now: Date): number | undefined {
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, now)).filter((wait) => wait !== undefined);
  const future = waits.filter((wait) => wait > 0);
  return future.length === 0 ? undefined : Math.min(...future);
}

export function timeMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  return time.ok ? time.value.getTime() : undefined;
}
