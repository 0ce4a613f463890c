import type { ClassRuntime, ClassRuntimePhase } from "../../api/class-runtime.ts";
import { type ConditionState, setCondition } from "../../kube/condition.ts";
import { deepEqual } from "../../kube/equality.ts";
import { formatTime } from "../../kube/time.ts";
import type { Outcome } from "./act.ts";
import { type Assessment, assess } from "./assess.ts";
import { childKindOf } from "./child-kinds.ts";
import type { Decision, Observation } from "./evaluate.ts";
import { reduceEnforcement } from "./nfr/reduce-enforcement.ts";
import { isTelemetryWanted } from "./templates/environment.ts";

export type ClassRuntimeStatus = NonNullable<ClassRuntime["status"]>;

export interface Reduction {
  readonly status: ClassRuntimeStatus;
  readonly assessment: Assessment;
}

/**
 * The new status by the specification's merge table: what is not ours stays as it is, lists are matched by their keys, and
 * a status that differs only in its times is not a new one.
 */
export function reduce(observation: Observation, decision: Decision, outcome: Outcome): Reduction {
  const { classRuntime, now, settings } = observation;
  const old: ClassRuntimeStatus = classRuntime.status ?? {};
  const { generation } = classRuntime.metadata;
  const enforced = reduceEnforcement(old, decision.enforcement, outcome.enforced, settings, now);
  const settled = outcome.enforced.some(({ ok }) => ok);
  // What was just put right is not held against it any more.
  const left = settled
    ? { ...decision, anomalies: decision.anomalies.filter(({ reason }) => !reason.startsWith("Enforce")) }
    : decision;
  const gone = outcome.orphans.filter(({ message }) => left.anomalies.every((other) => other.message !== message));
  const assessment = assess(observation, left, [...outcome.refusals, ...enforced.trouble, ...gone]);
  const states: ConditionState[] = [
    ...phaseConditions(assessment),
    ...nfrObserved({ ...old, ...enforced.status }),
    ...(enforced.condition ? [enforced.condition] : []),
    ...telemetryConditions(observation),
  ].map((state) => ({ ...state, ...(generation !== undefined && { observedGeneration: generation }) }));
  const next: ClassRuntimeStatus = {
    ...old,
    phase: assessment.phase,
    message: assessment.message,
    ...(generation !== undefined && { observed_generation: generation }),
    phase_since: formatTime(assessment.since),
    conditions:
      states.reduce<ClassRuntimeStatus["conditions"]>(
        (conditions, state) => setCondition(conditions, state, now),
        old.conditions,
      ) ?? [],
    functions: mergeFunctions(old.functions, withRefusals(decision.functions, outcome), now),
    resource_refs: references(decision),
    ...(decision.routers.length > 0 || old.routers ? { routers: decision.routers } : {}),
    ...enforced.status,
  };
  return { status: withTime(old, next, now), assessment };
}

export const lifecycleReason: Readonly<Record<ClassRuntimePhase, string>> = {
  pending: "Pending",
  applying: "Applying",
  progressing: "Progressing",
  available: "Ready",
  degraded: "Degraded",
  deleting: "Deleting",
};

/** Progressing, Available and Degraded, of which at most one is true. */
export function phaseConditions({
  phase,
  degraded,
  message,
}: Pick<Assessment, "phase" | "degraded" | "message">): readonly ConditionState[] {
  const reason = lifecycleReason[phase];
  const state = (type: string, holds: boolean, own: string = reason): ConditionState => ({
    type,
    status: holds ? "True" : "False",
    reason: own,
    message,
  });
  return [
    state("Available", phase === "available"),
    state("Progressing", phase === "applying" || phase === "progressing"),
    state("Degraded", phase === "degraded", degraded?.reason ?? reason),
  ];
}

/** Said once there is something to say; a recommendation is never taken back by us. */
export function nfrObserved(status: ClassRuntimeStatus): readonly ConditionState[] {
  const dimensions = Object.keys(status.nfr_recommendations ?? {}).sort();
  const known = status.conditions?.some(({ type }) => type === "NfrObserved") ?? false;
  if (dimensions.length > 0) {
    const message = `There are recommendations for ${dimensions.join(", ")}`;
    return [{ type: "NfrObserved", status: "True", reason: "PrometheusQueryOK", message }];
  }
  if (!known) return [];
  return [{ type: "NfrObserved", status: "False", reason: "NoRecommendation", message: "There is no recommendation" }];
}

function telemetryConditions({ classRuntime, settings }: Observation): readonly ConditionState[] {
  if (!classRuntime.spec.telemetry) return [];
  const wanted = isTelemetryWanted(classRuntime);
  const { endpoint } = settings.telemetry;
  return [
    {
      type: "TelemetryConfigured",
      status: wanted ? "True" : "False",
      reason: wanted ? "TelemetryEnabled" : "TelemetryDisabled",
      message: wanted ? "Functions are told where and what to report" : "Telemetry is switched off",
    },
    ...(wanted
      ? [
          {
            type: "TelemetryDegraded",
            status: endpoint === undefined ? ("True" as const) : ("False" as const),
            reason: endpoint === undefined ? "NoEndpoint" : "EndpointConfigured",
            message: endpoint === undefined ? "No OpenTelemetry endpoint is configured" : `Reports go to ${endpoint}`,
          },
        ]
      : []),
  ];
}

/** A function whose objects were refused is not ready, whatever the old ones say. */
function withRefusals(reports: Decision["functions"], { refusals }: Outcome): Decision["functions"] {
  if (refusals.length === 0) return reports;
  return reports.map((report) => {
    const refusal = refusals.find(({ functionKey }) => functionKey === report.function_key);
    return refusal ? { ...report, ready: false, reason: refusal.reason, message: refusal.message } : report;
  });
}

type FunctionStatus = NonNullable<ClassRuntimeStatus["functions"]>[number];

/** By function_key; fields of other writers stay, and the time moves only when readiness does. */
export function mergeFunctions(
  old: readonly FunctionStatus[] | undefined,
  reports: Decision["functions"],
  now: Date,
): readonly FunctionStatus[] {
  const byKey = new Map(old?.map((entry) => [entry.function_key, entry]));
  return reports.map((report) => {
    const {
      reason: _reason,
      message: _message,
      observed_url: url,
      lastTransitionTime: time,
      ...kept
    } = byKey.get(report.function_key) ?? { function_key: report.function_key };
    const moved = (kept as Partial<FunctionStatus>).ready !== report.ready || time === undefined;
    return {
      ...kept,
      ...(url !== undefined && { observed_url: url }),
      ...report,
      lastTransitionTime: moved ? formatTime(now) : time,
    };
  });
}

function references({ wanted }: Decision): NonNullable<ClassRuntimeStatus["resource_refs"]> {
  const byId = new Map(
    wanted.map(({ kind, name }) => [`${childKindOf(kind)}/${name}`, { kind: childKindOf(kind), name }]),
  );
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, reference]) => reference);
}

/** `last_updated` says when anything else last changed. */
export function withTime(old: ClassRuntimeStatus, next: ClassRuntimeStatus, now: Date): ClassRuntimeStatus {
  return deepEqual(withoutTimes(old), withoutTimes(next)) ? old : { ...next, last_updated: formatTime(now) };
}

function withoutTimes({ last_updated: _updated, ...status }: ClassRuntimeStatus): unknown {
  return {
    ...status,
    conditions: status.conditions?.map(({ lastTransitionTime: _time, ...rest }) => rest),
    functions: status.functions?.map(({ lastTransitionTime: _time, ...rest }) => rest),
  };
}
