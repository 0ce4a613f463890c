import type { MetricsRegistry } from "./metrics.ts";

/** The `controller_runtime_*` metrics, under the names that existing dashboards use. */
export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

export function controllerMetrics(registry: MetricsRegistry) {
  const labels = ["controller"] as const;
  return {
    total: registry.counter({
      name: "controller_runtime_reconcile_total",
      help: "Total number of reconciliations per controller",
      labels: ["controller", "result"] as const,
    }),
    errors: registry.counter({
      name: "controller_runtime_reconcile_errors_total",
      help: "Total number of reconciliation errors per controller",
      labels,
    }),
    terminalErrors: registry.counter({
      name: "controller_runtime_terminal_reconcile_errors_total",
      help: "Total number of terminal reconciliation errors per controller",
      labels,
    }),
    panics: registry.counter({
      name: "controller_runtime_reconcile_panics_total",
      help: "Total number of reconciliation panics per controller",
      labels,
    }),
    timeouts: registry.counter({
      name: "controller_runtime_reconcile_timeouts_total",
      help: "Total number of reconciliation timeouts per controller",
      labels,
    }),
    time: registry.histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "Length of time per reconciliation per controller",
      labels,
      buckets: [
        0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
        1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
      ],
    }),
    maxConcurrent: registry.gauge({
      name: "controller_runtime_max_concurrent_reconciles",
      help: "Maximum number of concurrent reconciles per controller",
      labels,
    }),
    activeWorkers: registry.gauge({
      name: "controller_runtime_active_workers",
      help: "Number of currently used workers per controller",
      labels,
    }),
    echoes: registry.counter({
      name: "capstan_own_write_echoes_total",
      help: "Watch events that were only the echo of a controller's own write and caused no reconcile",
      labels,
    }),
    handlerErrors: registry.counter({
      name: "capstan_handler_errors_total",
      help: "Exceptions thrown by predicates and mapping functions; the event is tried again",
      labels,
    }),
  };
}

/** Series that are there from the start can be alerted on before the first reconcile. */
export function initializeMetrics(metrics: ControllerMetrics, controller: string): void {
  for (const result of ["success", "error", "requeue", "requeue_after"]) metrics.total.cell({ controller, result });
  for (const counter of [metrics.errors, metrics.terminalErrors, metrics.panics, metrics.timeouts])
    counter.cell({ controller });
  metrics.activeWorkers.set(0, { controller });
}
