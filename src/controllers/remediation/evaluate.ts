import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { RemediationPhase, RemediationReason, RemediationRequest } from "../../api/remediation-request.ts";
import type { WorkflowExecution } from "../../api/workflow-execution.ts";
import type { StepState } from "../../api/workflow-step.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { safeName } from "../../kube/names.ts";
import { type PlannedStep, planSteps, type StepPlan } from "./plan.ts";
import type { StepAction } from "./step-parameters.ts";

export interface Observation {
  readonly remediation: RemediationRequest;
  readonly workflow?: WorkflowExecution;
  /** The executions that this remediation owns, by name. */
  readonly executions: ReadonlyMap<string, KubernetesExecution>;
  /** Another remediation that is active for the same target and came first. */
  readonly busyWith?: string;
  /** When a remediation of the same target last ended. */
  readonly lastEndedMs?: number;
  readonly coolDownMs: number;
  readonly now: Date;
}

export interface WantedExecution {
  readonly name: string;
  readonly stepNumber: number;
  readonly run: StepAction;
  /** Whether it undoes the step. */
  readonly isRollback: boolean;
  /** What else the step says; of a rollback only how long it may take. */
  readonly step?: Partial<PlannedStep["step"]>;
}

export interface StepReport {
  readonly stepNumber: number;
  readonly action: string;
  readonly state: StepState;
  readonly execution?: KubernetesExecution;
  readonly rollback?: KubernetesExecution;
  readonly message?: string;
}

export interface Decision {
  readonly phase: RemediationPhase;
  readonly message: string;
  readonly accepted?: RemediationReason<"Accepted">;
  readonly complete?: RemediationReason<"Complete">;
  readonly plan?: StepPlan;
  readonly steps: readonly StepReport[];
  readonly create: readonly WantedExecution[];
  /** Executions that wait for their parent's word, and the word. */
  readonly finalize: readonly { readonly execution: KubernetesExecution; readonly as: "completed" | "rolled-back" }[];
  /** Executions that are to stop, because time is up. */
  readonly cancel: readonly KubernetesExecution[];
  readonly lookAgainMs?: number;
}

const idle = { steps: [], create: [], finalize: [], cancel: [] } as const;

/** Pure: from what is there, what is to be done next and how far everything has come. */
export function evaluate(observation: Observation): Decision {
  const { remediation, workflow, now } = observation;
  const { overallPhase } = remediation.status ?? {};
  if (overallPhase !== undefined && isOver(overallPhase))
    return { ...idle, phase: overallPhase, message: remediation.status?.message ?? "" };
  const { steps: own = [] } = remediation.spec;
  const source = own.length > 0 ? own : workflow?.spec.workflowDefinition.steps;
  if (overallPhase === "executing" && source === undefined) return workflowGone(observation);
  if (remediation.spec.deduplication?.isDuplicate)
    return { ...idle, phase: "skipped", complete: "Skipped", message: "Its signal was seen before, and is dealt with" };
  if (source === undefined || source.length === 0)
    return { ...idle, phase: "pending", accepted: "WaitingForSteps", message: "There are no steps yet" };
  const plan = planSteps(source, workflow?.spec.workflowDefinition.dependencies);
  if (!plan.ok)
    return {
      ...idle,
      phase: "failed",
      accepted: "InvalidSteps",
      complete: "StepFailed",
      message: `validation_error: ${plan.message}`,
    };
  if (overallPhase === undefined || overallPhase === "pending") {
    const waits = mayNotStart(observation);
    if (waits) return waits;
  }
  return advance(observation, plan.value, now);
}

export const isOver = (phase: RemediationPhase): boolean => phase !== "pending" && phase !== "executing";

/** Whoever takes the plan away takes back the wish: nothing more is begun, and what runs is stopped. */
function workflowGone({ remediation, executions }: Observation): Decision {
  const running = [...executions.values()].filter(({ status }) => !hasEnded(status?.phase));
  const steps = (remediation.status?.stepStatuses ?? []).map(({ stepNumber, action, status }): StepReport => {
    const execution = executions.get(stepName(remediation, stepNumber));
    return { stepNumber, action, state: status === "pending" ? "skipped" : status, ...(execution && { execution }) };
  });
  const message = "The workflow that it was running is gone";
  const told = steps.map(abandoned("it was cancelled because its workflow is gone"));
  return { ...idle, phase: "failed", complete: "StepFailed", message, steps: told, cancel: running };
}

const hasEnded = (phase: string | undefined): boolean =>
  phase === "completed" || phase === "failed" || phase === "rollback_ready";

