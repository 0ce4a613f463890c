import type { ExecutionPhase } from "../../api/kubernetes-execution-status.ts";

/**
 *     "" → validating → validated → waiting_approval → executing → rollback_ready → completed
 *              ↓            ↓             ↓                ↓             ↓
 *            failed       failed        failed      completed|failed   failed
 *
 * Phases that take no time are passed through in one write: their audit rows are there, a status of its own is not.
 */
export const edges: Readonly<Record<ExecutionPhase | "", readonly ExecutionPhase[]>> = {
  "": ["validating"],
  validating: ["validated", "failed"],
  validated: ["waiting_approval", "executing", "failed"],
  waiting_approval: ["executing", "failed"],
  executing: ["rollback_ready", "completed", "failed"],
  rollback_ready: ["completed", "failed"],
  completed: [],
  failed: [],
};

export const isTerminal = (phase: ExecutionPhase | undefined): boolean => phase === "completed" || phase === "failed";

/** Every phase that is entered on the way from one to another, along declared edges only; throws where there is no way. */
export function pathBetween(from: ExecutionPhase | undefined, to: ExecutionPhase): readonly ExecutionPhase[] {
  const start = from ?? "";
  if (start === to) return [];
  const queue: (readonly ExecutionPhase[])[] = [[]];
  for (const path of queue) {
    const last = path.at(-1) ?? start;
    for (const next of edges[last]) {
      if (next === to) return [...path, next];
      if (!isTerminal(next)) queue.push([...path, next]);
    }
  }
  throw new Error(`an execution cannot go from ${start || "new"} to ${to}`);
}
