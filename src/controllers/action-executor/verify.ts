import type { Job } from "../../api/builtin/job.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { AffectedResource, ExecutionStatus } from "../../api/kubernetes-execution-status.ts";
import { formatDurationMs } from "../../kube/duration.ts";
import { formatTime } from "../../kube/time.ts";
import type { ActContext } from "../../runtime/controller.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { targetText } from "./actions/definition.ts";
import { type Change, failure, type Note } from "./change.ts";
import { type Observation, timeoutMsOf } from "./evaluate.ts";
import { retriesOf } from "./job-state.ts";
import type { OrderResult } from "./order.ts";
import { checkParameters } from "./parameters.ts";
import type { EvaluateCondition } from "./policy/condition.ts";
import { conditionInput } from "./policy/condition-input.ts";
import { readResult } from "./run-job.ts";
import { isStamped } from "./stamp.ts";
import { readState } from "./target-state.ts";
import { judge } from "./validate.ts";

type Results = NonNullable<ExecutionStatus["executionResults"]>;

/** The Job says that it is done: what did it do, is it really there, and did it help? */
export async function verify(
  observation: Observation,
  job: Job,
  context: ActContext<KubernetesExecution>,
  evaluateCondition: EvaluateCondition,
): Promise<Change> {
  const { execution, now } = observation;
  const token = execution.metadata.uid ?? "";
  const checked = checkParameters(execution.spec as Parameters<typeof checkParameters>[0]);
  // It was valid when it started, and a spec cannot change.
  if (!checked.ok)
    throw new Error(`the parameters of a running execution became invalid: ${checked.problems.join("; ")}`);
  const definition = actionDefinition(checked.action);
  const target = definition.target(checked.parameters);
  const result = await readResult(job, token, context);
  const state =
    definition.seenBy === "Read"
      ? await readState(definition, target, checked.parameters, { client: context.live, signal: context.signal })
      : { related: [] };
  const results = resultsOf(job, result, now);

  const deletes = !definition.permissions.some(({ verbs }) => verbs.includes("patch"));
  const effectIsThere =
    definition.seenBy === "DryRun" ||
    (state.object === undefined ? deletes : deletes || isStamped(state.object, token));
  if (result === undefined && !effectIsThere) {
    const message = `the Job succeeded but ${targetText(target)} does not show its effect`;
    return executionFailed("execution_failed", message, job, { ...results, success: false, errorMessage: message });
  }

  const post = judge(
    "postcondition",
    execution.spec.postConditions ?? [],
    conditionInput(checked.action, checked.parameters, target, state),
    {
      evaluateCondition,
      now,
      startedMs: new Date(job.status?.completionTime ?? now).getTime(),
      defaultTimeoutMs: 120_000,
    },
  );
  const executed = {
    type: "Executed",
    status: "True",
    reason: "JobCompleted",
    message: result?.message ?? `Job ${job.metadata.name} has completed`,
  } as const;
  const effect = {
    key: "effect",
    verb: "effect",
    result: result?.outcome ?? "Succeeded",
    details: { jobName: job.metadata.name, affected: result?.affectedCount ?? 1, target: targetText(target) },
  };
  if (post.kind === "Waiting")
    return {
      message: `Waiting for ${post.waitingFor}`,
      status: { executionResults: results },
      conditions: [executed],
      audit: [effect],
      lookAgainMs: post.lookAgainMs,
    };
  const validationResults = {
    ...execution.status?.validationResults,
    ...(post.results.length > 0 && { postConditionResults: post.results }),
  };
  const canBeUndone = execution.status?.rollbackInformation?.available ?? false;
  if (post.kind === "Failed") {
    const verified = {
      type: "Verified",
      status: "False",
      reason: "PostConditionFailed",
      message: post.message,
    } as const;
    const status = { executionResults: { ...results, success: false, errorMessage: post.message }, validationResults };
    if (!canBeUndone)
      return {
        ...failure("postcondition_failed", post.message, { status, conditions: [executed, verified], audit: [effect] }),
        lookAgainMs: 0,
      };
    return {
      phase: "rollback_ready",
      message: `It ran, but ${post.message}; it can be rolled back`,
      status,
      conditions: [executed, verified],
      audit: [effect],
      events: [
        { type: "Warning", reason: "ExecutionFailed", message: `postcondition_failed: ${post.message}` },
        rollbackPrepared(execution),
      ],
      lookAgainMs: 0,
    };
  }
  const partial = post.results.filter(({ passed }) => !passed);
  const verified =
    post.results.length === 0
      ? ({
          type: "Verified",
          status: "True",
          reason: "NoPostConditions",
          message: "Nothing had to be verified",
        } as const)
      : partial.length === 0
        ? ({
            type: "Verified",
            status: "True",
            reason: "PostConditionsMet",
            message: "All postconditions hold",
          } as const)
        : ({
            type: "Verified",
            status: "True",
            reason: "PartialSuccess",
            message: `Not required, and not met: ${partial.map(({ conditionType }) => conditionType).join(", ")}`,
          } as const);
  const message = result?.message ?? `Job ${job.metadata.name} has completed`;
  return {
    phase: canBeUndone ? "rollback_ready" : "completed",
    message,
    status: { executionResults: results, validationResults },
    conditions: [executed, verified],
    audit: [effect],
    events: [
      { type: "Normal", reason: "ExecutionSucceeded", message },
      ...(canBeUndone
        ? [{ type: "Normal", reason: "ExecutionCompleted", message } as const, rollbackPrepared(execution)]
        : [{ type: "Normal", reason: "ExecutionCompletedPermanent", message } as const]),
    ],
    lookAgainMs: 0,
  };
}

