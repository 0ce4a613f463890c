import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { ExecutionStatus } from "../../api/kubernetes-execution-status.ts";
import type { ActContext } from "../../runtime/controller.ts";
import type { Observation } from "./evaluate.ts";
import { jobStateOf } from "./job-state.ts";
import type { CheckedParameters } from "./parameters.ts";
import { createRun, type RunTools, readResult } from "./run-job.ts";

type Results = NonNullable<NonNullable<ExecutionStatus["validationResults"]>["dryRunResults"]>;

export type DryRunOutcome =
  | { readonly kind: "Passed"; readonly results: Results }
  | { readonly kind: "Failed"; readonly results: Results; readonly message: string }
  | { readonly kind: "Waiting"; readonly lookAgainMs: number };

/** Step 5: the same order under the same ServiceAccount, but the server only says what would happen. */
export async function dryRun(
  observation: Observation,
  checked: Extract<CheckedParameters, { ok: true }>,
  targetUid: string | undefined,
  context: ActContext<KubernetesExecution>,
  tools: RunTools,
): Promise<DryRunOutcome> {
  const { execution, dryRunJob, now } = observation;
  if (dryRunJob === undefined) {
    const created = await createRun(
      observation,
      checked,
      { dryRun: true, targetUid, timeoutMs: dryRunTimeoutMs },
      context,
      tools,
    );
    if (created.kind === "Refused") return failed(created.message);
    return { kind: "Waiting", lookAgainMs: dryRunTimeoutMs + startGraceMs };
  }
  const state = jobStateOf(dryRunJob);
  const startedMs = new Date(dryRunJob.metadata.creationTimestamp ?? now).getTime();
  const leftMs = startedMs + dryRunTimeoutMs + startGraceMs - now.getTime();
  if (state.kind === "Running")
    return leftMs > 0 ? { kind: "Waiting", lookAgainMs: leftMs } : failed("the dry run did not end in time");
  const result = await readResult(dryRunJob, execution.metadata.uid ?? "", context);
  if (state.kind === "Failed") return failed(result?.message ?? state.message);
  if (result === undefined) return failed("the dry run left no result");
  if (result.outcome !== "Succeeded") return failed(result.message);
  return {
    kind: "Passed",
    results: {
      performed: true,
      success: true,
      estimatedImpact: {
        resourcesAffected: result.affectedCount,
        description: result.message,
        ...(result.replicasChanged !== undefined && { replicasChanged: result.replicasChanged }),
      },
      warnings: result.warnings,
    },
  };
}

const failed = (message: string): DryRunOutcome => ({
  kind: "Failed",
  results: { performed: true, success: false, errors: [message] },
  message,
});

const dryRunTimeoutMs = 30_000;
/** A Job that ends at its deadline is told so a moment later. */
const startGraceMs = 5_000;
