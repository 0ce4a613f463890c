import type { DegradedReason } from "../../../api/class-runtime.ts";
import type { ConditionState } from "../../../kube/condition.ts";
import { formatTime } from "../../../kube/time.ts";
import type { Anomaly } from "../pod-trouble.ts";
import type { ClassRuntimeStatus } from "../reduce.ts";
import type { ClassRuntimeSettings } from "../settings.ts";
import type { EnforcementChange, EnforcementPlan, EnforcementState } from "./plan.ts";

/** How applying one change went. */
export type Enforced =
  | { readonly ok: true; readonly change: EnforcementChange }
  | {
      readonly ok: false;
      readonly change: EnforcementChange;
      readonly reason: Extract<DegradedReason, `Enforce${string}`>;
      readonly message: string;
    };

export interface ReducedEnforcement {
  readonly status: Partial<ClassRuntimeStatus>;
  readonly condition?: ConditionState;
  /** Failures, as reasons to be degraded. */
  readonly trouble: readonly Anomaly[];
}

/** Adds to the audit trail what was applied, keeps everything else, and never touches a recommendation. */
export function reduceEnforcement(
  old: ClassRuntimeStatus,
  plan: EnforcementPlan,
  enforced: readonly Enforced[],
  { retry }: ClassRuntimeSettings,
  now: Date,
): ReducedEnforcement {
  const states: Record<string, EnforcementState> = { ...plan.states };
  const trail = [...(old.last_applied_recommendations ?? [])];
  const trouble: Anomaly[] = [];
  for (const result of enforced) {
    const { dimension, target, cooldownUntil } = result.change;
    const { skipped: _skipped, ...state } = states[dimension] ?? {};
    if (result.ok) {
      states[dimension] = { ...state, target, cooldown_until: formatTime(cooldownUntil), failures: 0 };
      trail.push({
        component: "function",
        dimension,
        target,
        basis: "enforcer",
        confidence: 1,
        applied_at: formatTime(now),
      });
    } else {
      const failures = (state.failures ?? 0) + 1;
      const retryMs = Math.min(retry.baseMs * 2 ** (failures - 1), retry.maxMs);
      states[dimension] = { ...state, target, failures, cooldown_until: formatTime(new Date(now.getTime() + retryMs)) };
      trouble.push({ reason: result.reason, message: result.message });
    }
  }
  const applied = enforced.some(({ ok }) => ok);
  const [failure] = trouble;
  const condition = conditionOf(old, plan, failure);
  return {
    status: {
      ...(Object.keys(states).length > 0 && { nfr_enforcement_state: states }),
      ...(applied && { last_applied_recommendations: trail.slice(-maxTrail), last_applied_at: formatTime(now) }),
    },
    ...(condition && { condition }),
    trouble,
  };
}

/** The trail is for people; an object has only so much room. */
const maxTrail = 50;

function conditionOf(
  old: ClassRuntimeStatus,
  { verdict, states }: EnforcementPlan,
  failure: Anomaly | undefined,
): ConditionState | undefined {
  if (failure) return { type: "NfrEnforced", status: "False", reason: failure.reason, message: failure.message };
  const before = old.conditions?.find(({ type }) => type === "NfrEnforced");
  if (verdict === undefined) {
    if (before === undefined) return undefined;
    return { type: "NfrEnforced", status: "False", reason: "NoRecommendation", message: "There is no recommendation" };
  }
  // While a failed change waits for its next try, the failure stays the news.
  const isRetrying =
    verdict.reason === "WaitCooldown" && Object.values(states).some(({ failures = 0 }) => failures > 0);
  if (isRetrying && before)
    return { type: "NfrEnforced", status: "False", reason: before.reason, message: before.message };
  return {
    type: "NfrEnforced",
    status: verdict.enforced ? "True" : "False",
    reason: verdict.reason,
    message: verdict.message,
  };
}
