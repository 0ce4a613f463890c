import type { Behaviour } from "../behaviour.ts";
import { ageColumn, column, nameColumn } from "../columns.ts";
import { toHpaV1, toHpaV2 } from "../convert-hpa.ts";
import { child, type Draft, descend, fill, finished, items, numeral, partsOf, text } from "../draft.ts";
import { validateAutoscaler } from "../validation/policies.ts";

/** HorizontalPodAutoscaler in both of its versions. */

const columnsFor = (asV2: (object: Draft) => Draft): Behaviour["columns"] => [
  nameColumn,
  column("Reference", (object) => {
    const target = descend(object, "spec", "scaleTargetRef");
    return `${text(target, "kind")}/${text(target, "name")}`;
  }),
  column("Targets", (object) => targetsText(asV2(object))),
  column("MinPods", (object) => String(numeral(child(object, "spec"), "minReplicas") ?? "<unset>")),
  column("MaxPods", (object) => numeral(child(object, "spec"), "maxReplicas") ?? 0),
  column("Replicas", (object) => numeral(child(object, "status"), "currentReplicas") ?? 0),
  ageColumn,
];

export const autoscalerV2: Behaviour = {
  validate: validateAutoscaler,
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fill(spec, "minReplicas", 1);
    if (items(spec, "metrics").length === 0) spec["metrics"] = [cpuMetric(defaultCpuPercent)];
    const behavior = child(spec, "behavior");
    if (!behavior) return;
    behavior["scaleUp"] = { ...scaleUpRules, ...child(behavior, "scaleUp") };
    behavior["scaleDown"] = { ...scaleDownRules, ...child(behavior, "scaleDown") };
  },
  columns: columnsFor((object) => object),
};

export const autoscalerV1: Behaviour = {
  validate: (object) => validateAutoscaler(toHpaV2(object)),
  fill(draft) {
    const spec = child(draft, "spec") ?? {};
    fill(spec, "minReplicas", 1);
    fill(spec, "targetCPUUtilizationPercentage", defaultCpuPercent);
  },
  storedAs: {
    group: "autoscaling",
    plural: "horizontalpodautoscalers",
    toStored: (object) => finished(toHpaV2(partsOf(object))),
    fromStored: (object) => finished(toHpaV1(partsOf(object))),
  },
  columns: columnsFor(toHpaV2),
};

export const defaultCpuPercent = 80;

export const cpuMetric = (percent: number): Draft => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});

const scaleUpRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
} as const;

const scaleDownRules = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
} as const;

const shownMetrics = 2;

function targetsText(object: Draft): string {
  const metrics = items(child(object, "spec"), "metrics");
  if (metrics.length === 0) return "<none>";
  const current = items(child(object, "status"), "currentMetrics");
  const all = metrics.map((metric, index) => metricText(metric, current[index]));
  const shown = all.slice(0, shownMetrics).join(", ");
  return all.length > shownMetrics ? `${shown} + ${all.length - shownMetrics} more...` : shown;
}

const sources: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};

function metricText(metric: Draft, status: Draft | undefined): string {
  const source = sources[text(metric, "type")];
  if (source === undefined) return "<unknown type>";
  const target = descend(metric, source, "target");
  const current = descend(status, source, "current");
  const average = text(target, "averageValue");
  const isResource = source === "resource" || source === "containerResource";
  const prefix = isResource ? `${text(child(metric, source), "name")}: ` : "";
  if (isResource && average === "") {
    const now = numeral(current, "averageUtilization");
    const wanted = numeral(target, "averageUtilization");
    return `${prefix}${now === undefined ? "<unknown>" : `${now}%`}/${wanted === undefined ? "<auto>" : `${wanted}%`}`;
  }
  if (average !== "") {
    const suffix = source === "external" || source === "object" ? " (avg)" : "";
    return `${prefix}${text(current, "averageValue") || "<unknown>"}/${average}${suffix}`;
  }
  return `${text(current, "value") || "<unknown>"}/${text(target, "value")}`;
}
