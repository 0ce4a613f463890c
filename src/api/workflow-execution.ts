/** A workflow for a remediation, as the planning part of kubernaut wrote it; the remediation controller runs its steps. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import {
  anyObject,
  array,
  boolean,
  dateTime,
  integer,
  intOrString,
  map,
  object,
  oneOf,
  optional,
  string,
} from "../kube/schema/build.ts";
import { age } from "./columns.ts";
import { conditions, observedGeneration, type ReasonOf } from "./condition.ts";
import { objectReference } from "./reference.ts";
import { remediationConditions } from "./remediation-request.ts";
import { stepStatus, workflowStep } from "./workflow-step.ts";

export const workflowPhases = [
  "planning",
  "validating",
  "executing",
  "monitoring",
  "completed",
  "failed",
  "paused",
] as const;
export type WorkflowPhase = (typeof workflowPhases)[number];

/** Those of its remediation, and why it is not run at all. */
export const workflowConditions = {
  Accepted: [...remediationConditions.Accepted, "RemediationNotFound", "NotChosen"],
  Complete: remediationConditions.Complete,
} as const;
export type WorkflowReason = ReasonOf<typeof workflowConditions>;

const workflowDefinition = object(
  {
    name: string({ description: "The name of the workflow." }),
    version: optional(string({ description: "The version of the workflow." })),
    steps: array(workflowStep, { description: "The steps.", keys: ["stepNumber"] }),
    dependencies: optional(
      map(array(intOrString()), {
        description: "The steps that each step waits for, by number; the same as dependsOn.",
      }),
    ),
    aiRecommendations: optional(anyObject({ description: "What suggested the workflow. Not read." })),
  },
  {
    description: "What to do.",
    rules: [
      {
        rule: "self.steps == oldSelf.steps",
        message: "steps cannot be changed; create another workflow instead",
        fieldPath: ".steps",
        reason: "FieldValueForbidden",
      },
    ],
  },
);

const executionStrategy = object(
  {
    approvalRequired: optional(boolean({ description: "Whether every step must be approved, whatever policy says." })),
    dryRunFirst: optional(boolean({ description: "Whether every step begins with a dry run." })),
    rollbackStrategy: optional(
      string({
        description: "What happens when a step fails: automatic undoes the steps before it, manual or none does not.",
      }),
    ),
    maxRetries: optional(integer({ description: "How often a step is tried again when it does not say.", minimum: 0 })),
    safetyChecks: optional(
      array(
        object({
          type: string({ description: "The check." }),
          description: optional(string({ description: "What it is for." })),
          required: optional(boolean({ description: "Whether it must pass." })),
        }),
        { description: "Checks that the planner asked for." },
      ),
    ),
  },
  { description: "How to do it." },
);

export const WorkflowExecution = defineKind({
  group: "workflowexecution.kubernaut.io",
  version: "v1alpha1",
  kind: "WorkflowExecution",
  plural: "workflowexecutions",
  shortNames: ["wfe"],
  categories: ["capstan"],
  description: "A workflow of steps for a remediation. Every step becomes a KubernetesExecution.",
  spec: object(
    {
      remediationRequestRef: objectReference("The RemediationRequest that the workflow is for."),
      workflowDefinition,
      executionStrategy: optional(executionStrategy),
      adaptiveOrchestration: optional(anyObject({ description: "Settings of the planner. Not read." })),
    },
    { description: "The remediation and the steps that shall bring it about." },
  ),
  status: object(
    {
      observedGeneration,
      phase: optional(oneOf(workflowPhases, { description: "How far the workflow has come." })),
      message: optional(string({ description: "The state in one sentence." })),
      currentStep: optional(integer({ description: "The step that runs." })),
      totalSteps: optional(integer({ description: "How many steps there are." })),
      stepStatuses: optional(array(stepStatus, { description: "How far each step has come.", keys: ["stepNumber"] })),
      startTime: optional(dateTime({ description: "When it started." })),
      completionTime: optional(dateTime({ description: "When it ended." })),
      executionPlan: optional(
        object(
          {
            strategy: optional(
              oneOf(["sequential", "parallel", "sequential-with-parallel"], {
                description: "How the steps follow each other.",
              }),
            ),
          },
          { description: "The order of the steps.", preserveUnknownFields: true },
        ),
      ),
      validationResults: optional(anyObject({ description: "What validation found." })),
      executionMetrics: optional(anyObject({ description: "How long things took." })),
      workflowResult: optional(anyObject({ description: "What came of it." })),
      executionSnapshot: optional(anyObject({ description: "The state at the last change." })),
      conditions: optional(conditions()),
    },
    { description: "How far the workflow has come.", preserveUnknownFields: true },
  ),
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Workflow", type: "string", jsonPath: ".spec.workflowDefinition.name" },
    { name: "Step", type: "integer", jsonPath: ".status.currentStep" },
    { name: "Of", type: "integer", jsonPath: ".status.totalSteps" },
    { name: "Remediation", type: "string", jsonPath: ".spec.remediationRequestRef.name" },
    age,
  ],
  selectableFields: [".spec.remediationRequestRef.name"],
  conditions: workflowConditions,
});
export type WorkflowExecution = ResourceOf<typeof WorkflowExecution>;
