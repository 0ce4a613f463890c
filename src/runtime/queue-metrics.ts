import type { Env } from "../env/env.ts";
import { type Cell, type Distribution, MetricsRegistry } from "./metrics.ts";

/** The `workqueue_*` metrics, under the names that existing dashboards use. */
export class QueueMetrics {
  readonly #env: Env;
  readonly #adds: Cell;
  readonly #retries: Cell;
  readonly #dropped: Cell;
  readonly #queueDuration: Distribution;
  readonly #workDuration: Distribution;
  readonly #stopCollecting: () => void;

  constructor(options: QueueMetricsOptions, view: QueueView) {
    this.#env = options.env;
    const registry = options.metrics ?? new MetricsRegistry();
    const labels = { name: options.name, controller: options.controller ?? options.name };
    const metrics = defineQueueMetrics(registry);
    this.#adds = metrics.adds.cell(labels);
    this.#retries = metrics.retries.cell(labels);
    this.#dropped = metrics.dropped.cell(labels);
    this.#queueDuration = metrics.queueDuration.cell(labels);
    this.#workDuration = metrics.workDuration.cell(labels);
    // An empty queue is zero, not unknown: most scrapes never meet a key that waits.
    const shown = new Set<number>([0]);
    this.#stopCollecting = registry.onCollect(() => {
      const depths = view.depths();
      for (const priority of depths.keys()) shown.add(priority);
      // A priority that was seen once keeps its series, so that a graph falls to zero instead of breaking off.
      for (const priority of shown)
        metrics.depth.set(depths.get(priority) ?? 0, { ...labels, priority: String(priority) });
      const nowMs = this.#env.monotonicMs();
      const ages = view.startedAtMs().map((startedAtMs) => (nowMs - startedAtMs) / 1000);
      metrics.unfinished.set(
        ages.reduce((sum, age) => sum + age, 0),
        labels,
      );
      metrics.longest.set(
        ages.reduce((longest, age) => Math.max(longest, age), 0),
        labels,
      );
    });
  }

  added(): void {
    this.#adds.value++;
  }
  retried(): void {
    this.#retries.value++;
  }
  dropped(): void {
    this.#dropped.value++;
  }
  got(waitedMs: number): void {
    this.#queueDuration.observe(waitedMs / 1000);
  }
  finished(workedMs: number): void {
    this.#workDuration.observe(workedMs / 1000);
  }
  close(): void {
    this.#stopCollecting();
  }
}

export interface QueueMetricsOptions {
  readonly env: Env;
  readonly name: string;
  readonly controller?: string;
  readonly metrics?: MetricsRegistry;
}

/** What the queue shows to the gauges when somebody looks. */
export interface QueueView {
  depths(): ReadonlyMap<number, number>;
  startedAtMs(): readonly number[];
}

function defineQueueMetrics(registry: MetricsRegistry) {
  const labels = ["name", "controller"] as const;
  const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000];
  return {
    depth: registry.gauge({
      name: "workqueue_depth",
      help: "Current depth of workqueue by workqueue and priority",
      labels: ["name", "controller", "priority"] as const,
    }),
    adds: registry.counter({ name: "workqueue_adds_total", help: "Total number of adds handled by workqueue", labels }),
    retries: registry.counter({
      name: "workqueue_retries_total",
      help: "Total number of retries handled by workqueue",
      labels,
    }),
    dropped: registry.counter({
      name: "capstan_workqueue_full_total",
      help: "Keys refused because the queue was full; they are fed again when there is room",
      labels,
    }),
    queueDuration: registry.histogram({
      name: "workqueue_queue_duration_seconds",
      help: "How long in seconds an item stays in workqueue before being requested",
      labels,
      buckets,
    }),
    workDuration: registry.histogram({
      name: "workqueue_work_duration_seconds",
      help: "How long in seconds processing an item from workqueue takes.",
      labels,
      buckets,
    }),
    unfinished: registry.gauge({
      name: "workqueue_unfinished_work_seconds",
      help: "How many seconds of work is in progress and not yet observed by work_duration",
      labels,
    }),
    longest: registry.gauge({
      name: "workqueue_longest_running_processor_seconds",
      help: "How many seconds the longest running processor for workqueue has been running",
      labels,
    }),
  };
}
