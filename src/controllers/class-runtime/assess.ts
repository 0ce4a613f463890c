import type { ClassRuntime, ClassRuntimePhase, DegradedReason } from "../../api/class-runtime.ts";
import { findCondition, isConditionTrue } from "../../kube/condition.ts";
import { childKindOf } from "./child-kinds.ts";
import type { Decision, Observation } from "./evaluate.ts";
import { nextPhase } from "./life-cycle.ts";
import { type Anomaly, settledMs } from "./pod-trouble.ts";

/** Which phase follows from what was seen and from how applying it went, and when to look again if nothing happens. */
export interface Assessment {
  readonly phase: ClassRuntimePhase;
  /** The phases that were passed through, each by an edge of the life cycle; ends with `phase`. */
  readonly trail: readonly ClassRuntimePhase[];
  readonly degraded?: { readonly reason: DegradedReason; readonly message: string };
  readonly message: string;
  readonly since: Date;
  /** Only while something is expected to happen: at rest, events are waited for. */
  readonly lookAgainMs?: number;
}

export function assess(observation: Observation, decision: Decision, refusals: readonly Anomaly[]): Assessment {
  const { classRuntime, now, settings } = observation;
  const { status } = classRuntime;
  const before = status?.phase ?? "pending";
  const isNewSpec = classRuntime.metadata.generation !== status?.observed_generation;
  const beganAt = isNewSpec ? now : timeOf(status?.phase_since, now);
  const { wanted, degraded } = wantedPhase(
    observation,
    decision,
    refusals,
    isNewSpec,
    now.getTime() - beganAt.getTime(),
  );
  const trail = trailTo(before, wanted);
  const phase = trail.at(-1) ?? before;
  const since = phase === before ? beganAt : now;
  const sinceMs = now.getTime() - since.getTime();
  const lookAgainMs = lookAgain(phase, trail.length > 0, sinceMs, observation, decision, settings);
  return {
    phase,
    trail,
    ...(phase === "degraded" && degraded && { degraded }),
    message: messageOf(phase, decision, degraded),
    since,
    ...(lookAgainMs !== undefined && { lookAgainMs }),
  };
}

interface Wanted {
  readonly wanted: ClassRuntimePhase;
  readonly degraded?: { readonly reason: DegradedReason; readonly message: string };
}

/** The specification's order: errors, readiness, time, recovery. */
function wantedPhase(
  { classRuntime, settings }: Observation,
  decision: Decision,
  refusals: readonly Anomaly[],
  isNewSpec: boolean,
  elapsedMs: number,
): Wanted {
  const [worst, ...others] = [...refusals, ...decision.anomalies];
  if (worst) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : "";
    return { wanted: "degraded", degraded: { reason: worst.reason, message: `${worst.message}${more}` } };
  }
  const { timeouts } = settings;
  const [missing] = decision.missing;
  if (decision.ready && !isNewSpec && !missing) return { wanted: "available" };
  const before = classRuntime.status?.phase;
  if (before === "degraded" && !isNewSpec) {
    const old = findCondition(classRuntime.status?.conditions, "Degraded");
    const timed = (["Timeout", "ChildMissing"] as const).find((reason) => reason === old?.reason);
    const isStuck = timed !== undefined && !hasProgressed(classRuntime, decision);
    if (isStuck) return { wanted: "degraded", degraded: { reason: timed, message: old?.message ?? "" } };
  }
  if (before === "progressing" && !isNewSpec) {
    if (missing && elapsedMs >= timeouts.missingMs) {
      const message = `Expected ${childKindOf(missing.kind)}/${missing.name} not found.`;
      return { wanted: "degraded", degraded: { reason: "ChildMissing", message } };
    }
    if (elapsedMs >= timeouts.readyMs) {
      const message = `Readiness not achieved within ${timeouts.readyMs / 1000}s. ${waitingFor(decision)}`;
      return { wanted: "degraded", degraded: { reason: "Timeout", message } };
    }
  }
  return { wanted: "progressing" };
}

/** A sign of recovery: more functions are ready than we last said. */
function hasProgressed({ status }: ClassRuntime, decision: Decision): boolean {
  const readyBefore = status?.functions?.filter(({ ready }) => ready).length ?? 0;
  return decision.ready || decision.functions.filter(({ ready }) => ready).length > readyBefore;
}

