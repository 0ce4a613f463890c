import type { WorkflowExecution } from "../../api/workflow-execution.ts";
import { exponentialBuckets, type MetricsRegistry } from "../../runtime/metrics.ts";
import type { Decision } from "./evaluate.ts";

export interface WorkflowMetrics {
  /** A workflow has ended. */
  ended(workflow: WorkflowExecution, decision: Decision, now: Date): void;
}

/** The names that upstream's dashboards use for workflows. */
export function workflowMetrics(registry: MetricsRegistry): WorkflowMetrics {
  const ended = registry.counter({
    name: "workflowexecution_reconciler_total",
    help: "Workflows that have ended, by the phase in which their remediation did",
    labels: ["outcome"] as const,
  });
  const durations = registry.histogram({
    name: "workflowexecution_reconciler_duration_seconds",
    help: "How long workflows took from their start to their end",
    labels: ["outcome"] as const,
    buckets: exponentialBuckets(5, 2, 7),
  });
  return {
    ended({ status }, { phase: outcome }, now) {
      const startedMs = new Date(status?.startTime ?? now).getTime();
      ended.inc({ outcome });
      durations.observe(Math.max(0, now.getTime() - startedMs) / 1000, { outcome });
    },
  };
}
