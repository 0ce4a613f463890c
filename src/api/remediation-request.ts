/** Something is wrong and shall be put right: the parent of executions. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, boolean, dateTime, integer, map, object, oneOf, optional, string } from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { type ConditionTypeOf, conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import { goDuration } from "./duration.ts";
import { objectReference } from "./reference.ts";
import { stepStatus, workflowStep } from "./workflow-step.ts";

export const remediationPhases = [
  "pending",
  "executing",
  "completed",
  "failed",
  "timed_out",
  "rolled_back",
  "skipped",
] as const;
export type RemediationPhase = (typeof remediationPhases)[number];

export const remediationConditions = {
  Accepted: ["StepsAccepted", "WaitingForSteps", "InvalidSteps", "TargetBusy", "CoolingDown"],
  Complete: ["InProgress", "Succeeded", "StepFailed", "TimedOut", "RolledBack", "RollbackFailed", "Skipped"],
} as const;
export type RemediationConditionType = ConditionTypeOf<typeof remediationConditions>;
export type RemediationReason<T extends RemediationConditionType = RemediationConditionType> = ReasonOf<
  typeof remediationConditions,
  T
>;

/** The reasons of the events that a remediation gets. */
export const remediationEvents = [
  "RemediationStarted",
  "RemediationCompleted",
  "RemediationFailed",
  "RemediationTimedOut",
  "RemediationSkipped",
  "StepStarted",
  "StepCompleted",
  "StepFailed",
  "RollbackStarted",
  "RollbackCompleted",
  "RollbackFailed",
] as const;
export type RemediationEvent = (typeof remediationEvents)[number];

const signal = {
  signalFingerprint: optional(
    string({ description: "The SHA-256 that tells this signal from others.", pattern: "^[a-f0-9]{64}$" }),
  ),
  signalName: optional(string({ description: "What is wrong, such as the name of an alert.", maxLength: 253 })),
  severity: optional(oneOf(["critical", "warning", "info"], { description: "How bad it is." })),
  environment: optional(string({ description: "Where it is, such as production.", minLength: 1, maxLength: 63 })),
  priority: optional(string({ description: "How urgent it is, from P0 to P3.", pattern: "^P[0-3]$" })),
  signalType: optional(string({ description: "What kind of signal it is, such as prometheus." })),
  signalSource: optional(string({ description: "Who saw it." })),
  signalLabels: optional(map(string(), { description: "Labels of the signal." })),
  signalAnnotations: optional(map(string(), { description: "Annotations of the signal." })),
  targetType: optional(oneOf(["kubernetes", "aws", "azure", "gcp", "datadog"], { description: "What is affected." })),
  firingTime: optional(dateTime({ description: "When it began." })),
  receivedTime: optional(dateTime({ description: "When it was noticed." })),
  deduplication: optional(
    object(
      {
        isDuplicate: optional(boolean({ description: "Whether it was seen before." })),
        firstSeen: optional(dateTime({ description: "When it was first seen." })),
        lastSeen: optional(dateTime({ description: "When it was last seen." })),
        occurrenceCount: optional(integer({ description: "How often it was seen." })),
      },
      { description: "Earlier signals of the same kind.", preserveUnknownFields: true },
    ),
  ),
  providerData: optional(string({ description: "What the source added. Not read.", format: "byte" })),
  originalPayload: optional(string({ description: "The signal as it came. Not read.", format: "byte" })),
} as const;

export const RemediationRequest = defineKind({
  group: "remediation.kubernaut.io",
  version: "v1alpha1",
  kind: "RemediationRequest",
  plural: "remediationrequests",
  shortNames: ["rr"],
  categories: ["capstan"],
  description:
    "Something is wrong and shall be put right, by steps of its own or by a WorkflowExecution that names it.",
  spec: object(
    {
      ...signal,
      targetResource: optional(
        objectReference("The object that is affected. Only one remediation runs for it at a time."),
      ),
      steps: optional(
        array(workflowStep, {
          description: "What to do. Every step becomes a KubernetesExecution.",
          keys: ["stepNumber"],
        }),
      ),
      rollbackOnFailure: optional(
        boolean({ description: "Whether the steps before a failed one are undone; they are not if this is not set." }),
      ),
      timeoutConfig: optional(
        object(
          {
            overallWorkflowTimeout: optional(goDuration("How long everything may take; 1h if not set.")),
            workflowExecutionTimeout: optional(goDuration("How long the steps may take; 30m if not set.")),
            remediationProcessingTimeout: optional(goDuration("For the planner. Not read.")),
            aiAnalysisTimeout: optional(goDuration("For the planner. Not read.")),
          },
          { description: "How long to wait." },
        ),
      ),
    },
    {
      description: "What is wrong, and what to do.",
      preserveUnknownFields: true,
      rules: [
        {
          rule: "!has(oldSelf.steps) || (has(self.steps) && self.steps == oldSelf.steps)",
          message: "steps cannot be changed; create another request instead",
          fieldPath: ".steps",
          reason: "FieldValueForbidden",
        },
      ],
    },
  ),
  status: object(
    {
      observedGeneration,
      overallPhase: optional(oneOf(remediationPhases, { description: "How far the remediation has come." })),
      message: optional(string({ description: "The state in one sentence." })),
      startTime: optional(dateTime({ description: "When it started." })),
      completedAt: optional(dateTime({ description: "When it ended." })),
      stepStatuses: optional(array(stepStatus, { description: "How far each step has come.", keys: ["stepNumber"] })),
      workflowExecutionRef: optional(objectReference("The workflow whose steps are run.")),
      remediationProcessingRef: optional(objectReference("For the planner. Not written.")),
      aiAnalysisRef: optional(objectReference("For the planner. Not written.")),
      conditions: optional(conditions()),
    },
    { description: "How far the remediation has come.", preserveUnknownFields: true },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.overallPhase" },
    { name: "Signal", type: "string", jsonPath: ".spec.signalName" },
    { name: "Severity", type: "string", jsonPath: ".spec.severity" },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource.name" },
    age,
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  conditions: remediationConditions,
});
export type RemediationRequest = ResourceOf<typeof RemediationRequest>;
