import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import { annotations } from "../../api/well-known.ts";
import { redactText } from "../../audit/redact.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Change } from "./change.ts";

/** One line for every phase that an execution enters, and one for every condition that it may do without but does not meet. */
export function tell(execution: KubernetesExecution, change: Change, log: Logger): void {
  const { status, spec, metadata } = execution;
  for (const { kind, conditionType, errorMessage = "" } of newlyUnmet(execution, change))
    log.warn(`a ${kind} that is not required does not hold`, {
      action: spec.action,
      condition: conditionType,
      why: redactText(errorMessage),
    });
  if (change.phase === undefined || change.phase === status?.phase) return;
  const { jobName } = { ...status, ...change.status };
  const requestedBy = metadata.annotations?.[annotations.requestedBy];
  const fields = {
    action: spec.action,
    from: status?.phase ?? "new",
    phase: change.phase,
    ...(requestedBy !== undefined && { requestedBy }),
    ...(jobName !== undefined && { jobName }),
  };
  if (change.reason === undefined) log.info("an execution moves on", fields);
  else
    log.warn("an execution has failed", {
      ...fields,
      reason: change.reason,
      why: redactText(change.message ?? ""),
    });
}

/** A second look, just before the start, finds the same again; it was told. */
function newlyUnmet({ status }: KubernetesExecution, change: Change) {
  const { validationResults: before } = status ?? {};
  const { validationResults: after } = change.status ?? {};
  const known = new Set([
    ...(before?.preConditionResults ?? []).map(({ conditionType }) => `precondition ${conditionType}`),
    ...(before?.postConditionResults ?? []).map(({ conditionType }) => `postcondition ${conditionType}`),
  ]);
  return [
    ...(after?.preConditionResults ?? []).map((result) => ({ ...result, kind: "precondition" })),
    ...(after?.postConditionResults ?? []).map((result) => ({ ...result, kind: "postcondition" })),
  ].filter(
    ({ kind, conditionType, passed, required }) =>
      !passed && required === false && !known.has(`${kind} ${conditionType}`),
  );
}
