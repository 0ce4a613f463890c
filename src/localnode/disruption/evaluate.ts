import type { Pod } from "../../api/builtin/pod.ts";
import type { PodDisruptionBudget } from "../../api/builtin/scaling.ts";
import { setCondition } from "../../kube/condition.ts";
import { isPodFinished, isPodReady, isPodTerminating, timeMs } from "../workloads/pod-facts.ts";
import { scaledCount } from "../workloads/scaled-count.ts";

export interface BudgetSnapshot {
  readonly budget: PodDisruptionBudget;
  /** All pods that it selects. */
  readonly pods: readonly Pod[];
  /** What the pods' controllers want together. */
  readonly expected: number;
  readonly now: Date;
}

export interface BudgetDecision {
  readonly status: NonNullable<PodDisruptionBudget["status"]>;
  readonly lookAgainMs?: number;
}

export function evaluate({ budget, pods, expected, now }: BudgetSnapshot): BudgetDecision {
  const { minAvailable, maxUnavailable } = budget.spec;
  const counted = pods.filter((pod) => !isPodFinished(pod));
  const expectedPods = isAbsolute(minAvailable) ? counted.length : expected;
  const desiredHealthy =
    maxUnavailable !== undefined
      ? Math.max(0, expectedPods - scaledCount(maxUnavailable, expectedPods, "up"))
      : scaledCount(minAvailable ?? 1, expectedPods, "up");
  const disrupted = stillDisrupted(budget, pods, now);
  const isHealthy = (pod: Pod): boolean =>
    isPodReady(pod) && !isPodTerminating(pod) && disrupted.pods[pod.metadata.name] === undefined;
  const currentHealthy = counted.filter(isHealthy).length;
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const isAllowed = disruptionsAllowed > 0;
  const conditions = setCondition(
    budget.status?.conditions,
    {
      type: "DisruptionAllowed",
      status: isAllowed ? "True" : "False",
      reason: isAllowed ? "SufficientPods" : "InsufficientPods",
      message: "",
      observedGeneration: budget.metadata.generation ?? 0,
    },
    now,
  );
  return {
    status: {
      observedGeneration: budget.metadata.generation ?? 0,
      disruptionsAllowed,
      currentHealthy,
      desiredHealthy,
      expectedPods,
      ...(Object.keys(disrupted.pods).length > 0 && { disruptedPods: disrupted.pods }),
      conditions,
    },
    ...(disrupted.lookAgainMs !== undefined && { lookAgainMs: disrupted.lookAgainMs }),
  };
}

const isAbsolute = (count: number | string | undefined): boolean => count !== undefined && !String(count).endsWith("%");

/** An eviction that was allowed and has not happened within this time will not happen any more. */
const evictionTimeoutMs = 120_000;

function stillDisrupted({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Date) {
  const left: Record<string, string> = {};
  const waits: number[] = [];
  for (const [name, time] of Object.entries(status?.disruptedPods ?? {})) {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    const leftMs = (timeMs(time) ?? 0) + evictionTimeoutMs - now.getTime();
    if (pod === undefined || isPodTerminating(pod) || leftMs <= 0) continue;
    left[name] = time;
    waits.push(leftMs);
  }
  return { pods: left, lookAgainMs: waits.length === 0 ? undefined : Math.min(...waits) };
}
