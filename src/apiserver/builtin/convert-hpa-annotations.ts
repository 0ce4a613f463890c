import { child, type Draft, items } from "./draft.ts";

/** The forms in which an old HorizontalPodAutoscaler carries in annotations what its own fields cannot say. */

export function behaviorToText(behavior: Draft): string {
  const part = (field: string): unknown => {
    const rules = child(behavior, field);
    if (!rules) return null;
    const policies = items(rules, "policies").map((policy) => ({
      Type: policy["type"] ?? "",
      Value: policy["value"] ?? 0,
      PeriodSeconds: policy["periodSeconds"] ?? 0,
    }));
    return {
      StabilizationWindowSeconds: rules["stabilizationWindowSeconds"] ?? null,
      SelectPolicy: rules["selectPolicy"] ?? null,
      Policies: policies.length > 0 ? policies : null,
      Tolerance: rules["tolerance"] ?? null,
    };
  };
  return JSON.stringify({ ScaleUp: part("scaleUp"), ScaleDown: part("scaleDown") });
}

export function behaviorFromText(value: unknown): Draft | undefined {
  const parsed = parseObject(value);
  if (!parsed) return undefined;
  const result: Draft = {};
  for (const [field, from] of [
    ["scaleUp", "ScaleUp"],
    ["scaleDown", "ScaleDown"],
  ] as const) {
    const rules = child(parsed, from) ?? child(parsed, field);
    if (rules) result[field] = lowered(rules);
  }
  return result;
}

/** `StabilizationWindowSeconds` → `stabilizationWindowSeconds`, at every depth; nulls are nothing. */
function lowered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([key, member]) => [key.charAt(0).toLowerCase() + key.slice(1), lowered(member)]),
  );
}

const sources: Readonly<Record<string, string>> = {
  Resource: "resource",
  ContainerResource: "containerResource",
  Pods: "pods",
  Object: "object",
  External: "external",
};

/** A metric as the old version spells it: `{ resource: { name, targetAverageValue } }`. */
export function metricToOld(metric: Draft): Draft {
  const source = sources[String(metric["type"])];
  const body = source === undefined ? undefined : child(metric, source);
  if (source === undefined || !body) return metric;
  const { target, metric: identifier, describedObject, ...rest } = body;
  const { value, averageValue, averageUtilization } = (target as Draft | undefined) ?? {};
  const { name, selector } = (identifier as Draft | undefined) ?? {};
  const isExternal = source === "external";
  const isObject = source === "object";
  return {
    type: metric["type"],
    [source]: {
      ...(isObject && { target: describedObject }),
      ...rest,
      ...(name !== undefined && { metricName: name }),
      ...(selector !== undefined && { [isExternal ? "metricSelector" : "selector"]: selector }),
      ...(averageUtilization !== undefined && { targetAverageUtilization: averageUtilization }),
      ...(value !== undefined && { targetValue: value }),
      ...(averageValue !== undefined && { [isObject ? "averageValue" : "targetAverageValue"]: averageValue }),
    },
  };
}

export function metricFromOld(metric: Draft): Draft {
  const source = sources[String(metric["type"])];
  const body = source === undefined ? undefined : child(metric, source);
  // What was written by an earlier version of ours has the new form already.
  if (source === undefined || !body || (child(body, "target") && source !== "object")) return metric;
  const {
    metricName,
    metricSelector,
    selector,
    targetAverageUtilization,
    targetValue,
    targetAverageValue,
    averageValue,
    target,
    ...rest
  } = body;
  const average = targetAverageValue ?? averageValue;
  const type =
    targetAverageUtilization !== undefined ? "Utilization" : average !== undefined ? "AverageValue" : "Value";
  const labels = metricSelector ?? selector;
  return {
    type: metric["type"],
    [source]: {
      ...(source === "object" && { describedObject: target }),
      ...rest,
      ...(metricName !== undefined && {
        metric: { name: metricName, ...(labels !== undefined && { selector: labels }) },
      }),
      target: {
        type,
        ...(targetValue !== undefined && { value: targetValue }),
        ...(average !== undefined && { averageValue: average }),
        ...(targetAverageUtilization !== undefined && { averageUtilization: targetAverageUtilization }),
      },
    },
  };
}

export function metricsFromText(value: unknown): readonly Draft[] {
  const parsed = parseJson(value);
  return Array.isArray(parsed)
    ? (parsed as Draft[]).filter((metric) => typeof metric === "object" && metric !== null).map(metricFromOld)
    : [];
}

function parseObject(value: unknown): Draft | undefined {
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
