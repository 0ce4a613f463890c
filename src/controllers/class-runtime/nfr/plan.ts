import type { ClassRuntime, ClassRuntimeReason, NfrDimension } from "../../../api/class-runtime.ts";
import { formatTime } from "../../../kube/time.ts";
import { enforcementMode, isEnforced } from "../enforcement-mode.ts";
import type { Decision } from "../evaluate.ts";
import type { ClassRuntimeSettings } from "../settings.ts";
import { type DecisionInput, decide, type EnforceDecision } from "./decision.ts";
import { type HeldValues, type ReplicaHolder, replicaHolders } from "./held-values.ts";
import { targetsOf } from "./targets.ts";

/** What enforcement does in this reconcile and what it says. */
export interface EnforcementPlan {
  readonly changes: readonly EnforcementChange[];
  readonly states: Readonly<Record<string, EnforcementState>>;
  /** The NfrEnforced condition if nothing has to be applied; absent where there is nothing to say. */
  readonly verdict?: EnforcementVerdict;
  readonly notes: readonly EnforcementNote[];
  readonly lookAgainMs?: number;
}

export interface EnforcementChange {
  readonly dimension: NfrDimension;
  readonly target: number;
  readonly confidence: number;
  readonly cooldownUntil: Date;
  /** The new values, object by object. */
  readonly holders: readonly { readonly holder: ReplicaHolder; readonly values: HeldValues }[];
}

export interface EnforcementVerdict {
  readonly enforced: boolean;
  readonly reason: ClassRuntimeReason<"NfrEnforced">;
  readonly message: string;
}

export interface EnforcementNote {
  readonly reason: "NFRSkippedCooldown" | "NFRSkippedStability" | "NFRClampedMax";
  readonly message: string;
}

export type EnforcementState = NonNullable<NonNullable<ClassRuntime["status"]>["nfr_enforcement_state"]>[string];

export type Facts = Pick<Decision, "wanted" | "observed" | "apply" | "ready" | "anomalies">;

export function planEnforcement(
  classRuntime: ClassRuntime,
  facts: Facts,
  settings: ClassRuntimeSettings,
  now: Date,
): EnforcementPlan {
  const old = classRuntime.status?.nfr_enforcement_state ?? {};
  const say = (reason: EnforcementVerdict["reason"], message: string): EnforcementPlan => ({
    changes: [],
    states: old,
    verdict: { enforced: false, reason, message },
    notes: [],
  });
  const recommendations = classRuntime.status?.nfr_recommendations ?? {};
  const recommended = dimensions.filter((dimension) => typeof recommendations[dimension] === "number");
  const mode = enforcementMode(classRuntime);
  if (mode !== "enforce") {
    if (recommended.length === 0) return { changes: [], states: old, notes: [] };
    return say("SkipMode", `The mode is ${mode}: recommendations are shown, not applied`);
  }
  if (!settings.features.nfrEnforcement)
    return say("NotEnforceable", "Enforcement is switched off in this installation");
  if (recommended.length === 0) return say("NoRecommendation", "There is no recommendation yet");
  const inDimensions = recommended.filter((dimension) => isEnforced(classRuntime, dimension));
  if (inDimensions.length === 0)
    return say("SkipMode", "None of the recommended dimensions is in spec.enforcement.dimensions");
  const plans = inDimensions.map((dimension) =>
    planDimension(dimension, recommendations[dimension] as number, classRuntime, facts, settings, now),
  );
  const verdict = plans.find(({ verdict: { enforced } }) => !enforced)?.verdict ?? plans[0]?.verdict;
  const waits = plans.flatMap(({ lookAgainMs }) => lookAgainMs ?? []);
  return {
    changes: plans.flatMap(({ change }) => change ?? []),
    states: { ...old, ...Object.fromEntries(plans.map(({ dimension, state }) => [dimension, state])) },
    ...(verdict && { verdict }),
    notes: plans.flatMap(({ notes }) => notes),
    ...(waits.length > 0 && { lookAgainMs: Math.min(...waits) }),
  };
}

const dimensions: readonly NfrDimension[] = ["replicas", "memory", "cpu", "odgm_replicas"];

/** In the available phase, or in the degraded one when a failed enforcement is the only reason. */
function mayEnforce({ status }: ClassRuntime, { ready, anomalies, apply }: Facts): boolean {
  if (!ready || apply.length > 0) return false;
  if (status?.phase === "available") return anomalies.every(({ reason }) => reason.startsWith("Enforce"));
  return (
    status?.phase === "degraded" &&
    anomalies.length > 0 &&
    anomalies.every(({ reason }) => reason.startsWith("Enforce"))
  );
}

interface DimensionPlan {
  readonly dimension: NfrDimension;
  readonly state: EnforcementState;
  readonly verdict: EnforcementVerdict;
  readonly change?: EnforcementChange;
  readonly notes: readonly EnforcementNote[];
  readonly lookAgainMs?: number;
}

