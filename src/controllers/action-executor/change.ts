import type { ExecutionConditionType, ExecutionEvent, ExecutionReason } from "../../api/kubernetes-execution.ts";
import type { ExecutionPhase, ExecutionStatus, FailureReason } from "../../api/kubernetes-execution-status.ts";
import type { AuditRecord } from "../../audit/entry.ts";

/** What a step came to: the part of the status that it changes, what there is to tell, and when to look again. */
export interface Change {
  /** Absent: the phase stays. */
  readonly phase?: ExecutionPhase;
  readonly reason?: FailureReason;
  /** Absent: the sentence stays. */
  readonly message?: string;
  readonly status?: Partial<Omit<ExecutionStatus, "phase" | "reason" | "message" | "conditions">>;
  readonly conditions?: readonly ConditionChange[];
  readonly events?: readonly Note[];
  /** Besides the rows of the phases that are entered. */
  readonly audit?: readonly AuditNote[];
  readonly lookAgainMs?: number;
}

export type ConditionChange = {
  readonly [T in ExecutionConditionType]: {
    readonly type: T;
    readonly status: "True" | "False" | "Unknown";
    readonly reason: ExecutionReason<T>;
    readonly message: string;
  };
}[ExecutionConditionType];

export interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: ExecutionEvent;
  readonly message: string;
}

export type AuditNote = Pick<AuditRecord, "verb" | "result" | "details"> & {
  /** Makes the row's id: one row per execution and key. */
  readonly key: string;
  /** Whoever it was; the executor itself otherwise. */
  readonly actor?: string;
};

export const nothing: Change = {};

export function failure(
  reason: FailureReason,
  message: string,
  rest: Omit<Change, "phase" | "reason" | "message"> = {},
): Change {
  return {
    ...rest,
    phase: "failed",
    reason,
    message,
    events: [...(rest.events ?? []), { type: "Warning", reason: "ExecutionFailed", message: `${reason}: ${message}` }],
  };
}
