/** All built-in kinds that are declared here, and the ones of other projects that we use where they are served. */
import type { Kind } from "../../kube/kind.ts";
import {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SubjectAccessReview,
  TokenReview,
} from "./access-review.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "./admission.ts";
import { Namespace, Node, ResourceQuota } from "./cluster.ts";
import { ConfigMap, Secret, ServiceAccount } from "./configuration.ts";
import { CustomResourceDefinition } from "./custom-resource-definition.ts";
import { Event, SeriesEvent } from "./event.ts";
import { TCPRoute, UDPRoute } from "./gateway.ts";
import { Job } from "./job.ts";
import { KnativeService } from "./knative.ts";
import { Lease } from "./lease.ts";
import { ServiceMonitor } from "./monitoring.ts";
import { NetworkPolicy } from "./network-policy.ts";
import { Pod } from "./pod.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "./rbac.ts";
import { HorizontalPodAutoscaler, PodDisruptionBudget } from "./scaling.ts";
import { EndpointSlice, Service } from "./service.ts";
import { PersistentVolumeClaim, StorageClass, VolumeSnapshot } from "./volume.ts";
import { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet } from "./workloads.ts";

/** Served by every cluster. */
export const builtinKinds: readonly Kind[] = [
  Pod,
  Service,
  ConfigMap,
  Secret,
  ServiceAccount,
  Namespace,
  Node,
  ResourceQuota,
  PersistentVolumeClaim,
  Event,
  SeriesEvent,
  Deployment,
  ReplicaSet,
  StatefulSet,
  DaemonSet,
  ControllerRevision,
  Job,
  Lease,
  EndpointSlice,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  NetworkPolicy,
  StorageClass,
  Role,
  RoleBinding,
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  MutatingWebhookConfiguration,
  SubjectAccessReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  TokenReview,
];

/** Served only where their project is installed; a controller asks before it uses one. */
export const foreignKinds: readonly Kind[] = [KnativeService, ServiceMonitor, VolumeSnapshot, TCPRoute, UDPRoute];
