import { WorldInstance } from "../../api/world-instance.ts";
import type { ObjectKey } from "../../kube/object.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import type { Read } from "../../runtime/read.ts";
import type { Outcome } from "./act.ts";
import type { Decision } from "./evaluate.ts";

export interface ResolverMetrics {
  /** Counts a reconcile by whether its work succeeded. */
  counted<T>(work: () => Promise<T>): Promise<T>;
  observe(world: WorldInstance, decision: Extract<Decision, { kind: "Resolve" }>, outcome: Outcome, read: Read): void;
}

/** The metrics of the specification, under its names. */
export function resolverMetrics(registry: MetricsRegistry): ResolverMetrics {
  const reconciles = registry.counter({
    name: "capabilityresolver_reconcile_total",
    help: "Reconciles of worlds by result.",
    labels: ["result"],
  });
  for (const result of ["success", "error"]) reconciles.add(0, { result });
  const unresolved = registry.counter({
    name: "capabilityresolver_unresolved_required_total",
    help: "Times that a world was found with required requirements that no provider satisfies.",
  });
  const desired = registry.gauge({
    name: "capabilityresolver_bindings_desired",
    help: "Bindings that all worlds together should have.",
  });
  const applied = registry.counter({
    name: "capabilityresolver_bindings_applied_total",
    help: "Bindings that were written.",
  });

  const desiredOf = new Map<string, { readonly key: ObjectKey; readonly count: number }>();
  let reader: Read | undefined;
  let sweepAbove = minSweep;
  const forgetGone = (): void => {
    for (const [id, { key }] of desiredOf) if (!reader?.get(WorldInstance, key)) desiredOf.delete(id);
  };
  registry.onCollect(() => {
    forgetGone();
    desired.set([...desiredOf.values()].reduce((sum, { count }) => sum + count, 0));
  });

  return {
    async counted(work) {
      try {
        const result = await work();
        reconciles.inc({ result: "success" });
        return result;
      } catch (error) {
        reconciles.inc({ result: "error" });
        throw error;
      }
    },
    observe({ metadata }, { plan, verdict }, outcome, read) {
      if (verdict.bindings.reason === "UnresolvedRequired") unresolved.inc();
      applied.add(outcome.applied);
      const key = { namespace: metadata.namespace ?? "", name: metadata.name };
      reader = read;
      desiredOf.set(`${key.namespace}/${key.name}`, { key, count: plan.apply.length + plan.unchanged });
      if (desiredOf.size <= sweepAbove) return;
      // Perhaps nobody ever asks for metrics, so those who ask cannot be the only ones to clear away.
      forgetGone();
      sweepAbove = Math.max(minSweep, 2 * desiredOf.size);
    },
  };
}

/** Worlds below which it is not worth looking who is gone. */
const minSweep = 64;
