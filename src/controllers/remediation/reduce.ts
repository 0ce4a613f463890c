import { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { RemediationEvent, RemediationRequest } from "../../api/remediation-request.ts";
import type { WorkflowExecution, WorkflowPhase } from "../../api/workflow-execution.ts";
import type { StepStatus } from "../../api/workflow-step.ts";
import { setCondition } from "../../kube/condition.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { formatTime } from "../../kube/time.ts";
import type { Decision, StepReport } from "./evaluate.ts";

type Status = NonNullable<RemediationRequest["status"]>;

/** The remediation's new status; what others keep there stays. */
export function reduce(
  remediation: RemediationRequest,
  workflow: WorkflowExecution | undefined,
  decision: Decision,
  now: Date,
): Status {
  const old = remediation.status ?? {};
  const { generation } = remediation.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const begins = old.startTime === undefined && decision.phase !== "pending";
  const over = decision.phase !== "pending" && decision.phase !== "executing";
  const conditions = conditionsAfter(old.conditions, decision, observed, now);
  return {
    ...old,
    ...observed,
    overallPhase: decision.phase,
    message: decision.message,
    ...(begins && { startTime: formatTime(now) }),
    ...(over && old.completedAt === undefined && { completedAt: formatTime(now) }),
    ...(decision.steps.length > 0 && { stepStatuses: decision.steps.map((step) => stepStatusOf(step)) }),
    ...(workflow && { workflowExecutionRef: referenceTo(workflow) }),
    ...(conditions !== undefined && { conditions }),
  };
}

/** A remediation and its workflow say the same about themselves. */
function conditionsAfter(
  old: Status["conditions"],
  { accepted, complete, message }: Decision,
  observed: { readonly observedGeneration?: number },
  now: Date,
): Status["conditions"] {
  let conditions = old;
  if (accepted) {
    const isFine = accepted === "StepsAccepted";
    const told = isFine ? "The steps can be run" : message;
    const status = isFine ? "True" : "False";
    conditions = setCondition(
      conditions,
      { type: "Accepted", status, reason: accepted, message: told, ...observed },
      now,
    );
  }
  if (complete) {
    const status = complete === "InProgress" ? "False" : "True";
    conditions = setCondition(conditions, { type: "Complete", status, reason: complete, message, ...observed }, now);
  }
  return conditions;
}

export function workflowStatus(
  workflow: WorkflowExecution,
  decision: Decision,
  now: Date,
): NonNullable<WorkflowExecution["status"]> {
  const old = workflow.status ?? {};
  const { generation } = workflow.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const over = decision.phase !== "pending" && decision.phase !== "executing";
  const current =
    decision.steps.find(({ state }) => state === "executing")?.stepNumber ??
    decision.steps.findLast(({ state }) => state !== "pending" && state !== "skipped")?.stepNumber;
  const conditions = conditionsAfter(old.conditions, decision, observed, now);
  const names = new Map(workflow.spec.workflowDefinition.steps.map(({ stepNumber, name }) => [stepNumber, name]));
  return {
    ...old,
    ...observed,
    phase: workflowPhases[decision.phase],
    message: decision.message,
    // The published schema requires both, also before anything has begun.
    currentStep: current ?? old.currentStep ?? 0,
    totalSteps: decision.steps.length || workflow.spec.workflowDefinition.steps.length,
    ...(decision.steps.length > 0 && {
      stepStatuses: decision.steps.map((step) => stepStatusOf(step, names.get(step.stepNumber))),
    }),
    ...(conditions !== undefined && { conditions }),
    ...(old.startTime === undefined && decision.phase !== "pending" && { startTime: formatTime(now) }),
    ...(over && old.completionTime === undefined && { completionTime: formatTime(now) }),
    ...(decision.plan && { executionPlan: { ...old.executionPlan, strategy: decision.plan.strategy } }),
  };
}

const workflowPhases: Readonly<Record<Decision["phase"], WorkflowPhase>> = {
  pending: "planning",
  executing: "executing",
  completed: "completed",
  failed: "failed",
  timed_out: "failed",
  rolled_back: "failed",
  skipped: "completed",
};

function stepStatusOf(
  { stepNumber, action, state, execution, rollback, message }: StepReport,
  name?: string,
): StepStatus {
  const { startTime, endTime, retriesAttempted } = execution?.status?.executionResults ?? {};
  return {
    stepNumber,
    action,
    status: state,
    ...(name !== undefined && { name }),
    ...(execution && { k8sExecutionRef: referenceTo(execution) }),
    ...(rollback && { rollbackExecutionRef: referenceTo(rollback) }),
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(retriesAttempted !== undefined && { retriesAttempted }),
    ...(message !== undefined && message !== "" && { errorMessage: message }),
  };
}

const referenceTo = ({ apiVersion, kind, metadata }: KubeObject) => ({
  apiVersion: apiVersion || apiVersionOf(KubernetesExecution),
  kind: kind || KubernetesExecution.kind,
  name: metadata.name,
  ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
  ...(metadata.uid !== undefined && { uid: metadata.uid }),
});

/** Told when the phase changes, and for every step that changed. */
export function eventsOf(remediation: RemediationRequest, decision: Decision): readonly Note[] {
  const old = remediation.status?.overallPhase;
  const before = new Map(
    (remediation.status?.stepStatuses ?? []).map(({ stepNumber, status }) => [stepNumber, status]),
  );
  const steps = decision.steps.flatMap((step) => (before.get(step.stepNumber) === step.state ? [] : stepEvent(step)));
  const undoing = decision.create.flatMap(({ stepNumber, name, run, isRollback }) =>
    isRollback
      ? [
          {
            type: "Normal",
            reason: "RollbackStarted",
            message: `Step ${stepNumber}: ${run.action} as ${name}`,
          } as const,
        ]
      : [],
  );
  const told = decision.phase === old ? undefined : phaseEvents[decision.phase];
  const { message } = decision;
  return [
    ...steps,
    ...undoing,
    ...(told && decision.complete === "RollbackFailed"
      ? [{ type: "Warning", reason: "RollbackFailed", message } as const]
      : []),
    ...(told ? [{ ...told, message }] : []),
  ];
}

interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: RemediationEvent;
  readonly message: string;
}

function stepEvent({ stepNumber, state, message = "", action }: StepReport): readonly Note[] {
  switch (state) {
    case "executing":
      return [{ type: "Normal", reason: "StepStarted", message: `Step ${stepNumber}: ${action}` }];
    case "completed":
      return [{ type: "Normal", reason: "StepCompleted", message: `Step ${stepNumber}: ${action}` }];
    case "failed":
      return [{ type: "Warning", reason: "StepFailed", message: `Step ${stepNumber}: ${message}` }];
    default:
      return [];
  }
}

const phaseEvents: Partial<
  Readonly<Record<Decision["phase"], { readonly type: "Normal" | "Warning"; readonly reason: RemediationEvent }>>
> = {
  executing: { type: "Normal", reason: "RemediationStarted" },
  completed: { type: "Normal", reason: "RemediationCompleted" },
  failed: { type: "Warning", reason: "RemediationFailed" },
  timed_out: { type: "Warning", reason: "RemediationTimedOut" },
  rolled_back: { type: "Warning", reason: "RollbackCompleted" },
  skipped: { type: "Normal", reason: "RemediationSkipped" },
};
