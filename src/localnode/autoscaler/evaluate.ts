import type { HorizontalPodAutoscaler } from "../../api/builtin/scaling.ts";
import { findCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";

export interface Bounded {
  readonly replicas: number;
  readonly limit?: "TooFewReplicas" | "TooManyReplicas";
  readonly why: string;
}

/** Zero is a wish of its own: whoever scales to nothing switches the autoscaler off. */
export function boundedReplicas(current: number, min: number, max: number): Bounded {
  if (current === 0) return { replicas: 0, why: "" };
  if (current > max)
    return { replicas: max, limit: "TooManyReplicas", why: "Current number of replicas above Spec.MaxReplicas" };
  if (current < min)
    return { replicas: min, limit: "TooFewReplicas", why: "Current number of replicas below Spec.MinReplicas" };
  return { replicas: current, why: "" };
}

type Conditions = NonNullable<NonNullable<HorizontalPodAutoscaler["status"]>["conditions"]>;

export function scalerConditions(
  before: Conditions | undefined,
  isFound: boolean,
  bounded: Bounded | undefined,
  now: Date,
): Conditions {
  const claims: (readonly [string, "True" | "False", string, string])[] = isFound
    ? [["AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"]]
    : [["AbleToScale", "False", "FailedGetScale", "the HPA controller was unable to get the target's current scale"]];
  if (bounded?.replicas === 0) {
    claims.push([
      "ScalingActive",
      "False",
      "ScalingDisabled",
      "scaling is disabled since the replica count of the target is zero",
    ]);
  } else if (isFound) {
    claims.push([
      "ScalingActive",
      "False",
      "FailedGetResourceMetric",
      "the local node measures no load; the number of replicas is only kept within its bounds",
    ]);
    claims.push(
      bounded?.limit === undefined
        ? ["ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range"]
        : [
            "ScalingLimited",
            "True",
            bounded.limit,
            bounded.limit === "TooManyReplicas"
              ? "the desired replica count is more than the maximum replica count"
              : "the desired replica count is less than the minimum replica count",
          ],
    );
  }
  return claims.map(([type, status, reason, message]) => {
    const old = findCondition(before, type);
    const lastTransitionTime = (old?.status === status ? old.lastTransitionTime : undefined) ?? formatTime(now);
    return { type, status, lastTransitionTime, reason, message };
  });
}
