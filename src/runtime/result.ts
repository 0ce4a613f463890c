/** How a reconcile ends when it does not throw. A thrown error is retried with back-off. */
export type Result =
  | { readonly kind: "Done" }
  /** Look again after a while even if nothing happens. */
  | { readonly kind: "RequeueAfter"; readonly afterMs: number }
  /** Look again soon, with the back-off of a failure but without counting one. */
  | { readonly kind: "Requeue" }
  /** Trying again is of no use until something changes. */
  | { readonly kind: "Failed"; readonly reason: string; readonly message: string };

export const done: Result = { kind: "Done" };
export const requeue: Result = { kind: "Requeue" };
export const requeueAfter = (afterMs: number): Result => ({ kind: "RequeueAfter", afterMs });
export const failed = (reason: string, message: string): Result => ({ kind: "Failed", reason, message });

/** Thrown from anywhere inside a reconcile: not retried until something changes. */
export class TerminalError extends Error {
  override readonly name = "TerminalError";
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
