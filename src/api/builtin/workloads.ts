/** The kinds that keep pods running: Deployment, ReplicaSet and what came before it, StatefulSet and DaemonSet. */
import { defineKind, type ResourceOf } from "../../kube/kind.ts";
import { array, boolean, integer, intOrString, map, optional, string } from "../../kube/schema/build.ts";
import { labelSelector } from "../label-selector.ts";
import { looseConditions } from "./metadata.ts";
import { openObject } from "./open-object.ts";
import { podTemplate } from "./pod-spec.ts";
import { claimTemplate } from "./volume.ts";

const selector = labelSelector("The pods that belong to it.");
const observedGeneration = optional(integer({ format: "int64" }));
const count = optional(integer({ format: "int32" }));
const scale = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
} as const;

export const Deployment = defineKind({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  plural: "deployments",
  shortNames: ["deploy"],
  description: "A number of equal pods, replaced step by step when their template changes.",
  spec: openObject({
    replicas: count,
    selector,
    template: podTemplate,
    strategy: optional(
      openObject({
        type: optional(string()),
        rollingUpdate: optional(
          openObject({ maxSurge: optional(intOrString()), maxUnavailable: optional(intOrString()) }),
        ),
      }),
    ),
    minReadySeconds: count,
    revisionHistoryLimit: count,
    progressDeadlineSeconds: count,
    paused: optional(boolean()),
  }),
  status: openObject({
    observedGeneration,
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    unavailableReplicas: count,
    terminatingReplicas: count,
    collisionCount: count,
    conditions: optional(looseConditions),
  }),
  scale,
});
export type Deployment = ResourceOf<typeof Deployment>;

export const ReplicaSet = defineKind({
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  shortNames: ["rs"],
  description: "A number of equal pods of one template.",
  spec: openObject({
    replicas: count,
    minReadySeconds: count,
    selector,
    template: optional(podTemplate),
  }),
  status: openObject({
    observedGeneration,
    replicas: count,
    fullyLabeledReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    terminatingReplicas: count,
    conditions: optional(looseConditions),
  }),
  scale,
});
export type ReplicaSet = ResourceOf<typeof ReplicaSet>;

export const ReplicationController = defineKind({
  group: "",
  version: "v1",
  kind: "ReplicationController",
  plural: "replicationcontrollers",
  shortNames: ["rc"],
  description: "A number of equal pods of one template, chosen by plain labels.",
  spec: openObject({
    replicas: count,
    minReadySeconds: count,
    selector: optional(map(string())),
    template: optional(podTemplate),
  }),
  status: openObject({
    observedGeneration,
    replicas: count,
    fullyLabeledReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    conditions: optional(looseConditions),
  }),
  scale,
});
export type ReplicationController = ResourceOf<typeof ReplicationController>;

export const StatefulSet = defineKind({
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  shortNames: ["sts"],
  description: "Pods with stable names and volumes of their own.",
  spec: openObject({
    replicas: count,
    selector,
    serviceName: optional(string()),
    template: podTemplate,
    volumeClaimTemplates: optional(array(claimTemplate)),
    podManagementPolicy: optional(string()),
    updateStrategy: optional(
      openObject({
        type: optional(string()),
        rollingUpdate: optional(openObject({ partition: count, maxUnavailable: optional(intOrString()) })),
      }),
    ),
    minReadySeconds: count,
    revisionHistoryLimit: count,
    persistentVolumeClaimRetentionPolicy: optional(
      openObject({ whenDeleted: optional(string()), whenScaled: optional(string()) }),
    ),
  }),
  status: openObject({
    observedGeneration,
    replicas: count,
    readyReplicas: count,
    currentReplicas: count,
    updatedReplicas: count,
    availableReplicas: count,
    currentRevision: optional(string()),
    updateRevision: optional(string()),
    collisionCount: count,
    conditions: optional(looseConditions),
  }),
  scale,
});
export type StatefulSet = ResourceOf<typeof StatefulSet>;

export const DaemonSet = defineKind({
  group: "apps",
  version: "v1",
  kind: "DaemonSet",
  plural: "daemonsets",
  shortNames: ["ds"],
  description: "One pod on every node.",
  spec: openObject({
    selector,
    template: podTemplate,
    updateStrategy: optional(openObject({ type: optional(string()) })),
    minReadySeconds: count,
    revisionHistoryLimit: count,
  }),
  status: openObject({
    observedGeneration,
    currentNumberScheduled: count,
    desiredNumberScheduled: count,
    updatedNumberScheduled: count,
    numberAvailable: count,
    numberUnavailable: count,
    numberMisscheduled: count,
    numberReady: count,
    collisionCount: count,
    conditions: optional(looseConditions),
  }),
});
export type DaemonSet = ResourceOf<typeof DaemonSet>;

export const ControllerRevision = defineKind({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  description: "A former template of a StatefulSet or DaemonSet.",
  fields: { revision: integer({ format: "int64" }), data: optional(openObject({})) },
});
export type ControllerRevision = ResourceOf<typeof ControllerRevision>;
