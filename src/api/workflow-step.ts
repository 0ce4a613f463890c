/** A step of a workflow: one action, and what it waits for. */
import {
  anyObject,
  array,
  boolean,
  dateTime,
  defaulted,
  integer,
  object,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "../kube/schema/build.ts";
import { actionCondition } from "./action-condition.ts";
import { goDuration } from "./duration.ts";
import { objectReference } from "./reference.ts";

export const stepStates = ["pending", "executing", "completed", "failed", "rolled_back", "skipped"] as const;
export type StepState = (typeof stepStates)[number];

const action = string({
  description:
    "What to do, such as scale_deployment; restart_pod, restart_deployment and other old names are understood.",
  minLength: 1,
});

/** Not looked into here: workflows may use their own older names, which are translated before anything runs. */
const parameters = optional(
  anyObject({
    description: "What the action needs to know, under the name of the action: scaleDeployment, drainNode and so on.",
  }),
);

export const workflowStep = object({
  stepNumber: integer({ description: "The number of the step; steps run in this order.", minimum: 1 }),
  name: optional(string({ description: "A name for people." })),
  action,
  targetCluster: optional(string({ description: "Must be empty: only this cluster can be changed." })),
  criticalStep: defaulted(
    boolean({ description: "Whether the workflow fails with the step; otherwise it goes on." }),
    true,
  ),
  parameters,
  dependsOn: optional(
    array(integer({ minimum: 1 }), {
      description: "The steps that must have completed; none lets it run in parallel.",
    }),
  ),
  maxRetries: optional(integer({ description: "How often to try the step again.", minimum: 0 })),
  timeout: optional(goDuration("How long the step may take.")),
  preConditions: optional(array(actionCondition, { description: "What must hold before the step runs." })),
  postConditions: optional(array(actionCondition, { description: "What must hold after the step has run." })),
  rollbackSpec: optional(
    object(
      {
        action,
        parameters,
        timeout: optional(goDuration("How long the rollback may take.")),
      },
      { description: "How to undo the step; what the execution captured otherwise." },
    ),
  ),
});
export type WorkflowStep = TypeOf<typeof workflowStep>;

export const stepStatus = object(
  {
    stepNumber: integer({ description: "The number of the step." }),
    action: string({ description: "The action of the step." }),
    status: oneOf(stepStates, { description: "How far the step has come." }),
    name: optional(string({ description: "The name of the step." })),
    k8sExecutionRef: optional(objectReference("The KubernetesExecution that runs the step.")),
    rollbackExecutionRef: optional(objectReference("The KubernetesExecution that undoes the step.")),
    startTime: optional(dateTime({ description: "When it started." })),
    endTime: optional(dateTime({ description: "When it ended." })),
    errorMessage: optional(string({ description: "What went wrong." })),
    retriesAttempted: optional(integer({ description: "How often it was tried again.", minimum: 0 })),
  },
  { preserveUnknownFields: true },
);
export type StepStatus = TypeOf<typeof stepStatus>;
