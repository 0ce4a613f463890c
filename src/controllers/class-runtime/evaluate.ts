import type { Pod } from "../../api/builtin/pod.ts";
import type { Deployment } from "../../api/builtin/workloads.ts";
import type { ClassRuntime } from "../../api/class-runtime.ts";
import { labels } from "../../api/well-known.ts";
import { findCondition } from "../../kube/condition.ts";
import { nameHash } from "../../kube/names.ts";
import type { KubeObject } from "../../kube/object.ts";
import { controllerOf } from "../../kube/owner-reference.ts";
import { isQuotaRefusal } from "../../kube/quota/refusal.ts";
import { childId, childKindOf, type ObservedChild } from "./child-kinds.ts";
import { holds } from "./drift.ts";
import { enforcementMode } from "./enforcement-mode.ts";
import { type FunctionReport, reportFunctions } from "./function-report.ts";
import { type EnforcementPlan, planEnforcement } from "./nfr/plan.ts";
import { type Anomaly, podTrouble } from "./pod-trouble.ts";
import type { ClassRuntimeSettings } from "./settings.ts";
import { selectTemplate } from "./templates/select.ts";
import type { Platform, Readiness, Router, Template, WantedChild } from "./templates/template.ts";

/** All that is known of one class runtime when it is reconciled. */
export interface Observation {
  readonly classRuntime: ClassRuntime;
  readonly now: Date;
  readonly settings: ClassRuntimeSettings;
  readonly templates: readonly Template[];
  readonly platform: Platform;
  readonly routers: readonly Router[];
  /** Everything of a managed kind that carries our label. */
  readonly children: readonly ObservedChild[];
  readonly pods: readonly Pod[];
}

export interface Decision {
  readonly template?: Template;
  /** Why it is not the template that was asked for. */
  readonly warning?: string;
  readonly wanted: readonly WantedChild[];
  /** Children to apply: missing, changed by somebody else, or not what the spec and the settings ask for any more. */
  readonly apply: readonly WantedChild[];
  readonly missing: readonly WantedChild[];
  readonly observed: ReadonlyMap<string, ObservedChild>;
  /** Ours, and not wanted any more. */
  readonly remove: readonly ObservedChild[];
  readonly states: readonly ChildState[];
  readonly functions: readonly FunctionReport[];
  /** Whether every child that counts is ready. */
  readonly ready: boolean;
  /** What is wrong by observation alone, the worst first. */
  readonly anomalies: readonly Anomaly[];
  readonly routers: readonly Router[];
  readonly enforcement: EnforcementPlan;
}

export interface ChildState {
  readonly wanted: WantedChild;
  readonly readiness: Readiness;
  readonly counts: boolean;
}

export function evaluate(observation: Observation): Decision {
  const { classRuntime, settings, templates, platform, routers, children, now } = observation;
  const selection = selectTemplate(classRuntime, settings, platform, templates);
  const rendered = selection?.template.render({ classRuntime, settings, platform, routers });
  const wanted = rendered?.ok ? rendered.children.map(marked) : [];
  const observed = new Map(children.map((child) => [childId(child.kind, child.object.metadata.name), child]));
  const refusal: readonly Anomaly[] =
    rendered === undefined
      ? [{ reason: "ApplyInvalid", message: "Validation failed: there is no template for this cluster." }]
      : rendered.ok
        ? []
        : [{ reason: "ApplyInvalid", message: `Validation failed: ${rendered.message}.` }];

  const states = wanted.map((child) => stateOf(child, observed, selection?.template));
  const missing = wanted.filter((child) => !observed.has(idOf(child)));
  const apply = wanted.filter((child) => !holds(observed.get(idOf(child))?.object, child.object));
  const surplus = refusal.length > 0 ? [] : surplusOf(observation, new Set(wanted.map(idOf)));
  const trouble = troubleOf(observation, wanted);
  const functions = reportFunctions(classRuntime, selection?.template, states, [...refusal, ...trouble]);
  const ready =
    refusal.length === 0 &&
    states.every(({ counts, readiness }) => !counts || readiness.ready) &&
    functions.every((report) => report.ready);
  const decision = {
    ...(selection && { template: selection.template }),
    ...(selection?.warning && { warning: selection.warning }),
    wanted,
    apply,
    missing,
    observed,
    remove: surplus.map(({ child }) => child),
    states,
    functions,
    ready,
    anomalies: [...refusal, ...trouble, ...surplus.flatMap(({ anomaly }) => anomaly ?? [])],
    routers,
  };
  return { ...decision, enforcement: planEnforcement(classRuntime, decision, settings, now) };
}

/**
 * What we have stopped to want cannot be told from what others have added, so a child carries a mark of all that is wanted:
 * when a router goes or a setting changes, the mark differs and the child is applied again.
 */
