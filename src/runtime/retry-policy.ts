import type { ControllerMetrics } from "./controller-metrics.ts";
import type { Logger } from "./log.ts";
import type { QueuedKey, WorkQueue } from "./queue.ts";
import { type Result, TerminalError } from "./result.ts";
import { TimedOut } from "./run-within.ts";

export type Outcome = { readonly result: Result } | { readonly error: unknown };

export interface Conclusion {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
}

/** The whole retry policy: what becomes of a key after its reconcile. */
export function conclude(
  { key, priority }: QueuedKey,
  outcome: Outcome,
  { name, queue, metrics, log }: Conclusion,
): void {
  const labels = { controller: name };
  const count = (result: "success" | "error" | "requeue" | "requeue_after"): void =>
    metrics.total.inc({ ...labels, result });
  if ("error" in outcome) {
    const { error } = outcome;
    count("error");
    metrics.errors.inc(labels);
    if (error instanceof TimedOut) metrics.timeouts.inc(labels);
    if (isBug(error)) metrics.panics.inc(labels);
    if (error instanceof TerminalError) {
      metrics.terminalErrors.inc(labels);
      queue.forget(key);
      log.error("reconcile failed for good", { object: key, reason: error.reason, error });
      return;
    }
    queue.addRateLimited(key, { priority });
    log.error("reconcile failed and will be retried", { object: key, failures: queue.failures(key), error });
    return;
  }
  const { result } = outcome;
  switch (result.kind) {
    case "Done":
      queue.forget(key);
      count("success");
      return;
    case "RequeueAfter":
      queue.forget(key);
      queue.add(key, { afterMs: result.afterMs, priority });
      count("requeue_after");
      return;
    case "Requeue":
      queue.addRateLimited(key, { priority });
      count("requeue");
      return;
    case "Failed":
      queue.forget(key);
      metrics.terminalErrors.inc(labels);
      metrics.errors.inc(labels);
      count("error");
      log.warn(result.message, { object: key, reason: result.reason });
      return;
  }
}

/** Mistakes in code, as opposed to a world that does not answer. */
const isBug = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof ReferenceError ||
  error instanceof RangeError ||
  (error instanceof Error && error.name === "AssertionError");
