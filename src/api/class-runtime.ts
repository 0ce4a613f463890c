/** A class of functions and the data store beside it. Field names are snake_case, as its users write them. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import {
  anything,
  array,
  boolean,
  defaulted,
  integer,
  map,
  number,
  object,
  oneOf,
  string,
} from "../kube/schema/build.ts";
import { classFunction } from "./class-function.ts";
import { age, conditionColumn } from "./columns.ts";
import { type ConditionTypeOf, conditions, type ReasonOf } from "./condition.ts";
import { optional } from "./nullable.ts";
import { odgmConfig } from "./odgm.ts";

export const classRuntimePhases = ["pending", "applying", "progressing", "available", "degraded", "deleting"] as const;
export type ClassRuntimePhase = (typeof classRuntimePhases)[number];

const lifecycleReasons = ["Pending", "Applying", "Progressing", "Ready", "Degraded", "Deleting"] as const;

/** Why a class runtime is degraded. */
export const degradedReasons = [
  "Conflict",
  "ApplyInvalid",
  "ApplyFailed",
  "CrashLoop",
  "Timeout",
  "ChildMissing",
  "Orphaned",
  "ImagePull",
  "Unschedulable",
  "QuotaExceeded",
  "OutOfMemory",
  "EnforceConflict",
  "EnforceInvalid",
  "EnforceFallbackFailed",
  "EnforceFailed",
] as const;
export type DegradedReason = (typeof degradedReasons)[number];

export const classRuntimeConditions = {
  Progressing: lifecycleReasons,
  Available: lifecycleReasons,
  Degraded: [...degradedReasons, ...lifecycleReasons],
  NfrObserved: ["PrometheusQueryOK", "NoRecommendation", "RecommendationStale"],
  NfrEnforced: [
    "Applied",
    "NoRecommendation",
    "RecommendationStale",
    "LowConfidence",
    "SkipMode",
    "WaitStability",
    "WaitCooldown",
    "NotAvailable",
    "NotEnforceable",
    "EnforceConflict",
    "EnforceInvalid",
    "EnforceFallbackFailed",
    "EnforceFailed",
  ],
  TelemetryConfigured: ["TelemetryEnabled", "TelemetryDisabled"],
  TelemetryDegraded: ["NoEndpoint", "EndpointConfigured"],
} as const;
export type ClassRuntimeConditionType = ConditionTypeOf<typeof classRuntimeConditions>;
export type ClassRuntimeReason<T extends ClassRuntimeConditionType = ClassRuntimeConditionType> = ReasonOf<
  typeof classRuntimeConditions,
  T
>;

/** The reasons of the events that a class runtime gets. */
export const classRuntimeEvents = [
  "Applied",
  "Available",
  "Degraded",
  "Recovered",
  "OrphanDeleted",
  "RemediationRequested",
  "RemediationRefused",
  "NFRApplied",
  "NFRSkippedCooldown",
  "NFRSkippedStability",
  "NFRClampedMax",
  "NFRApplyFailed",
] as const;
export type ClassRuntimeEvent = (typeof classRuntimeEvents)[number];

export const nfrDimensions = ["replicas", "cpu", "memory", "odgm_replicas"] as const;
export type NfrDimension = (typeof nfrDimensions)[number];

const nfrRequirements = object(
  {
    min_throughput_rps: optional(integer({ description: "Requests per second to sustain.", minimum: 0 })),
    max_latency_ms: optional(integer({ description: "The latency in milliseconds to stay under.", minimum: 0 })),
    availability_pct: optional(number({ description: "The availability to reach, in percent.", minimum: 0 })),
    consistency: optional(string({ description: "The consistency of the data, such as strong or eventual." })),
  },
  { description: "What the class must achieve besides its function." },
);

const enforcement = object(
  {
    mode: defaulted(
      string({
        description:
          "off, observe (only recommend) or enforce (also apply), in any case of letters. Anything else counts as observe.",
      }),
      "observe",
    ),
    dimensions: optional(
      array(string(), { description: "What may be changed: replicas, memory, cpu. Recommendations are made for all." }),
    ),
  },
  { description: "Whether recommendations are applied by themselves." },
);

const telemetry = object(
  {
    enabled: defaulted(boolean({ description: "Whether functions report traces, metrics and logs." }), false),
    traces: defaulted(boolean({ description: "Whether they report traces." }), true),
    metrics: defaulted(boolean({ description: "Whether they report metrics." }), true),
    logs: defaulted(boolean({ description: "Whether they report logs." }), false),
    sampling_rate: defaulted(number({ description: "The share of traces that is kept, from 0 to 1." }), 0.1),
    service_name: optional(string({ description: "The name to report under; the class runtime's own otherwise." })),
    resource_attributes: optional(map(string(), { description: "Further attributes to report." })),
  },
  { description: "OpenTelemetry settings that functions get through their environment." },
);

