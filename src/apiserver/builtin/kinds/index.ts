import type { Behaviour } from "../behaviour.ts";
import { autoscalerV1, autoscalerV2 } from "./autoscaling.ts";
import { cronJob, job } from "./batch.ts";
import { configMap, namespace, node, secret, serviceAccount } from "./core.ts";
import { coreEvent, newEvent } from "./events.ts";
import { endpointSlice, endpoints, ingress, ingressClass, networkPolicy, service } from "./network.ts";
import { pod } from "./pod.ts";
import {
  clusterRole,
  clusterRoleBinding,
  customResourceDefinition,
  lease,
  podDisruptionBudget,
  priorityClass,
  role,
  roleBinding,
  storageClass,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  webhookConfiguration,
} from "./policies.ts";
import { limitRange, resourceQuota } from "./quotas.ts";
import { persistentVolume, persistentVolumeClaim } from "./storage.ts";
import {
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  replicationController,
  statefulSet,
} from "./workloads.ts";

const rbac = "rbac.authorization.k8s.io/v1";
const admission = "admissionregistration.k8s.io/v1";

/** Which kind behaves how, by `apiVersion/Kind`. */
export const behaviours: ReadonlyMap<string, Behaviour> = new Map([
  ["v1/Namespace", namespace],
  ["v1/ConfigMap", configMap],
  ["v1/Secret", secret],
  ["v1/Service", service],
  ["v1/ServiceAccount", serviceAccount],
  ["v1/Endpoints", endpoints],
  ["v1/Node", node],
  ["v1/Pod", pod],
  ["v1/PersistentVolume", persistentVolume],
  ["v1/PersistentVolumeClaim", persistentVolumeClaim],
  ["v1/ReplicationController", replicationController],
  ["v1/ResourceQuota", resourceQuota],
  ["v1/LimitRange", limitRange],
  ["v1/Event", coreEvent],
  ["events.k8s.io/v1/Event", newEvent],
  ["apps/v1/Deployment", deployment],
  ["apps/v1/ReplicaSet", replicaSet],
  ["apps/v1/StatefulSet", statefulSet],
  ["apps/v1/DaemonSet", daemonSet],
  ["apps/v1/ControllerRevision", controllerRevision],
  ["batch/v1/Job", job],
  ["batch/v1/CronJob", cronJob],
  ["autoscaling/v2/HorizontalPodAutoscaler", autoscalerV2],
  ["autoscaling/v1/HorizontalPodAutoscaler", autoscalerV1],
  ["policy/v1/PodDisruptionBudget", podDisruptionBudget],
  ["networking.k8s.io/v1/NetworkPolicy", networkPolicy],
  ["networking.k8s.io/v1/Ingress", ingress],
  ["networking.k8s.io/v1/IngressClass", ingressClass],
  ["coordination.k8s.io/v1/Lease", lease],
  ["discovery.k8s.io/v1/EndpointSlice", endpointSlice],
  [`${rbac}/Role`, role],
  [`${rbac}/ClusterRole`, clusterRole],
  [`${rbac}/RoleBinding`, roleBinding],
  [`${rbac}/ClusterRoleBinding`, clusterRoleBinding],
  ["scheduling.k8s.io/v1/PriorityClass", priorityClass],
  ["storage.k8s.io/v1/StorageClass", storageClass],
  ["apiextensions.k8s.io/v1/CustomResourceDefinition", customResourceDefinition],
  [`${admission}/ValidatingAdmissionPolicy`, validatingAdmissionPolicy],
  [`${admission}/ValidatingAdmissionPolicyBinding`, validatingAdmissionPolicyBinding],
  [`${admission}/ValidatingWebhookConfiguration`, webhookConfiguration],
  [`${admission}/MutatingWebhookConfiguration`, webhookConfiguration],
]);
