import type { Env } from "../../env/env.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";

/** Upstream's names, so that its dashboards keep working. */
export interface MinecraftMetrics {
  reconciled<T>(controller: string, work: () => Promise<T>): Promise<T>;
  asked<T>(source: string, work: () => Promise<T>): Promise<T>;
  updated(result: "success" | "failure"): void;
}

export function minecraftMetrics(registry: MetricsRegistry, env: Env): MinecraftMetrics {
  const timed = (
    prefix: string,
    what: string,
    label: string,
    names: readonly [string, string],
    buckets: readonly number[],
  ) => {
    const labels: readonly string[] = [label];
    const total = registry.counter({ name: `${prefix}_${names[0]}`, help: `${what}.`, labels });
    const errors = registry.counter({ name: `${prefix}_${names[1]}`, help: `${what} that failed.`, labels });
    const duration = registry.histogram({
      name: `${prefix}_duration_seconds`,
      help: `How long each of them took: ${what}.`,
      labels,
      buckets,
    });
    return async <T>(value: string, work: () => Promise<T>): Promise<T> => {
      const of = { [label]: value } as Readonly<Record<string, string>>;
      const startedMs = env.monotonicMs();
      total.inc(of);
      try {
        return await work();
      } catch (error) {
        errors.inc(of);
        throw error;
      } finally {
        duration.observe((env.monotonicMs() - startedMs) / 1_000, of);
      }
    };
  };
  const updates = registry.counter({
    name: "minecraft_operator_updates_total",
    help: "Updates of servers.",
    labels: ["result"],
  });
  return {
    reconciled: timed(
      "minecraft_operator_reconcile",
      "Reconciles",
      "controller",
      ["total", "errors_total"],
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    asked: timed(
      "minecraft_operator_plugin_api",
      "Questions to plugin repositories",
      "source",
      ["requests_total", "errors_total"],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ),
    updated: (result) => updates.inc({ result }),
  };
}