const functionStatus = object({
  function_key: string({ description: "The function, as in the spec." }),
  service: string({ description: "The Service in front of the function." }),
  port: integer({ description: "The port of that Service." }),
  predicted_url: string({ description: "Where the function can be reached inside the cluster." }),
  template: string({ description: "The template that the function was deployed with." }),
  observed_url: optional(string({ description: "The address that the platform reported for the function." })),
  ready: optional(boolean({ description: "Whether the function can take requests." })),
  reason: optional(string({ description: "One word for why it cannot." })),
  message: optional(string({ description: "One sentence for why it cannot." })),
  lastTransitionTime: optional(string({ description: "When readiness last changed." })),
});

const appliedRecommendation = object({
  component: string({ description: "What was changed: function or odgm." }),
  dimension: string({ description: "The dimension that was changed." }),
  target: number({ description: "The value that was applied." }),
  basis: optional(string({ description: "Who decided it." })),
  confidence: optional(number({ description: "How sure the decision was, from 0 to 1." })),
  applied_at: optional(string({ description: "When it was applied." })),
});

const recommendationDetail = object(
  {
    observed_at: optional(string({ description: "When the value was computed." })),
    observed_generation: optional(
      integer({ description: "The generation of the spec that it was computed for.", format: "int64" }),
    ),
    confidence: optional(number({ description: "How sure the value is, from 0 to 1." })),
    basis: optional(string({ description: "What the value was computed from." })),
    load: optional(number({ description: "How busy the nodes were then, from 0 to 1, if that is measured." })),
  },
  { description: "Where one recommendation comes from." },
);

const enforcementState = object(
  {
    target: optional(number({ description: "The value that is waiting to become stable." })),
    last_change_at: optional(string({ description: "Since when the value has been the same." })),
    cooldown_until: optional(string({ description: "No further change is applied before this time." })),
    failures: optional(integer({ description: "How often in a row applying it failed.", minimum: 0 })),
    skipped: optional(string({ description: "The last skip that an event was sent for." })),
  },
  { description: "How far enforcement of one dimension has come; it survives a restart." },
);

export const ClassRuntime = defineKind({
  group: "oaas.io",
  version: "v1alpha1",
  kind: "ClassRuntime",
  plural: "classruntimes",
  shortNames: ["crt"],
  categories: ["capstan"],
  description: "Deploys a class of functions together with its data store, and reports honestly whether it works.",
  spec: object(
    {
      package_class_key: optional(string({ description: "The class, as package.Class." })),
      selected_template: optional(
        string({
          description:
            "How to deploy: dev, edge, k8s_deployment (also deployment or k8s) or knative (also kn or knsvc). The best fit otherwise.",
        }),
      ),
      addons: defaulted(
        array(string(), { description: "What to deploy beside the functions; odgm is the data store." }),
        ["odgm"],
      ),
      functions: optional(array(classFunction, { description: "The functions of the class.", keys: ["function_key"] })),
      odgm_config: optional(odgmConfig),
      nfr_requirements: optional(nfrRequirements),
      enforcement: optional(enforcement),
      telemetry: optional(telemetry),
    },
    { description: "The class, its functions and what it must achieve." },
  ),
  status: object(
    {
      phase: optional(oneOf(classRuntimePhases, { description: "Where the class runtime is in its life." })),
      message: optional(string({ description: "The state in one sentence." })),
      observed_generation: optional(
        integer({ description: "The generation of the spec that this status speaks of.", format: "int64" }),
      ),
      phase_since: optional(string({ description: "Since when it is in this phase." })),
      last_updated: optional(string({ description: "When the status last changed." })),
      conditions: optional(conditions([...Object.keys(classRuntimeConditions), "Unknown"])),
      functions: optional(
        array(functionStatus, { description: "The state of each function.", keys: ["function_key"] }),
      ),
      resource_refs: optional(
        array(
          object({
            kind: string({ description: "The kind of the object." }),
            name: string({ description: "The name of the object." }),
          }),
          { description: "The objects that were made for the class, sorted." },
        ),
      ),
      routers: optional(
        array(
          object({
            service: string({ description: "The router's Service." }),
            port: integer({ description: "The port for Zenoh." }),
          }),
          { description: "The routers that functions and data store connect to." },
        ),
      ),
      nfr_recommendations: optional(
        map(anything(), { description: "The recommended value of each dimension, such as replicas: 3." }),
      ),
      nfr_recommendation_details: optional(
        map(recommendationDetail, { description: "Where each recommendation comes from." }),
      ),
      nfr_enforcement_state: optional(
        map(enforcementState, { description: "How far the enforcement of each dimension has come." }),
      ),
      last_applied_recommendations: optional(
        array(appliedRecommendation, { description: "What enforcement has changed, the latest last." }),
      ),
      last_applied_at: optional(string({ description: "When enforcement last changed something." })),
    },
    { description: "Whether the class works, function by function." },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Class", type: "string", jsonPath: ".spec.package_class_key" },
    conditionColumn("Available", "Available"),
    age,
    { name: "Template", type: "string", jsonPath: ".status.functions[0].template", priority: 1 },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  conditions: classRuntimeConditions,
});
export type ClassRuntime = ResourceOf<typeof ClassRuntime>;
