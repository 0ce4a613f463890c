import { behaviorFromText, behaviorToText, metricsFromText, metricToOld } from "./convert-hpa-annotations.ts";
import { decodeJson } from "./decode.ts";
import { child, copy, type Draft, descend, items, numeral, text } from "./draft.ts";
import { wireStructOf } from "./wire-types.ts";

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
    ...metricsFromText(annotations[metricsAnnotation]),
  ];
  const behavior = behaviorFromText(annotations[behaviorAnnotation]);
  for (const name of [metricsAnnotation, behaviorAnnotation, ...statusAnnotations]) delete annotations[name];
  const { currentCPUUtilizationPercentage: current, ...status } = child(object, "status") ?? {};
  const currentMetrics = current === undefined ? {} : { currentMetrics: [cpuCurrent(current)] };
  return inForm("autoscaling/v2", {
    ...object,
    apiVersion: "autoscaling/v2",
    metadata: withAnnotations(child(object, "metadata"), annotations),
    spec: { ...spec, ...(metrics.length > 0 && { metrics }), ...(behavior && { behavior }) },
    status: { ...status, ...currentMetrics },
  });
}

export function toHpaV1(modern: Draft): Draft {
  const object = copy(modern) as Draft;
  const { metrics: _metrics, behavior, ...spec } = child(object, "spec") ?? {};
  const all = items(child(object, "spec"), "metrics");
  const cpu = all.find(isCpuUtilization);
  const rest = all.filter((metric) => metric !== cpu);
  const annotations = { ...descend(object, "metadata", "annotations") };
  if (rest.length > 0) annotations[metricsAnnotation] = JSON.stringify(rest.map(metricToOld));
  if (behavior !== undefined) annotations[behaviorAnnotation] = behaviorToText(behavior as Draft);
  const { currentMetrics: _current, conditions, ...status } = child(object, "status") ?? {};
  if (Array.isArray(conditions)) annotations[statusAnnotations[0] ?? ""] = JSON.stringify(conditions);
  const currentCpu = items(child(object, "status"), "currentMetrics").find(
    (metric) => text(child(metric, "resource"), "name") === "cpu",
  );
  const current = numeral(descend(currentCpu, "resource", "current"), "averageUtilization");
  return inForm("autoscaling/v1", {
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
  });
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

/** Each version writes its own empty fields. */
function inForm(apiVersion: string, object: Draft): Draft {
  const struct = wireStructOf(apiVersion, "HorizontalPodAutoscaler");
  return struct ? (decodeJson(struct, object).object as Draft) : object;
}
