/** Pods, as far as we read and write them. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, dateTime, integer, oneOf, optional, string, type TypeOf } from "../../kube/schema/build.ts";
import { looseConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";
import { podSpec } from "./pod-spec.ts";

const containerState = openObject({
  waiting: optional(openObject({ reason: optional(string()), message: optional(string()) })),
  running: optional(openObject({ startedAt: optional(dateTime()) })),
  terminated: optional(
    openObject({
      exitCode: integer(),
      signal: optional(integer()),
      reason: optional(string()),
      message: optional(string()),
      startedAt: optional(dateTime()),
      finishedAt: optional(dateTime()),
      containerID: optional(string()),
    }),
  ),
});

const containerStatus = openObject({
  name: string(),
  ready: boolean(),
  restartCount: integer(),
  image: string(),
  imageID: string(),
  containerID: optional(string()),
  started: optional(boolean()),
  state: optional(containerState),
  lastState: optional(containerState),
});
export type ContainerStatus = TypeOf<typeof containerStatus>;

export const podPhases = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;
export type PodPhase = (typeof podPhases)[number];

export const Pod = defineKind({
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  shortNames: ["po"],
  description: "One or more containers that run together on one node.",
  spec: podSpec,
  status: openObject({
    observedGeneration: optional(integer({ format: "int64" })),
    phase: optional(oneOf(podPhases)),
    reason: optional(string()),
    message: optional(string()),
    conditions: optional(looseConditions),
    podIP: optional(string()),
    podIPs: optional(array(openObject({ ip: string() }))),
    hostIP: optional(string()),
    startTime: optional(dateTime()),
    qosClass: optional(string()),
    nominatedNodeName: optional(string()),
    containerStatuses: optional(array(containerStatus)),
    initContainerStatuses: optional(array(containerStatus)),
  }),
});
export type Pod = ResourceOf<typeof Pod>;
