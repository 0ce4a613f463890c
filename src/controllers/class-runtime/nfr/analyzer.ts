import { ClassRuntime } from "../../../api/class-runtime.ts";
import { type Controller, defineController } from "../../../runtime/controller.ts";
import { generationChanged } from "../../../runtime/predicates.ts";
import { enforcementMode } from "../enforcement-mode.ts";
import type { ClassRuntimeSettings } from "../settings.ts";
import { withoutNulls } from "../without-nulls.ts";
import { type Measurements, type Queries, queriesFor, recommend, reduceAnalysis } from "./analysis.ts";
import { type Prometheus, PrometheusError } from "./prometheus.ts";

export interface AnalyzerOptions {
  readonly prometheus: Prometheus;
  readonly intervalMs?: number;
  /** How busy the nodes are, from 0 to 1; without it cpu is never enforced. */
  readonly loadQuery?: string;
  readonly cpuPerPodMillis?: number;
}

/** Measures every class now and then and writes what it would recommend; whether that is applied is decided elsewhere. */
export function classRuntimeAnalyzer(
  { prometheus, intervalMs = 60_000, loadQuery, cpuPerPodMillis = 500 }: AnalyzerOptions,
  { enforcement }: ClassRuntimeSettings,
): Controller {
  return defineController<ClassRuntime, Observed, Observed, Measurements | undefined>({
    name: "class-runtime-analyzer",
    reconciles: ClassRuntime,
    predicates: [generationChanged],
    observe: (object) => observe(withoutNulls(object)),
    evaluate: (observed) => observed,
    async act({ queries }, { signal, log }) {
      if (queries === undefined) return undefined;
      try {
        return await measure(prometheus, { ...queries, ...(loadQuery && { load: loadQuery }) }, signal);
      } catch (error) {
        // Somebody else's server: its trouble is no trouble of the class, and the next round asks again.
        if (signal.aborted) throw error;
        log.warn("Prometheus could not be asked", { error: error instanceof PrometheusError ? error.message : error });
        return undefined;
      }
    },
    reduce({ object: given, outcome, now }) {
      const object = withoutNulls(given);
      if (outcome === undefined) return { requeueAfterMs: intervalMs };
      const recommendations = recommend(object, outcome, cpuPerPodMillis);
      const status = reduceAnalysis(object, recommendations, outcome.load, enforcement.maxAgeMs / 2, now);
      return { status, requeueAfterMs: intervalMs };
    },
  });
}

interface Observed {
  /** Absent where nothing is measured: the mode is off, or the class is in no state to be judged. */
  readonly queries?: Queries;
}

function observe(classRuntime: ClassRuntime): Observed {
  const { phase } = classRuntime.status ?? {};
  const isMeasured = enforcementMode(classRuntime) !== "off" && (phase === "available" || phase === "progressing");
  const queries = isMeasured ? queriesFor(classRuntime) : undefined;
  return queries ? { queries } : {};
}

async function measure(
  prometheus: Prometheus,
  queries: Queries & { readonly load?: string },
  signal: AbortSignal,
): Promise<Measurements> {
  const entries = Object.entries(queries).map(
    async ([name, query]) => [name, await prometheus.value(query, signal)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
