/** What bounds the number of pods: autoscalers and disruption budgets. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { anyObject, array, dateTime, integer, intOrString, map, optional, string } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { looseConditions, standardConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const count = optional(integer({ format: "int32" }));

const metric = openObject({
  type: string(),
  resource: optional(
    openObject({
      name: string(),
      target: openObject({
        type: string(),
        averageUtilization: optional(integer()),
        averageValue: optional(intOrString()),
        value: optional(intOrString()),
      }),
    }),
  ),
});

export const HorizontalPodAutoscaler = defineKind({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  shortNames: ["hpa"],
  description: "Moves the number of a workload's pods with its load.",
  spec: openObject({
    scaleTargetRef: openObject({ apiVersion: optional(string()), kind: string(), name: string() }),
    minReplicas: count,
    maxReplicas: integer({ format: "int32" }),
    metrics: optional(array(metric)),
    behavior: optional(anyObject()),
  }),
  status: openObject({
    observedGeneration: optional(integer({ format: "int64" })),
    currentReplicas: count,
    desiredReplicas: count,
    lastScaleTime: optional(dateTime()),
    conditions: optional(looseConditions),
  }),
});
export type HorizontalPodAutoscaler = ResourceOf<typeof HorizontalPodAutoscaler>;

export const PodDisruptionBudget = defineKind({
  group: "policy",
  version: "v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  shortNames: ["pdb"],
  description: "How many pods of a set may be taken away at once.",
  spec: openObject({
    minAvailable: optional(intOrString()),
    maxUnavailable: optional(intOrString()),
    selector: optional(labelSelector("The pods that it protects.")),
    unhealthyPodEvictionPolicy: optional(string()),
  }),
  status: openObject({
    observedGeneration: optional(integer({ format: "int64" })),
    disruptionsAllowed: count,
    currentHealthy: count,
    desiredHealthy: count,
    expectedPods: count,
    disruptedPods: optional(map(dateTime())),
    conditions: optional(standardConditions),
  }),
});
export type PodDisruptionBudget = ResourceOf<typeof PodDisruptionBudget>;
