// The kinds that the embedded API serves, and those that only travel in requests and answers.

/** Served as resources: "group/version/Kind", the core group being empty. */
export const servedKinds: readonly string[] = [
  ...core("Namespace", "ConfigMap", "Secret", "Service", "ServiceAccount", "Endpoints", "Node", "Pod"),
  ...core("PersistentVolume", "PersistentVolumeClaim", "ReplicationController", "Event"),
  ...core("ResourceQuota", "LimitRange"),
  ...of("apps/v1", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"),
  ...of("batch/v1", "Job", "CronJob"),
  ...of("autoscaling/v2", "HorizontalPodAutoscaler"),
  ...of("autoscaling/v1", "HorizontalPodAutoscaler"),
  ...of("policy/v1", "PodDisruptionBudget"),
  ...of("networking.k8s.io/v1", "NetworkPolicy", "Ingress", "IngressClass"),
  ...of("coordination.k8s.io/v1", "Lease"),
  ...of("discovery.k8s.io/v1", "EndpointSlice"),
  ...of("events.k8s.io/v1", "Event"),
  ...of("rbac.authorization.k8s.io/v1", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"),
  ...of("scheduling.k8s.io/v1", "PriorityClass"),
  ...of("storage.k8s.io/v1", "StorageClass"),
  ...of("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
  ...of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
  ...of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
];

/** Reviews and the bodies of sub-resources: created, answered, never stored. */
export const transientKinds: readonly string[] = [
  ...core("Binding", "DeleteOptions", "Status"),
  ...of("policy/v1", "Eviction"),
  ...of("autoscaling/v1", "Scale"),
  ...of("authentication.k8s.io/v1", "TokenRequest", "TokenReview", "SelfSubjectReview"),
  ...of("authorization.k8s.io/v1", "SubjectAccessReview", "LocalSubjectAccessReview"),
  ...of("authorization.k8s.io/v1", "SelfSubjectAccessReview", "SelfSubjectRulesReview"),
];

function core(...kinds: readonly string[]): readonly string[] {
  return of("/v1", ...kinds);
}

function of(groupVersion: string, ...kinds: readonly string[]): readonly string[] {
  return kinds.map((kind) => `${groupVersion}/${kind}`);
}
