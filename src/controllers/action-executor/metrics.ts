import type { Action } from "../../api/action.ts";
import { exponentialBuckets, type MetricsRegistry } from "../../runtime/metrics.ts";
import type { ConditionVerdict } from "./policy/condition.ts";
import type { Verdict } from "./policy/decide.ts";

export interface ExecutorMetrics {
  policy(action: Action, verdict: Verdict, seconds: number): void;
  dryRun(action: Action, passed: boolean, seconds?: number): void;
  /** Of effects and of dry runs. */
  jobCreated(ok: boolean, seconds: number): void;
  /** Executions whose Job is under way. */
  active(count: number): void;
  condition(kind: string, verdict: ConditionVerdict): void;
  finished(action: Action, success: boolean, times: FinishedTimes): void;
}

export interface FinishedTimes {
  /** From being asked for until its end. */
  readonly executionSeconds: number;
  /** Absent where none ran. */
  readonly jobSeconds?: number;
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
    buckets: exponentialBuckets(0.5, 2, 10),
  });
  const jobDurations = registry.histogram({
    name: "kubernetesexecution_job_execution_duration_seconds",
    help: "How long the Jobs of executions ran",
    labels: ["action"] as const,
    buckets: exponentialBuckets(0.5, 2, 10),
  });
  const commands = registry.counter({
    name: "kubernetesexecution_kubectl_command_execution_total",
    help: "Jobs that have ended, by the kubectl command that would do the same",
    labels: ["status", "command"] as const,
  });
  const commandDurations = registry.histogram({
    name: "kubernetesexecution_kubectl_command_execution_duration_seconds",
    help: "How long Jobs ran, by the kubectl command that would do the same",
    labels: ["command"] as const,
    buckets: exponentialBuckets(0.5, 2, 10),
  });
  const successRate = registry.gauge({
    name: "kubernetesexecution_per_action_success_rate",
    help: "The part of the executions since this process started that have ended well",
    labels: ["action"] as const,
  });
  const ended = new Map<string, { all: number; well: number }>();
  const activeJobs = registry.gauge({
    name: "kubernetesexecution_job_active_total",
    help: "Executions whose Job is under way",
  });
  const jobCreations = registry.histogram({
    name: "kubernetesexecution_job_creation_duration_seconds",
    help: "How long it took to create a Job",
    buckets: exponentialBuckets(0.01, 2, 10),
  });
  const dryRunDurations = registry.histogram({
    name: "kubernetesexecution_dryrun_validation_duration_seconds",
    help: "How long dry runs took",
    labels: ["action"] as const,
    buckets: exponentialBuckets(0.5, 2, 10),
  });
  const policyDurations = registry.histogram({
    name: "kubernetes_executor_policy_evaluation_duration_seconds",
    help: "How long the safety policies took",
    labels: ["result"] as const,
    buckets: exponentialBuckets(0.0005, 2, 14),
  });
  const conditions = registry.counter({
    name: "condition_evaluations_total",
    help: "How often conditions were evaluated",
    labels: ["kind", "result"] as const,
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
    help: "How often the safety policies said no, by the package that did",
    labels: ["policy", "action"] as const,
  });
  return {
    policy(action, { allowed, available, deniedBy }, seconds) {
      const result = available ? (allowed ? "allowed" : "denied") : "error";
      evaluations.inc({ result });
      policyDurations.observe(seconds, { result });
      for (const policy of deniedBy) denials.inc({ policy, action });
    },
    dryRun(action, passed, seconds) {
      dryRuns.inc({ status: passed ? "success" : "failure", action });
      if (seconds !== undefined) dryRunDurations.observe(seconds, { action });
    },
    jobCreated(ok, seconds) {
      jobs.inc({ status: ok ? "success" : "failure" });
      jobCreations.observe(seconds);
    },
    active: (count) => activeJobs.set(count),
    condition: (kind, { kind: result }) => conditions.inc({ kind, result: conditionResults[result] }),
    finished(action, success, { executionSeconds, jobSeconds }) {
      executions.inc({ status: success ? "success" : "failure", action });
      durations.observe(executionSeconds, { action });
      if (jobSeconds !== undefined) {
        const command = kubectlCommands[action];
        jobDurations.observe(jobSeconds, { action });
        commands.inc({ status: success ? "success" : "failure", command });
        commandDurations.observe(jobSeconds, { command });
      }
      const so = ended.get(action) ?? { all: 0, well: 0 };
      ended.set(action, { all: so.all + 1, well: so.well + (success ? 1 : 0) });
      successRate.set((so.well + (success ? 1 : 0)) / (so.all + 1), { action });
    },
  };
}

const conditionResults = { Met: "passed", NotMet: "failed", Broken: "error" } as const;

/** Upstream ran kubectl; dashboards made for it tell effects apart by its commands. */
const kubectlCommands: Readonly<Record<Action, string>> = {
  scale_deployment: "scale",
  rollout_restart: "rollout restart",
  delete_pod: "delete",
  patch_deployment: "patch",
  cordon_node: "cordon",
  drain_node: "drain",
  uncordon_node: "uncordon",
  update_configmap: "patch",
  update_secret: "patch",
  apply_manifest: "apply",
  scale_statefulset: "scale",
  rollback_deployment: "rollout undo",
  restart_daemonset: "rollout restart",
  restart_pod: "delete",
  update_hpa: "patch",
  taint_node: "taint",
  untaint_node: "taint",
  quarantine_pod: "label",
  expand_pvc: "patch",
  increase_resources: "set resources",
  update_network_policy: "patch",
};
