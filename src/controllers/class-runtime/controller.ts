import { CustomResourceDefinition } from "../../api/builtin/custom-resource-definition.ts";
import { KnativeService } from "../../api/builtin/knative.ts";
import { ServiceMonitor } from "../../api/builtin/monitoring.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { HorizontalPodAutoscaler } from "../../api/builtin/scaling.ts";
import { Service } from "../../api/builtin/service.ts";
import { Deployment } from "../../api/builtin/workloads.ts";
import { ClassRuntime } from "../../api/class-runtime.ts";
import { labels } from "../../api/well-known.ts";
import type { Env } from "../../env/env.ts";
import { setCondition } from "../../kube/condition.ts";
import { deepEqual } from "../../kube/equality.ts";
import type { KubeObject } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import { type Controller, defineController, watch } from "../../runtime/controller.ts";
import { MetricsRegistry } from "../../runtime/metrics.ts";
import { allow } from "../../runtime/permission.ts";
import {
  annotationsChanged,
  deletionChanged,
  generationChanged,
  or,
  type Predicate,
} from "../../runtime/predicates.ts";
import type { Read } from "../../runtime/read.ts";
import { act, type Outcome } from "./act.ts";
import type { Assessment } from "./assess.ts";
import { cleanUp } from "./clean-up.ts";
import { evaluate } from "./evaluate.ts";
import { eventsOf } from "./events.ts";
import { followKinds } from "./followed-kinds.ts";
import { controllerName } from "./labels.ts";
import { classRuntimeMetrics } from "./metrics.ts";
import { type AnalyzerOptions, classRuntimeAnalyzer } from "./nfr/analyzer.ts";
import { classesOf, indexes, keyOf, namesakeIn, observe, optionalDefinitions } from "./observe.ts";
import { troubleSigns } from "./pod-trouble.ts";
import { phaseConditions, reduce, withTime } from "./reduce.ts";
import { classRuntimeRemediation } from "./remediation.ts";
import { type ClassRuntimeSettings, defaultSettings } from "./settings.ts";
import { builtinTemplates } from "./templates/catalogue.ts";
import type { Template } from "./templates/template.ts";
import { Unsaid } from "./unsaid.ts";
import { wirePermissions } from "./wire/permissions.ts";
import { withoutNulls } from "./without-nulls.ts";

export interface ClassRuntimeOptions {
  /** For the time that enforcement takes. */
  readonly env?: Env;
  readonly settings?: ClassRuntimeSettings;
  readonly metrics?: MetricsRegistry;
  /** Beside the built-in ones. */
  readonly templates?: readonly Template[];
  /** Absent: nothing is measured, and recommendations come from elsewhere if at all. */
  readonly analyzer?: AnalyzerOptions;
}