/** One active remediation per target, and some rest between two. */
function mayNotStart({ busyWith, lastEndedMs, coolDownMs, now }: Observation): Decision | undefined {
  if (busyWith !== undefined)
    return { ...idle, phase: "pending", accepted: "TargetBusy", message: `${busyWith} is active for the same target` };
  const restMs = lastEndedMs === undefined ? 0 : lastEndedMs + coolDownMs - now.getTime();
  if (restMs <= 0) return undefined;
  const message = "A remediation of the same target ended a short while ago";
  return { ...idle, phase: "pending", accepted: "CoolingDown", message, lookAgainMs: restMs };
}

function advance(observation: Observation, plan: StepPlan, now: Date): Decision {
  const { remediation, executions } = observation;
  const reports = plan.steps.map((planned) => reportOf(planned, remediation, executions));
  const stateOf = new Map(reports.map(({ stepNumber, state }) => [stepNumber, state]));
  const started = new Date(remediation.status?.startTime ?? now).getTime();
  const deadlineMs = started + timeoutMs(remediation);
  const failed = plan.steps.filter(
    ({ step }) => step.criticalStep !== false && stateOf.get(step.stepNumber) === "failed",
  );
  const running = reports.filter(({ state, execution }) => state === "executing" && execution !== undefined);
  const common = { plan, accepted: "StepsAccepted" as const, finalize: [], cancel: [], create: [] };

  if (failed.length === 0 && now.getTime() >= deadlineMs) {
    const cancel = running.flatMap(({ execution }) => (execution ? [execution] : []));
    return {
      ...common,
      cancel,
      phase: "timed_out",
      complete: "TimedOut",
      message: "The steps did not end in time",
      steps: skipPending(reports).map(abandoned("it was cancelled because time was up")),
    };
  }
  if (failed.length > 0) return afterFailure(observation, plan, reports, common);

  const settled = (number: number): boolean => {
    const state = stateOf.get(number);
    return state === "completed" || state === "skipped" || (state === "failed" && !isCritical(plan, number));
  };
  const ready = plan.steps.filter(
    ({ step, waitsFor }) => stateOf.get(step.stepNumber) === "pending" && waitsFor.every(settled),
  );
  const create = ready.map(({ step, run }) => ({
    name: stepName(remediation, step.stepNumber),
    stepNumber: step.stepNumber,
    run,
    isRollback: false,
    step,
  }));
  if (plan.steps.every(({ step }) => settled(step.stepNumber))) {
    const finalize = reports.flatMap(({ execution }) =>
      execution?.status?.phase === "rollback_ready" ? [{ execution, as: "completed" as const }] : [],
    );
    return {
      ...common,
      finalize,
      phase: "completed",
      complete: "Succeeded",
      message: "All steps have completed",
      steps: reports,
    };
  }
  const message = `${reports.filter(({ state }) => state === "completed").length} of ${reports.length} steps have completed`;
  return {
    ...common,
    create,
    phase: "executing",
    complete: "InProgress",
    message,
    steps: reports,
    lookAgainMs: Math.max(1, deadlineMs - now.getTime()),
  };
}

type Common = Pick<Decision, "plan" | "accepted" | "finalize" | "cancel" | "create">;

/** A critical step has failed: wait for what still runs, then undo what was done, last first, if that is wanted. */
function afterFailure(
  observation: Observation,
  plan: StepPlan,
  reports: readonly StepReport[],
  common: Common,
): Decision {
  const { remediation, workflow, executions } = observation;
  const failed = reports.find(({ state, stepNumber }) => state === "failed" && isCritical(plan, stepNumber));
  const why = `Step ${failed?.stepNumber} has failed: ${failed?.message ?? ""}`;
  const steps = skipPending(reports);
  if (reports.some(({ state }) => state === "executing"))
    return { ...common, phase: "executing", complete: "InProgress", message: `${why}; waiting for the others`, steps };
  const wantsRollback =
    remediation.spec.rollbackOnFailure ?? workflow?.spec.executionStrategy?.rollbackStrategy === "automatic";
  const waiting = reports.flatMap(({ execution }) =>
    execution?.status?.phase === "rollback_ready" ? [execution] : [],
  );
  if (!wantsRollback)
    return {
      ...common,
      finalize: waiting.map((execution) => ({ execution, as: "completed" as const })),
      phase: "failed",
      complete: "StepFailed",
      message: why,
      steps,
    };
  // What ran and can be undone is undone, the failed step included where its effect is there.
  const undoable = plan.steps.toReversed().flatMap((planned) => {
    const execution = executions.get(stepName(remediation, planned.step.stepNumber));
    const undo = planned.undo ?? capturedUndo(execution);
    return execution?.status?.phase === "rollback_ready" && undo ? [{ planned, execution, undo }] : [];
  });
  for (const { planned, undo } of undoable) {
    const name = rollbackName(remediation, planned.step.stepNumber);
    const rollback = executions.get(name);
    if (rollback === undefined) {
      const { timeout } = planned.step.rollbackSpec ?? {};
      const create = [
        {
          name,
          stepNumber: planned.step.stepNumber,
          run: undo,
          isRollback: true,
          ...(timeout !== undefined && { step: { timeout } }),
        },
      ];
      return {
        ...common,
        create,
        phase: "executing",
        complete: "InProgress",
        message: `${why}; undoing step ${planned.step.stepNumber}`,
        steps,
      };
    }
    const { phase } = rollback.status ?? {};
    if (phase === "failed")
      return {
        ...common,
        phase: "failed",
        complete: "RollbackFailed",
        message: `${why}; undoing step ${planned.step.stepNumber} has failed too: ${rollback.status?.message ?? ""}`,
        steps,
      };
    if (phase !== "completed" && phase !== "rollback_ready")
      return {
        ...common,
        phase: "executing",
        complete: "InProgress",
        message: `${why}; undoing step ${planned.step.stepNumber}`,
        steps,
      };
  }
  if (undoable.length === 0)
    return { ...common, phase: "failed", complete: "StepFailed", message: `${why}; nothing could be undone`, steps };
  const finalize = undoable.flatMap(({ planned, execution }) => {
    const rollback = executions.get(rollbackName(remediation, planned.step.stepNumber));
    return [
      { execution, as: "rolled-back" as const },
      ...(rollback?.status?.phase === "rollback_ready" ? [{ execution: rollback, as: "completed" as const }] : []),
    ];
  });
  return {
    ...common,
    finalize,
    phase: "rolled_back",
    complete: "RolledBack",
    message: `${why}; what was done before has been undone`,
    steps: steps.map((report) =>
      undoable.some(({ planned }) => planned.step.stepNumber === report.stepNumber)
        ? { ...report, state: "rolled_back" }
        : report,
    ),
  };
}