function marked(child: WantedChild): WantedChild {
  const { object } = child;
  const mark = { [labels.applied]: nameHash(JSON.stringify(object), markLength) };
  const metadata = { ...object.metadata, labels: { ...object.metadata.labels, ...mark } };
  return { ...child, object: { ...object, metadata } };
}

const markLength = 16;

const idOf = ({ kind, name }: WantedChild): string => childId(childKindOf(kind), name);

function stateOf(
  wanted: WantedChild,
  observed: ReadonlyMap<string, ObservedChild>,
  template: Template | undefined,
): ChildState {
  const rule = template?.readiness.find(({ kind }) => kind === wanted.kind);
  const counts = rule?.contributesToAvailable ?? false;
  // A missing child is applied in this very reconcile, so it is judged like one that was just made.
  const object = observed.get(idOf(wanted))?.object ?? (wanted.object as KubeObject);
  return { wanted, counts, readiness: rule?.evaluate(object, wanted) ?? { ready: true } };
}

interface Surplus {
  readonly child: ObservedChild;
  readonly anomaly?: Anomaly;
}

/**
 * Objects with our label that nobody wants. Those that we control are left over from an earlier spec and go quietly; one
 * that nobody controls is reported as well. What another owner controls is not ours to delete, whatever its label says.
 */
function surplusOf({ classRuntime, children }: Observation, wanted: ReadonlySet<string>): readonly Surplus[] {
  return children.flatMap((child): readonly Surplus[] => {
    const { metadata } = child.object;
    const id = childId(child.kind, metadata.name);
    if (wanted.has(id) || metadata.deletionTimestamp !== undefined) return [];
    const controller = controllerOf(child.object);
    if (controller?.uid === classRuntime.metadata.uid) return [{ child }];
    if (controller !== undefined) return [];
    return [{ child, anomaly: { reason: "Orphaned", message: `Found unmanaged ${id}; cleanup scheduled.` } }];
  });
}

function troubleOf(
  { classRuntime, pods, children, settings, now }: Observation,
  wanted: readonly WantedChild[],
): Anomaly[] {
  const keys = new Map(wanted.map(({ name, functionKey }) => [name, functionKey]));
  const ofPods = pods.flatMap((pod) => {
    const app = pod.metadata.labels?.["app"] ?? "";
    const trouble = keys.has(app) ? podTrouble(pod, now, settings) : undefined;
    const functionKey = keys.get(app);
    return trouble ? [{ ...trouble, ...(functionKey !== undefined && { functionKey }) }] : [];
  });
  const ofDeployments = children.flatMap(({ kind, object }) => {
    const { name } = object.metadata;
    if (kind !== "Deployment" || !keys.has(name)) return [];
    const failure = replicaFailure(object as Deployment);
    const functionKey = keys.get(name);
    return failure ? [{ ...failure, ...(functionKey !== undefined && { functionKey }) }] : [];
  });
  const all = [...ofPods, ...ofDeployments, ...enforcementTrouble(classRuntime)];
  return all.sort((a, b) => severity(a) - severity(b) || (a.message < b.message ? -1 : 1));
}

/** Pods that the API does not let be made. */
function replicaFailure({ metadata, status }: Deployment): Anomaly | undefined {
  const failure = findCondition(status?.conditions, "ReplicaFailure");
  if (failure?.status !== "True") return undefined;
  const message = `Pods of Deployment/${metadata.name} cannot be made: ${failure.message ?? failure.reason ?? "no reason given"}`;
  return { reason: isQuotaRefusal(failure.message) ? "QuotaExceeded" : "ApplyFailed", message };
}

/** A failed enforcement stays the reason until it succeeds or nobody wants it any more. */
function enforcementTrouble(classRuntime: ClassRuntime): readonly Anomaly[] {
  if (enforcementMode(classRuntime) !== "enforce") return [];
  const states = Object.values(classRuntime.status?.nfr_enforcement_state ?? {});
  const condition = findCondition(classRuntime.status?.conditions, "NfrEnforced");
  if (condition?.status !== "False" || !states.some(({ failures = 0 }) => failures > 0)) return [];
  const reason = enforceReasons.find((candidate) => candidate === condition.reason);
  return reason ? [{ reason, message: condition.message }] : [];
}

export const enforceReasons = ["EnforceConflict", "EnforceInvalid", "EnforceFallbackFailed", "EnforceFailed"] as const;

/** Which of several troubles is told first. */
const order: readonly Anomaly["reason"][] = [
  "OutOfMemory",
  "CrashLoop",
  "QuotaExceeded",
  "ImagePull",
  "Unschedulable",
  "ApplyFailed",
  ...enforceReasons,
];
const severity = ({ reason }: Anomaly): number => order.indexOf(reason);