/** Deploys classes of functions and says honestly how they are: the controllers of spec/class-runtime-manager.md. */
export function classRuntimeControllers(options: ClassRuntimeOptions = {}): readonly Controller[] {
  const { env, settings = defaultSettings } = options;
  const templates = [...builtinTemplates, ...(options.templates ?? [])];
  const metrics = classRuntimeMetrics(options.metrics ?? new MetricsRegistry());
  const followed = followKinds();
  const unsaid = new Unsaid();
  const children = { map: classesOf, predicates: [childChanged] };
  const controller = defineController({
    name: controllerName,
    reconciles: ClassRuntime,
    // The analyzer and people write recommendations into the status, so a change of those counts too.
    predicates: [or(generationChanged, annotationsChanged, deletionChanged, recommendationsChanged)],
    watches: [
      watch(Deployment, children),
      watch(Service, children),
      watch(HorizontalPodAutoscaler, children),
      watch(Pod, { map: classesOf, predicates: [podChanged], scope: { labelSelector: labels.classOwner } }),
      watch(CustomResourceDefinition, { map: whenOptional, scope: { metadataOnly: true } }),
    ],
    sources: [followed.wakes],
    indexes,
    fieldManager: "oprc-crm",
    permissions: [
      ...[Deployment, Service, HorizontalPodAutoscaler, KnativeService, ServiceMonitor].map((kind) =>
        allow(kind, ["create", "get", "list", "patch", "delete"]),
      ),
      ...wirePermissions,
    ],
    finalizer: cleanUp,
    observe: (object, { read, now }) => observe(withoutNulls(object), read, now, { settings, templates, followed }),
    evaluate: (observation) => ({ observation, decision: evaluate(observation) }),
    async act({ decision, observation: { classRuntime } }, { write, read }) {
      metrics.reads(read);
      const began = env?.monotonicMs() ?? 0;
      const outcome = await act(
        decision,
        write,
        classRuntime,
        namesakeIn(read, followed, classRuntime.metadata.namespace ?? ""),
      );
      metrics.enforced(outcome.enforced, ((env?.monotonicMs() ?? 0) - began) / 1000);
      return unsaid.add(classRuntime.metadata.uid ?? "", outcome);
    },
    reduce({ object, decision: { observation, decision }, outcome }) {
      const { status, assessment } = reduce(observation, decision, outcome);
      return {
        status,
        afterWrite() {
          unsaid.told(object.metadata.uid ?? "");
          metrics.moved(object.status?.phase ?? "pending", assessment.trail);
        },
        events: eventsOf(object, decision, outcome, assessment),
        ...lookAgain(assessment, outcome),
      };
    },
    reduceFault({ object, now }) {
      const old = object.status ?? {};
      if (old.phase !== undefined && old.phase !== "pending" && old.phase !== "applying") return old;
      const message = "The API could not be asked to apply everything; it is tried again";
      const conditions = phaseConditions({ phase: "applying", message }).reduce<typeof old.conditions>(
        (list, state) => setCondition(list, state, now),
        old.conditions,
      );
      const since = old.phase === "applying" ? (old.phase_since ?? formatTime(now)) : formatTime(now);
      return withTime(
        old,
        { ...old, phase: "applying", message, phase_since: since, ...(conditions && { conditions }) },
        now,
      );
    },
  });
  const { analyzer } = options;
  return [
    controller,
    classRuntimeRemediation,
    ...followed.controllers,
    ...(analyzer ? [classRuntimeAnalyzer(analyzer, settings)] : []),
  ];
}

/** A kind that was just defined is served in a moment, and nobody tells when. */
const unservedMs = 1_000;

function lookAgain({ lookAgainMs }: Assessment, { unserved }: Outcome): { readonly requeueAfterMs?: number } {
  const requeueAfterMs = unserved.length > 0 ? Math.min(lookAgainMs ?? unservedMs, unservedMs) : lookAgainMs;
  return requeueAfterMs === undefined ? {} : { requeueAfterMs };
}

/** Only what decides about a child: its spec and labels, and of its status what readiness is made of. */
const childChanged: Predicate = (change) => {
  if (change.kind !== "Updated") return true;
  const { old, object } = change;
  return (
    old.metadata.generation !== object.metadata.generation ||
    old.metadata.deletionTimestamp !== object.metadata.deletionTimestamp ||
    !deepEqual(old.metadata.labels, object.metadata.labels) ||
    !deepEqual(old.metadata.annotations, object.metadata.annotations) ||
    !deepEqual(old.metadata.ownerReferences, object.metadata.ownerReferences) ||
    !deepEqual(withoutTimes(old), withoutTimes(object))
  );
};

function withoutTimes(object: KubeObject): unknown {
  const { spec, status } = object as { readonly spec?: unknown; readonly status?: Readonly<Record<string, unknown>> };
  const conditions = (status?.["conditions"] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return {
    spec,
    status: {
      ...status,
      conditions: conditions.map(({ type, status: is, reason, message }) => [type, is, reason, message]),
    },
  };
}

const podChanged: Predicate<Pod> = (change) =>
  change.kind !== "Updated" || !deepEqual(troubleSigns(change.old), troubleSigns(change.object));

const recommendationsChanged: Predicate<ClassRuntime> = (change) =>
  change.kind !== "Updated" ||
  !deepEqual(change.old.status?.nfr_recommendations, change.object.status?.nfr_recommendations) ||
  !deepEqual(change.old.status?.nfr_recommendation_details, change.object.status?.nfr_recommendation_details);

/** When an optional API comes or goes, every class runtime may fit another template. */
const whenOptional = ({ metadata }: KubeObject, read: Read) =>
  Object.values<string>(optionalDefinitions).includes(metadata.name) ? read.list(ClassRuntime).map(keyOf) : [];
