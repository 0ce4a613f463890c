import { Job } from "../../api/builtin/job.ts";
import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { Approval } from "../../api/kubernetes-execution-status.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { ActContext } from "../../runtime/controller.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { targetText } from "./actions/definition.ts";
import { givenApproval } from "./approval/approval.ts";
import { type AuditNote, type Change, failure, nothing } from "./change.ts";
import { type Observation, type Step, timeoutMsOf } from "./evaluate.ts";
import { belongsTo, jobStateOf } from "./job-state.ts";
import { jobNameOf, jobNamespace } from "./names.ts";
import { checkParameters } from "./parameters.ts";
import { createRun, releaseJob, removeJob } from "./run-job.ts";
import { specHashOf } from "./spec-hash.ts";
import { readState } from "./target-state.ts";
import { type ValidationTools, validate } from "./validate.ts";
import { jobFailed, verify } from "./verify.ts";

export interface Tools extends ValidationTools {
  /** Writes the rows that must be on disk before the Job can exist. */
  readonly intend: (execution: KubernetesExecution, rows: readonly AuditNote[], now: Date) => Promise<void>;
}

type Context = ActContext<KubernetesExecution>;

/** Does the one thing that was decided on. */
export async function act(step: Step, observation: Observation, context: Context, tools: Tools): Promise<Change> {
  const { execution, now } = observation;
  switch (step.kind) {
    case "Validate":
      // The cache may not know a Job yet that we made just before we were interrupted; capturing again would capture its effect.
      if (step.again && (await ownJob(execution, context))) return start(observation, context, tools);
      return validate(observation, context, tools);
    case "AwaitApproval":
      return { lookAgainMs: step.untilMs - now.getTime() };
    case "Hold":
      return {
        message: "Everything is frozen: nothing new is started",
        conditions: [{ type: "Executed", status: "False", reason: "Frozen", message: "Everything is frozen" }],
        audit: [{ key: "frozen", verb: "freeze", result: "Held" }],
      };
    case "Start":
      return start(observation, context, tools);
    case "AwaitJob":
      return { lookAgainMs: step.untilMs - now.getTime() };
    case "Verify":
      return verify(observation, step.job, context, tools.evaluateCondition);
    case "JobFailed":
      return jobFailed(
        observation,
        step.job,
        step.reason === "execution_timeout" ? step.reason : "execution_failed",
        step.message,
        context,
      );
    case "JobLost":
      return jobLost(execution, context);
    case "Fail":
      return failAtGate(step, execution);
    case "Cancel":
      return cancel(step.job, context);
    case "Keep":
      return { lookAgainMs: step.untilMs - now.getTime() };
    case "Finalize":
      return finalize(step, execution);
    case "Release":
      for (const job of step.jobs) await releaseJob(job, context);
      return execution.status?.phase === "rollback_ready" ? { lookAgainMs: 0 } : nothing;
    case "Nothing":
      return nothing;
  }
}

/** The intent is written down, then the Job is made, then it is said so: nothing can happen that was not foreseen in writing. */
async function start(observation: Observation, context: Context, tools: Tools): Promise<Change> {
  const { execution, now } = observation;
  const checked = checkParameters(execution.spec as Parameters<typeof checkParameters>[0]);
  if (!checked.ok) return failure("validation_error", checked.problems.join("; "));
  const definition = actionDefinition(checked.action);
  const target = definition.target(checked.parameters);
  const state =
    definition.seenBy === "Read"
      ? await readState(definition, target, checked.parameters, { client: context.live, signal: context.signal })
      : { related: [] };
  const specHash = specHashOf(execution.spec);
  const approval = givenApproval(execution);
  const wasApproved = execution.status?.phase === "waiting_approval" && approval !== undefined;
  const details = {
    action: checked.action,
    target: targetText(target),
    specHash,
    ...(approval && { approvedBy: approval.by }),
  };
  const intent = { key: "intent", verb: "intend", result: "Intended", details };
  await tools.intend(execution, wasApproved ? [approvalNote(approval), intent] : [intent], now);
  const targetUid = state.object?.metadata.uid;
  const options = { dryRun: false, targetUid, timeoutMs: timeoutMsOf(execution) };
  const run = await createRun(observation, checked, options, context, tools);
  if (run.kind === "Refused")
    return failure("execution_failed", run.message, {
      conditions: [{ type: "Executed", status: "False", reason: "ExecutionFailed", message: run.message }],
    });
  const { name, uid = "" } = run.job.metadata;
  return {
    phase: "executing",
    message: `Job ${name} runs`,
    status: {
      jobName: name,
      jobUID: uid,
      executionResults: { success: false, jobName: name },
      ...(approval && { approval }),
    },
    conditions: [
      { type: "Executed", status: "Unknown", reason: "JobRunning", message: `Job ${name} runs` },
      ...(wasApproved
        ? [
            {
              type: "Approved",
              status: "True",
              reason: "ApprovalReceived",
              message: `${approval.by} has approved it`,
            } as const,
          ]
        : []),
    ],
    events: [
      ...(wasApproved
        ? [{ type: "Normal", reason: "ApprovalReceived", message: `${approval.by} has approved it` } as const]
        : []),
      { type: "Normal", reason: "JobCreated", message: `Job ${jobNamespace}/${name} was created` },
    ],
    audit: [{ key: "job", verb: "create-job", result: "Created", details: { jobName: name, jobUID: uid, specHash } }],
    // A Job that we find again may have ended while we were away, or been cancelled, and nobody will tell us twice.
    lookAgainMs: jobStateOf(run.job).kind === "Running" && !execution.spec.cancel ? timeoutMsOf(execution) : 0,
  };
}

