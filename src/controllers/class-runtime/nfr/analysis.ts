import type { ClassRuntime, NfrDimension } from "../../../api/class-runtime.ts";
import { setCondition } from "../../../kube/condition.ts";
import { formatTime } from "../../../kube/time.ts";
import { ownerLabel } from "../labels.ts";
import { odgmName } from "../names.ts";
import { type ClassRuntimeStatus, nfrObserved, withTime } from "../reduce.ts";
import { isWasm } from "../templates/functions.ts";

/** From measurements to recommendations: upstream's queries and formulas, as data. */
export interface Queries {
  readonly rps?: string;
  readonly p99Ms: string;
  readonly cpuMillis: string;
  readonly memoryBytes: string;
  readonly odgmCpuMillis?: string;
}

export type Measurements = { readonly [K in keyof Queries]?: number | undefined } & {
  readonly load?: number | undefined;
};

/** A pod belongs to a function when its name is the function's and what its kind of workload adds, nothing else. */
export function queriesFor({ metadata, spec, status }: ClassRuntime): Queries | undefined {
  const functions = (status?.functions ?? []).filter(({ predicted_url }) => !predicted_url.startsWith("wasm:"));
  if (functions.length === 0) return undefined;
  const names = functions.map(({ service }) => service).sort();
  const namespace = metadata.namespace ?? "default";
  const isKnative = functions.some(({ template }) => template === "knative");
  const one = names.length === 1 ? `="${names[0]}"` : `=~"${names.join("|")}"`;
  const group = names.length === 1 ? (names[0] ?? "") : `(${names.join("|")})`;
  const pods = (base: string): string => `namespace="${namespace}", pod=~"${base}", container!=""`;
  const own = pods(isKnative ? `${group}-[0-9]+-deployment-[a-z0-9]+-[a-z0-9]+` : `${group}-[a-z0-9]+-[a-z0-9]+`);
  const activator = `namespace_name="${namespace}", configuration_name${one}`;
  const hasOdgm = (spec.addons ?? ["odgm"]).includes("odgm");
  const odgm = pods(`${odgmName(metadata.name)}-[a-z0-9]+-[a-z0-9]+`);
  return {
    ...(isKnative && { rps: `sum(rate(activator_request_count{${activator}}[1m]))` }),
    p99Ms: isKnative
      ? `1000 * max(histogram_quantile(0.99, sum(rate(activator_request_latencies_bucket{${activator}}[1m])) by (revision_name, le)))`
      : `1000 * histogram_quantile(0.99, sum(rate(http_server_requests_seconds_bucket{oaas_owner="${ownerLabel(metadata.name)}",namespace="${namespace}"}[5m])) by (le))`,
    cpuMillis: `1000 * sum(rate(container_cpu_usage_seconds_total{${own}}[5m]))`,
    memoryBytes: `sum(container_memory_working_set_bytes{${own}})`,
    ...(hasOdgm && { odgmCpuMillis: `1000 * sum(rate(container_cpu_usage_seconds_total{${odgm}}[5m]))` }),
  };
}

export type Recommendations = Partial<Record<NfrDimension, number>>;

/** The value of a class with several functions is for each of them, on average. */
export function recommend({ spec }: ClassRuntime, measured: Measurements, cpuPerPodMillis: number): Recommendations {
  const { min_throughput_rps: targetRps, max_latency_ms: maxLatency } = spec.nfr_requirements ?? {};
  const { rps, p99Ms, cpuMillis, memoryBytes, odgmCpuMillis } = measured;
  const functions = Math.max(1, (spec.functions ?? []).filter((definition) => !isWasm(definition)).length);
  const growth = targetRps && rps && rps > 0 ? targetRps / rps : 1;
  const slow = p99Ms !== undefined && p99Ms > (maxLatency ?? defaultLatencyMs) ? 1 : 0;
  return {
    ...(cpuMillis !== undefined && {
      replicas: Math.max(1, Math.ceil((growth * cpuMillis) / cpuPerPodMillis / functions)) + slow,
      cpu: Math.ceil(cpuMillis * cpuHeadroom),
    }),
    ...(memoryBytes !== undefined && { memory: Math.ceil(memoryBytes * memoryHeadroom) }),
    ...(odgmCpuMillis !== undefined && {
      odgm_replicas: Math.max(spec.odgm_config?.replica_count ?? 1, Math.ceil(odgmCpuMillis / cpuPerPodMillis)),
    }),
  };
}

const defaultLatencyMs = 250;
const cpuHeadroom = 1.3;
const memoryHeadroom = 1.2;
const confidence = 0.6;

/** Adds the recommendations; what nothing was measured for stays as it is. Values that hold are confirmed only now and then. */
export function reduceAnalysis(
  classRuntime: ClassRuntime,
  recommendations: Recommendations,
  load: number | undefined,
  confirmAfterMs: number,
  now: Date,
): ClassRuntimeStatus {
  const old: ClassRuntimeStatus = classRuntime.status ?? {};
  const details = { ...old.nfr_recommendation_details };
  const values = { ...old.nfr_recommendations };
  const { generation } = classRuntime.metadata;
  for (const [dimension, value] of Object.entries(recommendations)) {
    const known = details[dimension];
    const ageMs = now.getTime() - Date.parse(known?.observed_at ?? "");
    const holds = values[dimension] === value && known?.observed_generation === generation && ageMs < confirmAfterMs;
    if (holds) continue;
    values[dimension] = value;
    details[dimension] = {
      observed_at: formatTime(now),
      ...(generation !== undefined && { observed_generation: generation }),
      confidence,
      basis: "prometheus",
      ...(load !== undefined && { load: Math.round(load * 100) / 100 }),
    };
  }
  if (Object.keys(values).length === 0) return old;
  const next = { ...old, nfr_recommendations: values, nfr_recommendation_details: details };
  const conditions = nfrObserved(next).reduce<ClassRuntimeStatus["conditions"]>(
    (list, state) =>
      setCondition(list, { ...state, ...(generation !== undefined && { observedGeneration: generation }) }, now),
    old.conditions,
  );
  return withTime(old, { ...next, ...(conditions && { conditions }) }, now);
}
