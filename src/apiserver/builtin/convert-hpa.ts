import { child, copy, type Draft, descend, items, numeral, text } from "./draft.ts";

/**
 * The two versions of a HorizontalPodAutoscaler. The old one knows a CPU percentage only; what else there is travels in
 * annotations, so that nothing is lost when an old client reads and writes.
 */

const metricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
const behaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior";
const statusAnnotations = [
  "autoscaling.alpha.kubernetes.io/conditions",
  "autoscaling.alpha.kubernetes.io/current-metrics",
];

export function toHpaV2(old: Draft): Draft {
  const object = copy(old) as Draft;
  const { targetCPUUtilizationPercentage: percent, ...spec } = child(object, "spec") ?? {};
  const annotations = { ...descend(object, "metadata", "annotations") };
  const metrics = [
    ...(percent === undefined ? [] : [cpuUtilization(percent)]),
    ...jsonList(annotations[metricsAnnotation]),
  ];
  const behavior = jsonObject(annotations[behaviorAnnotation]);
  for (const name of [metricsAnnotation, behaviorAnnotation, ...statusAnnotations]) delete annotations[name];
  const { currentCPUUtilizationPercentage: current, ...status } = child(object, "status") ?? {};
  const currentMetrics = current === undefined ? {} : { currentMetrics: [cpuCurrent(current)] };
  return {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(child(object, "metadata"), annotations),
    spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior && { behavior }) },
    status: { ...status, ...currentMetrics },
  };
}

export function toHpaV1(modern: Draft): Draft {
  const object = copy(modern) as Draft;
  const { metrics: _metrics, behavior, ...spec } = child(object, "spec") ?? {};
  const all = items(child(object, "spec"), "metrics");
  const cpu = all.find(isCpuUtilization);
  const rest = all.filter((metric) => metric !== cpu);
  const annotations = { ...descend(object, "metadata", "annotations") };
  if (rest.length > 0) annotations[metricsAnnotation] = JSON.stringify(rest);
  if (behavior !== undefined) annotations[behaviorAnnotation] = JSON.stringify(behavior);
  const { currentMetrics: _current, conditions, ...status } = child(object, "status") ?? {};
  if (Array.isArray(conditions)) annotations[statusAnnotations[0] ?? ""] = JSON.stringify(conditions);
  const currentCpu = items(child(object, "status"), "currentMetrics").find(
    (metric) => text(child(metric, "resource"), "name") === "cpu",
  );
  const current = numeral(descend(currentCpu, "resource", "current"), "averageUtilization");
  return {
    ...object,
    apiVersion: "autoscaling/v1",
    metadata: withAnnotations(child(object, "metadata"), annotations),
    spec: {
      ...spec,
      ...(cpu && { targetCPUUtilizationPercentage: descend(cpu, "resource", "target")?.["averageUtilization"] }),
    },
    status: {
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...(current !== undefined && { currentCPUUtilizationPercentage: current }),
    },
  };
}

const cpuUtilization = (percent: unknown): Draft => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});

const cpuCurrent = (percent: unknown): Draft => ({
  type: "Resource",
  resource: { name: "cpu", current: { averageUtilization: percent } },
});

const isCpuUtilization = (metric: Draft): boolean =>
  text(metric, "type") === "Resource" &&
  text(child(metric, "resource"), "name") === "cpu" &&
  descend(metric, "resource", "target")?.["averageUtilization"] !== undefined;

function withAnnotations(metadata: Draft | undefined, annotations: Draft): Draft {
  const { annotations: _, ...rest } = metadata ?? {};
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}

function jsonList(value: unknown): readonly Draft[] {
  const parsed = parseJson(value);
  return Array.isArray(parsed) ? (parsed as Draft[]) : [];
}

function jsonObject(value: unknown): Draft | undefined {
  const parsed = parseJson(value);
  return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Draft) : undefined;
}

/** An annotation that anyone may write: what cannot be read counts as absent. */
function parseJson(value: unknown): unknown {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
