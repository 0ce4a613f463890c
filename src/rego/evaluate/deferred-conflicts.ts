/**
 * The order of errors when built-in errors are strict. OPA goes on with the first value of a rule before it looks for a
 * second one, so an error of a built-in that comes later in the policy is met before the conflict. This engine knows all
 * values of a rule before it goes on, which is simpler and gives the same answers. Only when an evaluation with strict
 * built-in errors ends in a conflict, it is done once more in OPA's order: the conflict waits until everything that
 * follows the first value is done.
 */
import { RegoError } from "./errors.ts";
import type { Consumer, Exec, Getter } from "./frame.ts";

export class DeferredConflicts {
  #waiting: RegoError | undefined;

  /** For whoever takes the value that was found before the conflict. */
  defer(conflict: RegoError): void {
    this.#waiting = conflict;
  }

  take(): RegoError | undefined {
    const conflict = this.#waiting;
    this.#waiting = undefined;
    return conflict;
  }
}

export function isConflict(error: unknown): error is RegoError {
  return error instanceof RegoError && error.code === "eval_conflict_error";
}

/** Hands a value on; a conflict that came with it is raised when all that follows is done. */
export function planHandOn(getter: Getter, consume: Consumer, conflicts: DeferredConflicts): Exec {
  return (frame) => {
    const value = getter(frame);
    const conflict = conflicts.take();
    const isDone = value !== undefined && consume(frame, value);
    if (conflict !== undefined) throw conflict;
    return isDone;
  };
}
