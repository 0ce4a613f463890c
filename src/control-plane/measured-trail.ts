import type { AuditTrail } from "../audit/trail.ts";
import type { Env } from "../env/env.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { StoreError } from "../store/store-error.ts";

/** The trail, counted under the names that upstream's dashboards use. */
export function measuredTrail(env: Env, metrics: MetricsRegistry, trail: AuditTrail): AuditTrail {
  const prefix = "kubernaut_kubernetesexecutor";
  const attempts = metrics.counter({
    name: `${prefix}_audit_storage_attempts_total`,
    help: "Writes to the audit trail",
    labels: ["status"] as const,
  });
  const failures = metrics.counter({
    name: `${prefix}_audit_storage_failures_total`,
    help: "Writes to the audit trail that failed",
    labels: ["error_type"] as const,
  });
  const durations = metrics.histogram({
    name: `${prefix}_audit_storage_duration_seconds`,
    help: "How long writes to the audit trail took",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  });
  const pending = metrics.gauge({
    name: `${prefix}_pending_audit_records`,
    help: "Records that are being written to the audit trail",
  });
  return {
    async append(records) {
      if (records.length === 0) return 0;
      const startedMs = env.monotonicMs();
      pending.add(records.length);
      try {
        const added = await trail.append(records);
        attempts.inc({ status: "success" });
        return added;
      } catch (error) {
        attempts.inc({ status: "failure" });
        failures.inc({ error_type: error instanceof StoreError ? error.reason : "Unknown" });
        throw error;
      } finally {
        pending.add(-records.length);
        durations.observe((env.monotonicMs() - startedMs) / 1000);
      }
    },
  };
}
