import { ClassRuntime, type ClassRuntimePhase, classRuntimePhases } from "../../api/class-runtime.ts";
import { exponentialBuckets, type MetricsRegistry } from "../../runtime/metrics.ts";
import type { Read } from "../../runtime/read.ts";
import type { Enforced } from "./nfr/reduce-enforcement.ts";

export interface ClassRuntimeMetrics {
  /** Remembers how to count phases when somebody asks. */
  counts(read: Read): void;
  moved(from: ClassRuntimePhase, trail: readonly ClassRuntimePhase[]): void;
  recommended(dimension: string, value: number): void;
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
    const byPhase = Map.groupBy(reader.list(ClassRuntime), ({ status }) => status?.phase ?? "pending");
    for (const phase of classRuntimePhases) phases.set(byPhase.get(phase)?.length ?? 0, { phase });
  });
  return {
    counts(read) {
      reader = read;
    },
    moved(before, trail) {
      let from = before;
      for (const to of trail) {
        transitions.inc({ from, to });
        from = to;
      }
    },
    recommended: (dimension, value) => recommendation.set(value, { dimension }),
    enforced(results, seconds) {
      if (results.length > 0) latency.observe(seconds);
      for (const result of results) {
        if (result.ok) applies.inc({ dimension: result.change.dimension });
        else failures.inc({ reason: result.reason });
      }
    },
  };
}
