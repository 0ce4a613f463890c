import type { Action } from "../../api/action.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import type { Verdict } from "./policy/decide.ts";

export interface ExecutorMetrics {
  policy(action: Action, verdict: Verdict): void;
  dryRun(action: Action, passed: boolean): void;
  jobCreated(ok: boolean): void;
  finished(action: string, success: boolean, seconds: number | undefined): void;
}

/** The names that upstream's dashboards use. */
export function executorMetrics(registry: MetricsRegistry): ExecutorMetrics {
  const executions = registry.counter({
    name: "kubernetesexecution_action_execution_total",
    help: "Executions that have ended",
    labels: ["status", "action"] as const,
  });
  const durations = registry.histogram({
    name: "kubernetesexecution_action_execution_duration_seconds",
    help: "How long executions took",
    labels: ["action"] as const,
    buckets: [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256],
  });
  const jobs = registry.counter({
    name: "kubernetesexecution_job_creation_total",
    help: "Jobs that were created",
    labels: ["status"] as const,
  });
  const dryRuns = registry.counter({
    name: "kubernetesexecution_dryrun_validation_total",
    help: "Dry runs that have ended",
    labels: ["status", "action"] as const,
  });
  const evaluations = registry.counter({
    name: "kubernetes_executor_policy_evaluation_total",
    help: "How often the safety policies were asked",
    labels: ["result"] as const,
  });
  const denials = registry.counter({
    name: "kubernetes_executor_policy_denials_total",
    help: "How often the safety policies said no",
    labels: ["policy", "action"] as const,
  });
  return {
    policy(action, { allowed, available, policyName }) {
      evaluations.inc({ result: available ? (allowed ? "allowed" : "denied") : "error" });
      if (!allowed) denials.inc({ policy: policyName, action });
    },
    dryRun: (action, passed) => dryRuns.inc({ status: passed ? "success" : "failure", action }),
    jobCreated: (ok) => jobs.inc({ status: ok ? "success" : "failure" }),
    finished(action, success, seconds) {
      executions.inc({ status: success ? "success" : "failure", action });
      if (seconds !== undefined) durations.observe(seconds, { action });
    },
  };
}