const rollbackPrepared = ({ status }: KubernetesExecution): Note => ({
  type: "Normal",
  reason: "RollbackPrepared",
  message: `It can be undone with ${status?.rollbackInformation?.rollbackAction}; see status.rollbackInformation`,
});

export async function jobFailed(
  { execution, now }: Observation,
  job: Job,
  reason: "execution_failed" | "execution_timeout",
  message: string,
  context: ActContext<KubernetesExecution>,
): Promise<Change> {
  const result = await readResult(job, execution.metadata.uid ?? "", context);
  const told = result && result.outcome !== "Succeeded" ? result.message : message;
  const limit = formatDurationMs(timeoutMsOf(execution));
  const said =
    reason === "execution_timeout" ? `it did not end within ${limit}; what it had done by then stays (${told})` : told;
  return executionFailed(reason, said, job, { ...resultsOf(job, result, now), success: false, errorMessage: said });
}

const executionFailed = (
  reason: "execution_failed" | "execution_timeout",
  message: string,
  job: Job,
  results: Results,
): Change => ({
  ...failure(reason, message, {
    status: { executionResults: results },
    conditions: [
      {
        type: "Executed",
        status: "False",
        reason: reason === "execution_timeout" ? "ExecutionTimeout" : "ExecutionFailed",
        message,
      },
    ],
    audit: [{ key: "effect", verb: "effect", result: "Failed", details: { jobName: job.metadata.name, message } }],
  }),
  lookAgainMs: 0,
});

function resultsOf(job: Job, result: OrderResult | undefined, now: Date): Results {
  const startTime = job.status?.startTime ?? job.metadata.creationTimestamp ?? formatTime(now);
  const endTime = job.status?.completionTime ?? formatTime(now);
  const affected: readonly AffectedResource[] = result?.affected ?? [];
  return {
    success: true,
    jobName: job.metadata.name,
    startTime,
    endTime,
    duration: formatDurationMs(Math.max(0, new Date(endTime).getTime() - new Date(startTime).getTime())),
    resourcesAffected: affected,
    affectedResources: affected,
    ...(result !== undefined && { podLogs: `${result.outcome}: ${result.message}\n` }),
    retriesAttempted: retriesOf(job),
  };
}
