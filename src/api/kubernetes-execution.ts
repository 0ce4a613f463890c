/** One change to a cluster: validated, approved, isolated, verified and reversible. */
import { defineKind, type ResourceOf } from "../kube/kind.ts";
import { array, boolean, integer, object, oneOf, optional, string } from "../kube/schema/build.ts";
import type { ValidationRule } from "../kube/schema/schema.ts";
import { actions, parametersBelongToAction } from "./action.ts";
import { actionCondition } from "./action-condition.ts";
import { actionParameters } from "./action-parameters.ts";
import { age } from "./columns.ts";
import type { ConditionTypeOf, ReasonOf } from "./condition.ts";
import { goDuration } from "./duration.ts";
import { executionStatus } from "./kubernetes-execution-status.ts";
import { objectReference } from "./reference.ts";

export const executionConditions = {
  Validated: ["AllValidationsPassed", "ValidationError", "DryRunFailed"],
  PolicyViolation: ["NoViolation", "SafetyPolicyDenied", "PolicyUnavailable"],
  DryRunCompleted: ["ValidationSucceeded", "DryRunFailed", "NotRequired"],
  Approved: ["ApprovalNotRequired", "WaitingForApproval", "ApprovalReceived", "ApprovalRejected", "ApprovalTimeout"],
  Executed: ["JobRunning", "JobCompleted", "ExecutionFailed", "ExecutionTimeout", "Cancelled", "Frozen"],
  Verified: ["PostConditionsMet", "NoPostConditions", "PartialSuccess", "PostConditionFailed"],
} as const;
export type ExecutionConditionType = ConditionTypeOf<typeof executionConditions>;
export type ExecutionReason<T extends ExecutionConditionType = ExecutionConditionType> = ReasonOf<
  typeof executionConditions,
  T
>;

/** The reasons of the events that an execution gets. */
export const executionEvents = [
  "KubernetesExecutionCreated",
  "PhaseTransition",
  "ActionValidating",
  "ApprovalRequired",
  "ApprovalReceived",
  "ApprovalRejected",
  "JobCreated",
  "ExecutionSucceeded",
  "ExecutionCompleted",
  "ExecutionCompletedPermanent",
  "ExecutionFailed",
  "RollbackPrepared",
  "KubernetesExecutionDeleted",
] as const;
export type ExecutionEvent = (typeof executionEvents)[number];

/** What was asked for must stay what it was: an approval speaks of it, and so does the audit trail. */
const fixedFields = [
  "action",
  "parameters",
  "targetNamespace",
  "resourceName",
  "targetCluster",
  "maxRetries",
  "timeout",
  "preConditions",
  "postConditions",
] as const;

const fixed: readonly ValidationRule[] = fixedFields.map((field) => ({
  rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
  message: `${field} cannot be changed; create another execution instead`,
  fieldPath: `.${field}`,
  reason: "FieldValueForbidden",
}));

const cancelledForGood: ValidationRule = {
  rule: "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
  message: "a cancelled execution stays cancelled",
  fieldPath: ".cancel",
  reason: "FieldValueForbidden",
};

export const KubernetesExecution = defineKind({
  group: "kubernetesexecution.kubernaut.io",
  version: "v1alpha1",
  kind: "KubernetesExecution",
  plural: "kubernetesexecutions",
  shortNames: ["ke"],
  categories: ["capstan"],
  description:
    "One change to the cluster, which is validated, approved where policy wants it, run in isolation and verified.",
  spec: object(
    {
      action: oneOf(actions, { description: "What to do." }),
      parameters: optional(actionParameters),
      targetNamespace: optional(
        string({ description: "The namespace of the target, where the parameters do not say it." }),
      ),
      resourceName: optional(string({ description: "The name of the target, where the parameters do not say it." })),
      targetCluster: optional(string({ description: "Must be empty: only this cluster can be changed." })),
      workflowExecutionRef: optional(objectReference("The workflow that this is a step of.")),
      remediationRequestRef: optional(objectReference("The remediation that this is a step of.")),
      stepNumber: optional(integer({ description: "Which step it is.", minimum: 1 })),
      maxRetries: optional(
        integer({
          description: "How often to try again, for actions that may safely run twice; 2 if not set.",
          minimum: 0,
          maximum: 5,
        }),
      ),
      timeout: optional(goDuration("How long the action may take; 5m if not set.")),
      preConditions: optional(array(actionCondition, { description: "What must hold before the action runs." })),
      postConditions: optional(array(actionCondition, { description: "What must hold after the action has run." })),
      approvalReceived: optional(
        boolean({ description: "Set to true by someone who may approve; it counts as that person's approval." }),
      ),
      cancel: optional(boolean({ description: "Set to true to stop the execution. It cannot be taken back." })),
    },
    { description: "The change and its limits.", rules: [...fixed, cancelledForGood, ...parametersBelongToAction] },
  ),
  status: executionStatus,
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Action", type: "string", jsonPath: ".spec.action" },
    { name: "Reason", type: "string", jsonPath: ".status.reason" },
    { name: "Approved-By", type: "string", jsonPath: ".status.approval.by" },
    age,
    { name: "Job", type: "string", jsonPath: ".status.jobName", priority: 1 },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
  ],
  selectableFields: [".spec.action", ".status.phase"],
  conditions: executionConditions,
});
export type KubernetesExecution = ResourceOf<typeof KubernetesExecution>;