/** Pending and applying are over within one reconcile; every other phase is shown before the next is entered. */
function trailTo(before: ClassRuntimePhase, wanted: ClassRuntimePhase): readonly ClassRuntimePhase[] {
  const trail: ClassRuntimePhase[] = [];
  for (let phase = before; phase !== wanted; ) {
    const next = nextPhase(phase, wanted);
    if (next === phase) break;
    trail.push(next);
    if (next !== "applying") break;
    phase = next;
  }
  return trail;
}

function lookAgain(
  phase: ClassRuntimePhase,
  moved: boolean,
  sinceMs: number,
  { pods, now }: Observation,
  decision: Decision,
  { timeouts, retry }: Observation["settings"],
): number | undefined {
  const { lookAgainMs: enforcement, verdict } = decision.enforcement;
  // Enforcement was held back by the phase that has just ended.
  if (phase === "available" && moved && verdict?.reason === "NotAvailable") return soonMs;
  // Of a rollout that gets stuck nobody tells: the old pods still serve, and the new one only waits.
  if (phase === "available") return earliest([enforcement, ...waitingLeftMs(pods.filter(isWaiting), now, timeouts)]);
  if (phase === "degraded") {
    // A spec that cannot be rendered becomes no better by waiting.
    if (decision.anomalies[0]?.reason === "ApplyInvalid") return undefined;
    // The wait grows with the time in the phase, so that the pauses between tries double up to the limit.
    const waitMs = Math.min(Math.max(sinceMs, retry.baseMs), retry.maxMs);
    const settles = decision.anomalies.some(({ reason }) => reason === "CrashLoop" || reason === "OutOfMemory");
    return Math.min(waitMs, enforcement ?? waitMs, settles ? settledMs : waitMs);
  }
  if (phase !== "progressing") return undefined;
  if (decision.ready && decision.missing.length === 0) return soonMs;
  const deadlines = [
    timeouts.readyMs - sinceMs,
    ...(decision.missing.length > 0 ? [timeouts.missingMs - sinceMs] : []),
    ...waitingLeftMs(pods, now, timeouts),
  ];
  return Math.max(soonMs, Math.min(...deadlines));
}

type Pods = Observation["pods"];

/** A pod that waits for an image or a node becomes trouble at its own time. */
const waitingLeftMs = (pods: Pods, now: Date, { waitingMs }: Observation["settings"]["timeouts"]): readonly number[] =>
  pods.flatMap(({ metadata }) => {
    const leftMs = waitingMs - (now.getTime() - Date.parse(metadata.creationTimestamp ?? ""));
    return leftMs > 0 ? [Math.max(soonMs, leftMs)] : [];
  });

const isWaiting = ({ metadata, status }: Pods[number]): boolean =>
  metadata.deletionTimestamp === undefined && !isConditionTrue(status?.conditions, "Ready");

const earliest = (waits: readonly (number | undefined)[]): number | undefined => {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

const soonMs = 10;
const maxNamed = 3;

function messageOf(phase: ClassRuntimePhase, decision: Decision, degraded: Wanted["degraded"]): string {
  const warning = decision.warning ? `; ${decision.warning}` : "";
  if (phase === "degraded") return `${degraded?.message ?? "Something is wrong"}${warning}`;
  if (phase !== "available") return `${waitingFor(decision)}${warning}`;
  const count = decision.functions.length;
  const hasOdgm = decision.wanted.some(({ kind }) => kind === "OdgmDeployment");
  if (count === 0) return `It has no functions${hasOdgm ? "; the data store is ready" : ""}${warning}`;
  const functions = count === 1 ? "The function is" : `All ${count} functions are`;
  return `${functions} ready${hasOdgm ? ", and so is the data store" : ""}${warning}`;
}

function waitingFor({ states, functions }: Decision): string {
  const waiting = states.filter(({ counts, readiness }) => counts && !readiness.ready);
  if (waiting.length === 0) {
    const idle = functions.filter(({ ready }) => !ready);
    return idle.length > 0
      ? `Waiting for ${idle
          .slice(0, maxNamed)
          .map(({ function_key, message }) => `${function_key}: ${message}`)
          .join("; ")}`
      : "Applied; waiting for a look at the result";
  }
  const named = waiting
    .slice(0, maxNamed)
    .map(
      ({ wanted, readiness: { message = "not ready" } }) => `${childKindOf(wanted.kind)}/${wanted.name}: ${message}`,
    );
  const more = waiting.length > maxNamed ? `; and ${waiting.length - maxNamed} more` : "";
  return `Waiting for ${named.join("; ")}${more}`;
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : new Date(time);
}