function planDimension(
  dimension: NfrDimension,
  recommended: number,
  classRuntime: ClassRuntime,
  facts: Facts,
  settings: ClassRuntimeSettings,
  now: Date,
): DimensionPlan {
  const { status, metadata } = classRuntime;
  const state = status?.nfr_enforcement_state?.[dimension] ?? {};
  const detail = status?.nfr_recommendation_details?.[dimension];
  const { enforcement: bounds } = settings;
  const skip = (reason: EnforcementVerdict["reason"], message: string): DimensionPlan => ({
    dimension,
    state,
    verdict: { enforced: false, reason, message },
    notes: [],
  });
  if (dimension === "odgm_replicas") {
    return skip(
      "NotEnforceable",
      "odgm_replicas is only recommended: the health of the data store's partitions cannot be read",
    );
  }
  const holders = replicaHolders(facts.wanted, facts.observed);
  const target = targetsOf(dimension, recommended, holders, facts, bounds);
  // What is in force stays so, however old the measurement is.
  if (target.holders.length === 0) {
    return {
      dimension,
      state: { ...withoutSkip(state), target: target.value, failures: 0 },
      verdict: {
        enforced: true,
        reason: "Applied",
        message: "Every recommendation in the enforced dimensions is applied",
      },
      notes: [],
    };
  }
  const ageMs = detail?.observed_at === undefined ? 0 : now.getTime() - Date.parse(detail.observed_at);
  const isOld = ageMs > bounds.maxAgeMs || (detail?.observed_generation ?? metadata.generation) !== metadata.generation;
  if (isOld) return skip("RecommendationStale", `The recommendation for ${dimension} is out of date`);
  const confidence = detail?.confidence ?? 1;
  if (dimension !== "replicas" && confidence < bounds.minConfidence) {
    return skip(
      "LowConfidence",
      `The recommendation for ${dimension} has confidence ${confidence}; ${bounds.minConfidence} is needed`,
    );
  }
  if (dimension === "cpu" && !(detail?.load !== undefined && detail.load <= bounds.maxLoad)) {
    return skip(
      "NotEnforceable",
      detail?.load === undefined
        ? "cpu is not changed without a load query"
        : `cpu is not changed at a load above ${bounds.maxLoad}`,
    );
  }
  if (!mayEnforce(classRuntime, facts)) {
    return skip("NotAvailable", "Nothing is changed unless the class runtime is available");
  }
  const input: DecisionInput = {
    mode: "enforce",
    newTarget: recommended,
    now,
    stabilityMs: bounds.stabilityMs,
    cooldownMs: bounds.cooldownMs,
    minimum: dimension === "replicas" ? 1 : 0,
    maximum: dimension === "replicas" ? bounds.maxReplicas : Number.MAX_SAFE_INTEGER,
    ...(state.target !== undefined && { previousTarget: state.target }),
    ...timeOf("lastChangeAt", state.last_change_at),
    ...timeOf("cooldownUntil", state.cooldown_until),
  };
  return fromDecision(dimension, decide(input), recommended, state, target.holders, confidence, settings, now);
}

function fromDecision(
  dimension: NfrDimension,
  decision: EnforceDecision,
  recommended: number,
  state: EnforcementState,
  holders: EnforcementChange["holders"],
  confidence: number,
  settings: ClassRuntimeSettings,
  now: Date,
): DimensionPlan {
  if (decision.kind === "SkipMode") {
    return {
      dimension,
      state,
      verdict: { enforced: false, reason: "SkipMode", message: "The mode is not enforce" },
      notes: [],
    };
  }
  const { target, clamped } = decision;
  const clampNote: readonly EnforcementNote[] =
    clamped && state.target !== target
      ? [{ reason: "NFRClampedMax", message: `${dimension} ${recommended} is out of bounds; ${target} is used` }]
      : [];
  if (decision.kind === "Apply") {
    if ((state.failures ?? 0) > settings.enforcement.maxRetries) {
      return {
        dimension,
        state,
        verdict: {
          enforced: false,
          reason: "EnforceFailed",
          message: `${dimension} ${target} was refused ${state.failures} times and is given up until it changes`,
        },
        notes: [],
      };
    }
    const change = { dimension, target, confidence, cooldownUntil: decision.cooldownUntil, holders };
    return {
      dimension,
      state,
      verdict: {
        enforced: true,
        reason: "Applied",
        message: "Every recommendation in the enforced dimensions is applied",
      },
      change,
      notes: clampNote,
    };
  }
  const isCooldown = decision.kind === "WaitCooldown";
  const skipped = `${decision.kind} ${target}`;
  const changed = decision.kind === "WaitStability" && decision.changed;
  const failing = (state.failures ?? 0) > 0 && !changed;
  const next: EnforcementState = {
    ...state,
    target,
    ...(changed && { last_change_at: formatTime(now), failures: 0 }),
    skipped,
  };
  const note: EnforcementNote = isCooldown
    ? { reason: "NFRSkippedCooldown", message: `${dimension} ${target} waits until the cooldown is over` }
    : { reason: "NFRSkippedStability", message: `${dimension} ${target} waits until it has been stable` };
  return {
    dimension,
    state: next,
    verdict: {
      enforced: false,
      reason: decision.kind,
      message: `${dimension} ${target} is not applied yet: ${isCooldown ? "the last change was too recent" : "the value must stay the same for a while"}`,
    },
    notes: [...clampNote, ...(state.skipped === skipped || failing ? [] : [note])],
    lookAgainMs: Math.max(1, decision.waitMs),
  };
}

const timeOf = <K extends string>(key: K, text: string | undefined): Partial<Record<K, Date>> =>
  text === undefined || Number.isNaN(Date.parse(text)) ? {} : ({ [key]: new Date(text) } as Record<K, Date>);

function withoutSkip({ skipped: _skipped, ...state }: EnforcementState): EnforcementState {
  return state;
}
