import type { Env } from "../../env/env.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";

/** Upstream's names, so that its dashboards keep working. */
export function solverMetrics(registry: MetricsRegistry, env: Env) {
  const labels = ["type"] as const;
  const runs = registry.counter({
    name: "minecraft_operator_solver_runs_total",
    help: "Runs of the version solver.",
    labels,
  });
  const errors = registry.counter({
    name: "minecraft_operator_solver_errors_total",
    help: "Runs of the version solver that failed or ran out of time.",
    labels,
  });
  const duration = registry.histogram({
    name: "minecraft_operator_solver_duration_seconds",
    help: "How long the version solver took.",
    labels,
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  });
  return {
    /** One joint run chooses both kinds of versions, so it counts for both. */
    async timed<T>(solve: () => Promise<T | undefined>): Promise<T | undefined> {
      const startedMs = env.monotonicMs();
      let solved: T | undefined;
      try {
        solved = await solve();
        return solved;
      } finally {
        for (const type of ["plugin_version", "paper_version"]) {
          runs.inc({ type });
          if (solved === undefined) errors.inc({ type });
          duration.observe((env.monotonicMs() - startedMs) / 1_000, { type });
        }
      }
    },
  };
}
