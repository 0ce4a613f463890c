import type { Env } from "../env/env.ts";
import type { Informer } from "./informer.ts";
import type { MetricsRegistry } from "./metrics.ts";

/** What the watches are doing, so that one that has silently died can be seen from outside. */
export function exposeInformers(registry: MetricsRegistry, env: Env, informers: () => readonly Informer[]): () => void {
  const labels = ["group", "kind", "namespace", "selector"] as const;
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labels });
  const objects = gauge("capstan_cache_objects", "Objects in the cache");
  const synced = gauge("capstan_cache_synced", "1 when the cache has been filled");
  const silence = gauge("capstan_watch_silence_seconds", "Time since the last event, bookmark or list");
  const failures = gauge("capstan_watch_consecutive_failures", "Failures of the watch since it last worked");
  const counts = registry.gauge({
    name: "capstan_watch_happenings",
    help: "How often the watch listed, watched, failed, expired, or met events out of order or from the past",
    labels: [...labels, "what"] as const,
  });
  return registry.onCollect(() => {
    for (const { kind, scope, cache, health } of informers()) {
      const own = {
        group: kind.group,
        kind: kind.kind,
        namespace: scope.namespace ?? "",
        selector: [scope.labelSelector, scope.fieldSelector, scope.metadataOnly && "metadata"]
          .filter(Boolean)
          .join(";"),
      };
      objects.set(cache.size, own);
      synced.set(cache.synced ? 1 : 0, own);
      silence.set((env.monotonicMs() - health.lastActivityAtMs) / 1000, own);
      failures.set(health.consecutiveFailures, own);
      for (const [what, count] of Object.entries(health.counts)) counts.set(count, { ...own, what });
    }
  });
}
