/**
 * How far an execution has come. The specification's examples and the published schema name some things differently;
 * both are accepted, and both are written.
 */
import {
  anyObject,
  array,
  boolean,
  dateTime,
  defaulted,
  type Field,
  integer,
  map,
  object,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "../kube/schema/build.ts";
import { conditionResult } from "./action-condition.ts";
import { conditions, observedGeneration } from "./condition.ts";

export const executionPhases = [
  "validating",
  "validated",
  "waiting_approval",
  "executing",
  "rollback_ready",
  "completed",
  "failed",
] as const;
export type ExecutionPhase = (typeof executionPhases)[number];

/** Why an execution failed. */
export const failureReasons = [
  "validation_error",
  "dry_run_failed",
  "approval_timeout",
  "approval_rejected",
  "execution_failed",
  "execution_timeout",
  "postcondition_failed",
  "cancelled",
] as const;
export type FailureReason = (typeof failureReasons)[number];

const duration = (description: string) => optional(string({ description: `${description} Such as 15s.` }));

const affectedResource = object({
  kind: string({ description: "The kind of the object." }),
  namespace: optional(string({ description: "The namespace of the object; none for cluster-wide ones." })),
  name: string({ description: "The name of the object." }),
  action: string({ description: "What was done to it." }),
  before: optional(string({ description: "What it was before." })),
  after: optional(string({ description: "What it is now." })),
});
export type AffectedResource = TypeOf<typeof affectedResource>;

const dryRunResults = object(
  {
    performed: boolean({ description: "Whether there was a dry run." }),
    success: optional(boolean({ description: "Whether it succeeded." })),
    estimatedImpact: optional(
      object(
        {
          resourcesAffected: optional(integer({ description: "How many objects would change.", minimum: 0 })),
          description: optional(string({ description: "What would change." })),
          replicasChanged: optional(string({ description: "How the number of pods would change, such as 3 -> 5." })),
          estimatedDuration: duration("How long it would take."),
        },
        { description: "What the action would change." },
      ),
    ),
    warnings: optional(array(string(), { description: "Warnings of the server." })),
    errors: optional(array(string(), { description: "What the server refused." })),
  },
  { description: "What a server-side dry run said." },
);

const validationResults = object(
  {
    parameterValidation: optional(boolean({ description: "Whether the parameters are complete and valid." })),
    rbacValidation: optional(boolean({ description: "Whether the action's ServiceAccount may do it." })),
    resourceExists: optional(boolean({ description: "Whether the target is there, as expected and not protected." })),
    policyValidation: optional(
      object(
        {
          policyName: string({ description: "The policies that decided." }),
          allowed: boolean({ description: "Whether they allow it." }),
          requiredApproval: optional(boolean({ description: "Whether somebody must approve it." })),
          requiredDryRun: optional(boolean({ description: "Whether a dry run is wanted." })),
          violations: optional(array(string(), { description: "What they object to." })),
        },
        { description: "What the safety policies said." },
      ),
    ),
    dryRunResults: optional(dryRunResults),
    preConditionResults: optional(array(conditionResult, { description: "What became of each precondition." })),
    postConditionResults: optional(array(conditionResult, { description: "What became of each postcondition." })),
    errors: optional(array(string(), { description: "What is wrong, field by field." })),
    validationTime: optional(dateTime({ description: "When validation ended." })),
  },
  { description: "What validation found, step by step." },
);

const executionResults = object(
  {
    success: boolean({ description: "Whether the action, and what had to hold after it, succeeded." }),
    jobName: optional(string({ description: "The Job that ran it." })),
    startTime: optional(dateTime({ description: "When it started." })),
    endTime: optional(dateTime({ description: "When it ended." })),
    duration: duration("How long it took."),
    resourcesAffected: optional(array(affectedResource, { description: "What it changed." })),
    affectedResources: optional(array(affectedResource, { description: "The same list under its other name." })),
    podLogs: optional(string({ description: "What it printed, without secrets." })),
    retriesAttempted: optional(integer({ description: "How often it was tried again.", minimum: 0 })),
    errorMessage: optional(string({ description: "What went wrong." })),
  },
  { description: "What the action did." },
);

/** The published schema's members, and beside them the flat parameters of the specification's example. */
export interface RollbackParameters {
  readonly scaleToPrevious?: {
    readonly deployment: string;
    readonly namespace: string;
    readonly previousReplicas: number;
  };
  readonly restorePreviousConfig?: {
    readonly resourceKind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly previousSpec: Readonly<Record<string, unknown>>;
  };
  readonly uncordonNode?: { readonly node: string };
  readonly custom?: { readonly description: string; readonly parameters: Readonly<Record<string, string>> };
  readonly [parameter: string]: unknown;
}

const rollbackParameters = object(
  {
    scaleToPrevious: optional(
      object(
        {
          deployment: string({ description: "The Deployment." }),
          namespace: string({ description: "Its namespace." }),
          previousReplicas: integer({ description: "How many pods it had.", format: "int32" }),
        },
        { description: "Undoes a change of replicas." },
      ),
    ),
    restorePreviousConfig: optional(
      object(
        {
          resourceKind: string({ description: "The kind of the object." }),
          name: string({ description: "The name of the object." }),
          namespace: optional(string({ description: "The namespace of the object." })),
          previousSpec: anyObject({ description: "What it was before; never the content of a Secret." }),
        },
        { description: "Undoes a change of an object." },
      ),
    ),
    uncordonNode: optional(object({ node: string({ description: "The Node." }) }, { description: "Undoes a cordon." })),
    custom: optional(
      object(
        {
          description: string({ description: "What to do." }),
          parameters: map(string(), { description: "What one needs to know for it." }),
        },
        { description: "Anything else." },
      ),
    ),
  },
  {
    description: "What the rollback needs to know. The action's own parameters stand beside the members.",
    preserveUnknownFields: true,
  },
) as Field<RollbackParameters>;

const rollbackInformation = object(
  {
    available: boolean({ description: "Whether the action can be undone." }),
    rollbackAction: optional(string({ description: "The action that would undo it." })),
    rollbackParameters: optional(rollbackParameters),
    estimatedDuration: duration("How long it would take."),
    estimatedRollbackDuration: duration("The same under its other name."),
  },
  { description: "How to undo the action; captured before it runs. Nothing is undone by itself." },
);

const approval = object(
  {
    decision: defaulted(oneOf(["Approved", "Rejected"], { description: "What was decided." }), "Approved"),
    by: string({ description: "Who decided: the user of the request, written by the server and by nobody else." }),
    at: dateTime({ description: "When it was decided." }),
    specHash: string({
      description: "The SHA-256 of the spec that was decided on; left empty, the server writes it.",
    }),
    reason: optional(string({ description: "Why, in the approver's words." })),
  },
  { description: "Who approved or rejected the execution." },
);

export const executionStatus = object(
  {
    observedGeneration,
    phase: optional(oneOf(executionPhases, { description: "How far the execution has come." })),
    reason: optional(oneOf(failureReasons, { description: "Why it failed, in one word." })),
    message: optional(string({ description: "The state in one sentence." })),
    phaseStartTime: optional(dateTime({ description: "When it entered this phase." })),
    validationResults: optional(validationResults),
    validationTime: optional(dateTime({ description: "When validation ended." })),
    approval: optional(approval),
    executionResults: optional(executionResults),
    rollbackInformation: optional(rollbackInformation),
    jobName: optional(string({ description: "The Job that runs it." })),
    jobUID: optional(string({ description: "The uid of that very Job." })),
    completionTime: optional(dateTime({ description: "When it reached its last phase." })),
    conditions: optional(conditions()),
  },
  { description: "How far the execution has come, and what it found and did." },
);
export type ExecutionStatus = TypeOf<typeof executionStatus>;
export type Approval = TypeOf<typeof approval>;
