/** The parameters of every action, each in a member of its own. */
import {
  anyObject,
  boolean,
  type Fields,
  integer,
  map,
  type ObjectOptions,
  object,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "../kube/schema/build.ts";

const name = (description: string) => string({ description, minLength: 1, maxLength: 253 });
const namespace = string({ description: "The namespace of the target.", minLength: 1, maxLength: 63 });
const replicas = integer({ description: "How many pods to run.", minimum: 0, maximum: 1000, format: "int32" });
const gracePeriodSeconds = optional(
  integer({ description: "Seconds that a pod may take to stop.", minimum: 0, maximum: 3600, format: "int64" }),
);
const quantity = (description: string) =>
  optional(string({ description: `${description} A quantity such as 500m or 1Gi.`, maxLength: 32 }));
const taintEffect = oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"], {
  description: "What the taint does to pods.",
});

const member = <const F extends Fields>(fields: F, options: ObjectOptions) => optional(object(fields, options));

/** One member per action; an execution sets the one of its action. */
export const actionParameters = object(
  {
    scaleDeployment: member(
      { deployment: name("The Deployment to scale."), namespace, replicas },
      { description: "For scale_deployment." },
    ),
    rolloutRestart: member(
      { deployment: name("The Deployment to restart."), namespace },
      { description: "For rollout_restart." },
    ),
    deletePod: member(
      { pod: name("The Pod to delete."), namespace, gracePeriodSeconds },
      { description: "For delete_pod." },
    ),
    patchDeployment: member(
      {
        deployment: name("The Deployment to patch."),
        namespace,
        patchType: oneOf(["strategic", "merge", "json"], { description: "How the patch is to be read." }),
        patch: string({ description: "The patch, in JSON or YAML.", minLength: 1 }),
      },
      { description: "For patch_deployment." },
    ),
    cordonNode: member({ node: name("The Node that shall take no new pods.") }, { description: "For cordon_node." }),
    drainNode: member(
      {
        node: name("The Node to empty."),
        gracePeriodSeconds,
        force: optional(boolean({ description: "Also remove pods that nobody would start again." })),
        deleteLocalData: optional(boolean({ description: "Also remove pods whose local data is lost with them." })),
        ignoreDaemonSets: optional(boolean({ description: "Leave pods of DaemonSets where they are." })),
      },
      { description: "For drain_node. Pods are evicted, so disruption budgets hold." },
    ),
    uncordonNode: member({ node: name("The Node that may take pods again.") }, { description: "For uncordon_node." }),
    updateConfigMap: member(
      {
        configMap: name("The ConfigMap to update."),
        namespace,
        data: map(string(), { description: "The keys to set." }),
      },
      { description: "For update_configmap." },
    ),
    updateSecret: member(
      {
        secret: name("The Secret to update."),
        namespace,
        data: map(string({ format: "byte" }), { description: "The keys to set, with values in base64." }),
      },
      { description: "For update_secret." },
    ),
    applyManifest: member(
      { manifest: string({ description: "One object, in YAML or JSON.", minLength: 1 }) },
      { description: "For apply_manifest." },
    ),
    scaleStatefulSet: member(
      { statefulset: name("The StatefulSet to scale."), namespace, replicas },
      { description: "For scale_statefulset." },
    ),
    rollbackDeployment: member(
      {
        deployment: name("The Deployment to roll back."),
        namespace,
        revision: optional(
          integer({
            description: "The revision to return to; the previous one otherwise.",
            minimum: 0,
            format: "int64",
          }),
        ),
      },
      { description: "For rollback_deployment." },
    ),
    restartDaemonSet: member(
      { daemonset: name("The DaemonSet to restart."), namespace },
      { description: "For restart_daemonset." },
    ),
    restartPod: member(
      { pod: name("The Pod to start afresh; something must own it."), namespace },
      { description: "For restart_pod." },
    ),
    updateHpa: member(
      {
        hpa: name("The HorizontalPodAutoscaler to change."),
        namespace,
        minReplicas: optional(integer({ description: "The fewest pods.", minimum: 0, maximum: 1000, format: "int32" })),
        maxReplicas: optional(integer({ description: "The most pods.", minimum: 1, maximum: 1000, format: "int32" })),
      },
      {
        description: "For update_hpa.",
        rules: [
          {
            rule: "has(self.minReplicas) || has(self.maxReplicas)",
            message: "minReplicas, maxReplicas or both are required",
            reason: "FieldValueRequired",
          },
          {
            rule: "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
            message: "minReplicas may not be above maxReplicas",
            fieldPath: ".minReplicas",
          },
        ],
      },
    ),
    taintNode: member(
      {
        node: name("The Node to taint."),
        key: string({ description: "The key of the taint.", minLength: 1, maxLength: 316 }),
        value: optional(string({ description: "The value of the taint.", maxLength: 63 })),
        effect: taintEffect,
      },
      { description: "For taint_node." },
    ),
    untaintNode: member(
      {
        node: name("The Node to free of a taint."),
        key: string({ description: "The key of the taint.", minLength: 1, maxLength: 316 }),
        effect: optional(taintEffect),
      },
      { description: "For untaint_node. Without an effect, every taint of the key goes." },
    ),
    quarantinePod: member(
      { pod: name("The Pod to cut off from its Service, its owner and the network."), namespace },
      { description: "For quarantine_pod." },
    ),
    expandPvc: member(
      {
        pvc: name("The PersistentVolumeClaim to expand."),
        namespace,
        size: string({ description: "The new size, such as 20Gi.", minLength: 1, maxLength: 32 }),
      },
      { description: "For expand_pvc." },
    ),
    increaseResources: member(
      {
        deployment: name("The Deployment whose resources grow."),
        namespace,
        container: optional(name("The container; the first one otherwise.")),
        cpu: quantity("CPU, for request and limit alike."),
        memory: quantity("Memory, for request and limit alike."),
        cpuRequest: quantity("CPU to reserve."),
        cpuLimit: quantity("CPU that may not be exceeded."),
        memoryRequest: quantity("Memory to reserve."),
        memoryLimit: quantity("Memory that may not be exceeded."),
      },
      {
        description: "For increase_resources.",
        rules: [
          {
            rule: "has(self.cpu) || has(self.memory) || has(self.cpuRequest) || has(self.cpuLimit) || has(self.memoryRequest) || has(self.memoryLimit)",
            message: "at least one amount of cpu or memory is required",
            reason: "FieldValueRequired",
          },
        ],
      },
    ),
    updateNetworkPolicy: member(
      {
        networkpolicy: name("The NetworkPolicy to change."),
        namespace,
        rules: anyObject({
          description: "The parts of the NetworkPolicy's spec to set: ingress, egress, policyTypes, podSelector.",
        }),
      },
      { description: "For update_network_policy." },
    ),
  },
  { description: "What the action needs to know: the one member that belongs to the action." },
);
export type ActionParameters = TypeOf<typeof actionParameters>;