function reportOf(
  { step, run }: PlannedStep,
  remediation: RemediationRequest,
  executions: Observation["executions"],
): StepReport {
  const execution = executions.get(stepName(remediation, step.stepNumber));
  const rollback = executions.get(rollbackName(remediation, step.stepNumber));
  const common = {
    stepNumber: step.stepNumber,
    action: run.action,
    ...(execution && { execution }),
    ...(rollback && { rollback }),
  };
  const { phase, reason, message, executionResults } = execution?.status ?? {};
  if (execution === undefined) return { ...common, state: "pending" };
  if (phase === "failed") return { ...common, state: "failed", message: [reason, message].filter(Boolean).join(": ") };
  if (phase === "rollback_ready" || phase === "completed") {
    if (executionResults?.success === false)
      return { ...common, state: "failed", message: executionResults.errorMessage ?? message ?? "" };
    return { ...common, state: "completed" };
  }
  return { ...common, state: "executing" };
}

const skipPending = (reports: readonly StepReport[]): readonly StepReport[] =>
  reports.map((report) => (report.state === "pending" ? { ...report, state: "skipped" } : report));

/** Nobody waits any more for what still runs; whatever becomes of it, the remediation has not got it. */
const abandoned =
  (message: string) =>
  (report: StepReport): StepReport =>
    report.state === "executing" ? { ...report, state: "failed", message } : report;

const isCritical = ({ steps }: StepPlan, number: number): boolean =>
  steps.find(({ step }) => step.stepNumber === number)?.step.criticalStep !== false;

/** What the execution itself captured before it ran. */
function capturedUndo(execution: KubernetesExecution | undefined): StepAction | undefined {
  const { available, rollbackAction, rollbackParameters } = execution?.status?.rollbackInformation ?? {};
  if (!available || rollbackAction === undefined) return undefined;
  const {
    scaleToPrevious: _a,
    restorePreviousConfig: _b,
    uncordonNode: _c,
    custom: _d,
    ...flat
  } = rollbackParameters ?? {};
  const member = rollbackAction.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return {
    action: rollbackAction as StepAction["action"],
    parameters: { [memberNames[rollbackAction] ?? member]: flat },
  };
}

/** Members whose names are not just the action's in camel case. */
const memberNames: Readonly<Record<string, string>> = {
  update_configmap: "updateConfigMap",
  scale_statefulset: "scaleStatefulSet",
  restart_daemonset: "restartDaemonSet",
};

/** Cut with a hash where the parent's own name leaves no room. */
export const stepName = ({ metadata }: RemediationRequest, step: number): string =>
  safeName(`${metadata.name}-step-${step}`);
export const rollbackName = ({ metadata }: RemediationRequest, step: number): string =>
  safeName(`${metadata.name}-step-${step}-rollback`);

function timeoutMs({ spec }: RemediationRequest): number {
  const { workflowExecutionTimeout, overallWorkflowTimeout } = spec.timeoutConfig ?? {};
  const read = (text: string | undefined, otherwise: string): number => {
    const value = parseDurationMs(text ?? otherwise);
    return value.ok ? value.value : Number.POSITIVE_INFINITY;
  };
  return Math.min(read(workflowExecutionTimeout, "30m"), read(overallWorkflowTimeout, "1h"));
}
