/** Jobs: pods that run to their end. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { anyObject, array, boolean, dateTime, integer, optional, string } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { looseConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";
import { podTemplate } from "./pod-spec.ts";

const count = optional(integer({ format: "int32" }));

export const Job = defineKind({
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  description: "A pod, or several, that run to their end.",
  spec: openObject({
    template: podTemplate,
    parallelism: count,
    completions: count,
    completionMode: optional(string()),
    backoffLimit: count,
    activeDeadlineSeconds: optional(integer({ format: "int64" })),
    ttlSecondsAfterFinished: count,
    suspend: optional(boolean()),
    manualSelector: optional(boolean()),
    selector: optional(labelSelector("The pods that belong to it.")),
    podFailurePolicy: optional(openObject({ rules: array(anyObject()) })),
    backoffLimitPerIndex: count,
    maxFailedIndexes: count,
    successPolicy: optional(
      openObject({ rules: array(openObject({ succeededIndexes: optional(string()), succeededCount: count })) }),
    ),
    podReplacementPolicy: optional(string()),
    managedBy: optional(string()),
  }),
  status: openObject({
    active: count,
    ready: count,
    succeeded: count,
    failed: count,
    terminating: count,
    startTime: optional(dateTime()),
    completionTime: optional(dateTime()),
    conditions: optional(looseConditions),
    completedIndexes: optional(string()),
    failedIndexes: optional(string()),
    uncountedTerminatedPods: optional(
      openObject({ succeeded: optional(array(string())), failed: optional(array(string())) }),
    ),
  }),
});
export type Job = ResourceOf<typeof Job>;
