import { exponentialBuckets, type MetricsRegistry } from "../runtime/metrics.ts";
import type { Feed } from "./feed/feed.ts";
import type { Change } from "./model/change.ts";
import { countHealth } from "./model/queries.ts";
import { stateReasons } from "./model/service.ts";
import type { RegistryCore } from "./registry-core.ts";

/** What the registry tells Prometheus. */
export function measureRegistry(metrics: MetricsRegistry, core: RegistryCore, feed: Feed): RequestCounter {
  const services = metrics.gauge({
    name: "capstan_registry_services",
    help: "Registered services by health.",
    labels: ["health"],
  });
  const subscribers = metrics.gauge({
    name: "capstan_registry_subscribers",
    help: "Readers of the notification feed.",
  });
  const gaps = metrics.gauge({
    name: "capstan_registry_feed_gaps",
    help: "How often a reader of the feed was told that it has missed something.",
  });
  const heartbeats = metrics.counter({ name: "capstan_registry_heartbeats_total", help: "Heartbeats received." });
  const changes = metrics.counter({
    name: "capstan_registry_changes_total",
    help: "Durable changes by kind.",
    labels: ["kind"],
  });
  const expired = metrics.counter({
    name: "capstan_registry_expired_total",
    help: "Services that fell silent: missing in action, then deregistered.",
    labels: ["stage"],
  });
  const batches = metrics.histogram({
    name: "capstan_registry_commit_batch_size",
    help: "Commands written by one transaction.",
    buckets: exponentialBuckets(1, 2, 11),
  });
  const requests = metrics.counter({
    name: "capstan_registry_requests_total",
    help: "Requests by route and status.",
    labels: ["route", "code"],
  });

  metrics.onCollect(() => {
    const { total: _total, ...counts } = countHealth(
      core.directory.registered(),
      core.now().monotonicMs,
      core.rules.expiry,
    );
    for (const [health, count] of Object.entries(counts)) services.set(count, { health });
    subscribers.set(feed.subscribers);
    gaps.set(feed.gaps);
  });
  const beat = heartbeats.cell();
  core.observe({
    onPing: () => {
      beat.value++;
    },
    onBatch: (commands) => batches.observe(commands),
    onChanges(made: readonly Change[]) {
      for (const { kind, instance } of made) {
        changes.inc({ kind });
        if (kind === "Updated" && instance?.states.at(-1)?.reason === stateReasons.missing)
          expired.inc({ stage: "missing" });
        if (kind === "Deregistered" && instance?.presence.kind === "Expired") expired.inc({ stage: "deregistered" });
      }
    },
  });
  const cells = new Map<string, Map<number, { value: number }>>();
  return (route, code) => {
    const byCode = cells.get(route) ?? new Map<number, { value: number }>();
    const cell = byCode.get(code) ?? requests.cell({ route, code: String(code) });
    cell.value++;
    if (cell.value > 1) return;
    cells.set(route, byCode.set(code, cell));
  };
}

export type RequestCounter = (route: string, code: number) => void;
