import type { KubernetesExecution } from "../../api/kubernetes-execution.ts";
import type { ExecutionStatus } from "../../api/kubernetes-execution-status.ts";
import { setCondition } from "../../kube/condition.ts";
import { formatTime } from "../../kube/time.ts";
import type { EventNote } from "../../runtime/events.ts";
import type { Change } from "./change.ts";
import { isTerminal, pathBetween } from "./phases.ts";

/** The execution's new status. Phases only ever move along declared edges; what a change does not mention stays. */
export function reduce(execution: KubernetesExecution, change: Change, now: Date): ExecutionStatus {
  const old = execution.status ?? {};
  const { generation } = execution.metadata;
  const phase = change.phase ?? old.phase;
  const entered = change.phase !== undefined && change.phase !== old.phase;
  if (entered && change.phase) pathBetween(old.phase, change.phase);
  let conditions = old.conditions;
  for (const state of change.conditions ?? [])
    conditions = setCondition(
      conditions,
      { ...state, ...(generation !== undefined && { observedGeneration: generation }) },
      now,
    );
  return {
    ...old,
    ...change.status,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(phase !== undefined && { phase }),
    ...(change.reason !== undefined && { reason: change.reason }),
    ...(change.message !== undefined && { message: change.message }),
    ...(entered && { phaseStartTime: formatTime(now) }),
    ...(entered && isTerminal(phase) && { completionTime: formatTime(now) }),
    ...(conditions !== undefined && { conditions }),
  };
}

export function eventsOf(execution: KubernetesExecution, change: Change): readonly EventNote[] {
  const from = execution.status?.phase;
  const path = change.phase === undefined || change.phase === from ? [] : pathBetween(from, change.phase);
  const moved = path.map((phase, index) => ({
    type: "Normal" as const,
    reason: "PhaseTransition",
    message: `${(index === 0 ? from : path[index - 1]) ?? "new"} -> ${phase}`,
  }));
  const born =
    from === undefined && path.length > 0
      ? [
          {
            type: "Normal" as const,
            reason: "KubernetesExecutionCreated",
            message: `${execution.spec.action} was asked for`,
          },
        ]
      : [];
  return [...born, ...moved, ...(change.events ?? [])];
}
