import type { Pod } from "../../api/builtin/pod.ts";
import { findCondition } from "../../kube/condition.ts";
import { isPodReady, timeMs } from "./pod-facts.ts";

/** The pods in the order in which they may go: those that are missed least come first. */
export function inDeletionOrder(pods: readonly Pod[]): readonly Pod[] {
  return [...pods].sort((left, right) => {
    for (const rule of rules) {
      const order = rule(left) - rule(right);
      if (order !== 0) return order;
    }
    return left.metadata.name < right.metadata.name ? -1 : 1;
  });
}

/** Each gives a number; the smaller one goes first. */
const rules: readonly ((pod: Pod) => number)[] = [
  (pod) => (pod.spec.nodeName ? 1 : 0),
  (pod) => phases[pod.status?.phase ?? "Pending"] ?? 0,
  (pod) => (isPodReady(pod) ? 1 : 0),
  (pod) => Number.parseInt(pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? "0", 10) || 0,
  (pod) => -readySinceMs(pod),
  (pod) => -restarts(pod),
  (pod) => -(timeMs(pod.metadata.creationTimestamp) ?? 0),
];

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const readySinceMs = (pod: Pod): number =>
  isPodReady(pod) ? (timeMs(findCondition(pod.status?.conditions, "Ready")?.lastTransitionTime) ?? 0) : 0;

const restarts = (pod: Pod): number =>
  Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
