import { ClassRuntime, type ClassRuntimePhase, classRuntimePhases } from "../../api/class-runtime.ts";
import { exponentialBuckets, type MetricsRegistry } from "../../runtime/metrics.ts";
import type { Read } from "../../runtime/read.ts";
import type { Enforced } from "./nfr/reduce-enforcement.ts";

export interface ClassRuntimeMetrics {
  /** Remembers where to look when somebody asks. */
  reads(read: Read): void;
  moved(from: ClassRuntimePhase, trail: readonly ClassRuntimePhase[]): void;
  enforced(results: readonly Enforced[], seconds: number): void;
}

/** The names of the specification for NFR; phases and their changes beside them. */
export function classRuntimeMetrics(registry: MetricsRegistry): ClassRuntimeMetrics {
  const recommendation = registry.gauge({
    name: "crm_nfr_recommendation",
    help: "The latest recommended value of each dimension.",
    labels: ["dimension"],
  });
  const applies = registry.counter({
    name: "crm_nfr_enforcement_apply_total",
    help: "Recommendations that were applied.",
    labels: ["dimension"],
  });
  const failures = registry.counter({
    name: "crm_nfr_enforcement_fail_total",
    help: "Recommendations that could not be applied, by reason.",
    labels: ["reason"],
  });
  const latency = registry.histogram({
    name: "crm_nfr_enforcement_latency_seconds",
    help: "How long applying recommendations took.",
    buckets: exponentialBuckets(0.005, 2, 12),
  });
  const transitions = registry.counter({
    name: "crm_phase_transitions_total",
    help: "Changes of phase of class runtimes.",
    labels: ["from", "to"],
  });
  const phases = registry.gauge({
    name: "crm_class_runtimes",
    help: "Class runtimes in each phase.",
    labels: ["phase"],
  });
  let reader: Read | undefined;
  registry.onCollect(() => {
    if (reader === undefined) return;
    const all = reader.list(ClassRuntime);
    const byPhase = Map.groupBy(all, ({ status }) => status?.phase ?? "pending");
    for (const phase of classRuntimePhases) phases.set(byPhase.get(phase)?.length ?? 0, { phase });
    for (const [dimension, value] of latestRecommendations(all)) recommendation.set(value, { dimension });
  });
  return {
    reads(read) {
      reader = read;
    },
    moved(before, trail) {
      let from = before;
      for (const to of trail) {
        transitions.inc({ from, to });
        from = to;
      }
    },
    enforced(results, seconds) {
      if (results.length > 0) latency.observe(seconds);
      for (const result of results) {
        if (result.ok) applies.inc({ dimension: result.change.dimension });
        else failures.inc({ reason: result.reason });
      }
    },
  };
}

/** The newest of each dimension, whoever made it; those without a time are older than any with one. */
function latestRecommendations(classes: readonly ClassRuntime[]): ReadonlyMap<string, number> {
  const latest = new Map<string, { readonly value: number; readonly at: string }>();
  for (const { status } of classes) {
    for (const [dimension, value] of Object.entries(status?.nfr_recommendations ?? {})) {
      const at = status?.nfr_recommendation_details?.[dimension]?.observed_at ?? "";
      if (typeof value !== "number" || at < (latest.get(dimension)?.at ?? "")) continue;
      latest.set(dimension, { value, at });
    }
  }
  return new Map([...latest].map(([dimension, { value }]) => [dimension, value]));
}
