/** Knative Serving, used only where its API is served. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { anyObject, array, boolean, integer, optional, string } from "../../kube/schema/build.ts";
import { looseConditions, templateMetadata } from "./metadata.ts";
import { openObject } from "./open-object.ts";
import { container } from "./pod-spec.ts";

export const KnativeService = defineKind({
  group: "serving.knative.dev",
  version: "v1",
  kind: "Service",
  plural: "services",
  shortNames: ["ksvc", "kservice"],
  description: "A program that scales with its requests, down to none.",
  spec: openObject({
    template: openObject({
      metadata: optional(templateMetadata),
      spec: openObject({
        containers: array(container),
        containerConcurrency: optional(integer({ format: "int64" })),
        timeoutSeconds: optional(integer({ format: "int64" })),
        serviceAccountName: optional(string()),
        volumes: optional(array(anyObject())),
      }),
    }),
    traffic: optional(
      array(
        openObject({
          latestRevision: optional(boolean()),
          percent: optional(integer({ format: "int64" })),
          revisionName: optional(string()),
          tag: optional(string()),
        }),
      ),
    ),
  }),
  status: openObject({
    observedGeneration: optional(integer({ format: "int64" })),
    url: optional(string()),
    address: optional(openObject({ url: optional(string()) })),
    latestReadyRevisionName: optional(string()),
    latestCreatedRevisionName: optional(string()),
    conditions: optional(looseConditions),
  }),
});
export type KnativeService = ResourceOf<typeof KnativeService>;