const approvalNote = ({ by, at, specHash, reason }: Approval): AuditNote => ({
  key: "approval",
  verb: "approve",
  actor: by,
  result: "Approved",
  details: { specHash, at, ...(reason !== undefined && { reason }) },
});

/** A Job that we have seen is gone, or is another one: whether it acted is not known, so nothing is done again (H1). */
async function jobLost(execution: KubernetesExecution, context: Context): Promise<Change> {
  const job = await ownJob(execution, context);
  if (job?.metadata.uid === execution.status?.jobUID) return { lookAgainMs: cacheLagMs };
  const message = job
    ? "its Job was replaced by another one of that name"
    : "its Job was deleted before its result was read";
  return failure("execution_failed", `${message}; it is not started again`, {
    conditions: [{ type: "Executed", status: "False", reason: "ExecutionFailed", message }],
    audit: [{ key: "effect", verb: "effect", result: "Unknown", details: { message } }],
  });
}

async function ownJob(execution: KubernetesExecution, { live, signal }: Context): Promise<Job | undefined> {
  const { name, uid = "" } = execution.metadata;
  try {
    const key = { namespace: jobNamespace, name: jobNameOf({ name, uid }, execution.spec.action, false) };
    const job = await live.get(Job, key, { signal });
    return belongsTo(job, uid) ? job : undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function cancel(job: Job | undefined, context: Context): Promise<Change> {
  if (job) await removeJob(job, context);
  const message = job
    ? "it was cancelled while it ran; what it had done by then stays"
    : "it was cancelled before it ran";
  return failure("cancelled", message, {
    conditions: [{ type: "Executed", status: "False", reason: "Cancelled", message }],
    audit: [{ key: "cancel", verb: "cancel", result: "Cancelled" }],
  });
}

function failAtGate({ reason, message }: Extract<Step, { kind: "Fail" }>, execution: KubernetesExecution): Change {
  const rejected = reason === "approval_rejected";
  const { approval } = execution.status ?? {};
  return failure(reason, message, {
    conditions: [
      { type: "Approved", status: "False", reason: rejected ? "ApprovalRejected" : "ApprovalTimeout", message },
    ],
    ...(rejected && {
      events: [{ type: "Warning", reason: "ApprovalRejected", message } as const],
      audit: [{ key: "approval", verb: "reject", result: "Rejected", ...(approval && { actor: approval.by }) }],
    }),
    lookAgainMs: 0,
  });
}

function finalize({ as, why }: Extract<Step, { kind: "Finalize" }>, execution: KubernetesExecution): Change {
  if (execution.status?.executionResults?.success === false && as === "completed") {
    const message = execution.status.executionResults.errorMessage ?? "a postcondition does not hold";
    return failure("postcondition_failed", message);
  }
  const message = as === "rolled-back" ? `Rolled back: ${why}` : `Completed: ${why}`;
  return { phase: "completed", message, events: [{ type: "Normal", reason: "ExecutionCompletedPermanent", message }] };
}

const cacheLagMs = 500;
