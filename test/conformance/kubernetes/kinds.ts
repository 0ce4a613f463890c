// One small valid object of every built-in kind, and what the server makes of it.
export interface KindSample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Everything but apiVersion, kind and metadata. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Fields that the writer left out, by path. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** A change that every writer may make, as a merge patch. */
  readonly change?: Readonly<Record<string, unknown>>;
  /** A path whose value the change sets. */
  readonly changed?: readonly [string, unknown];
  /** A body that must be refused, and a part of the message. */
  readonly invalid?: readonly [Readonly<Record<string, unknown>>, RegExp];
  readonly name?: (id: string) => string;
}

const podTemplate = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "c", image: "registry.example/x" }] },
};
const selector = { matchLabels: { app: "x" } };
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const rbac = "rbac.authorization.k8s.io/v1";
const admission = "admissionregistration.k8s.io/v1";

export const kindSamples: readonly KindSample[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    namespaced: true,
    body: { data: { a: "1" } },
    defaults: {},
    change: { data: { b: "2" } },
    changed: ["data.b", "2"],
    invalid: [{ data: { "a b": "1" } }, /data\[a b\]: Invalid value: "a b": a valid config key must consist of/],
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    plural: "secrets",
    namespaced: true,
    body: { stringData: { a: "1" } },
    defaults: { type: "Opaque", "data.a": "MQ==" },
    change: { stringData: { b: "2" } },
    changed: ["data.b", "Mg=="],
    invalid: [{ type: "kubernetes.io/tls" }, /data\[tls.crt\]: Required value/],
  },
  {
    apiVersion: "v1",
    kind: "Service",
    plural: "services",
    namespaced: true,
    body: { spec: { ports: [{ port: 80 }], selector: { app: "x" } } },
    defaults: {
      "spec.type": "ClusterIP",
      "spec.sessionAffinity": "None",
      "spec.ports[0].protocol": "TCP",
      "spec.ports[0].targetPort": 80,
      "spec.internalTrafficPolicy": "Cluster",
    },
    change: { spec: { sessionAffinity: "ClientIP" } },
    changed: ["spec.sessionAffinity", "ClientIP"],
    invalid: [
      { spec: { ports: [{ port: 0 }] } },
      /spec.ports\[0\].port: Invalid value: 0: must be between 1 and 65535/,
    ],
  },
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    namespaced: true,
    body: {},
    defaults: {},
    change: { automountServiceAccountToken: false },
    changed: ["automountServiceAccountToken", false],
  },
  {
    apiVersion: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    namespaced: true,
    body: { subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 80 }] }] },
    defaults: { "subsets[0].ports[0].protocol": "TCP" },
    invalid: [{ subsets: [{ addresses: [{ ip: "x" }] }] }, /subsets\[0\].addresses\[0\].ip: Invalid value: "x"/],
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    namespaced: true,
    body: { addressType: "IPv4", endpoints: [{ addresses: ["10.1.1.1"] }], ports: [{ port: 80 }] },
    defaults: { "ports[0].protocol": "TCP", "ports[0].name": "" },
    invalid: [{ addressType: "IPv4", endpoints: [{ addresses: [] }] }, /endpoints\[0\].addresses: Required value/],
  },
  {
    apiVersion: "v1",
    kind: "Node",
    plural: "nodes",
    namespaced: false,
    body: {},
    defaults: {},
    change: { spec: { unschedulable: true } },
    changed: ["spec.unschedulable", true],
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    namespaced: false,
    body: { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
    defaults: {
      "spec.persistentVolumeReclaimPolicy": "Retain",
      "spec.volumeMode": "Filesystem",
      "spec.hostPath.type": "",
      "status.phase": "Pending",
      "metadata.finalizers": ["kubernetes.io/pv-protection"],
    },
    change: { spec: { persistentVolumeReclaimPolicy: "Delete" } },
    changed: ["spec.persistentVolumeReclaimPolicy", "Delete"],
    invalid: [
      { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] } },
      /spec: Required value: must specify a volume type/,
    ],
  },
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    namespaced: true,
    body: { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    defaults: { "spec.volumeMode": "Filesystem", "status.phase": "Pending" },
    invalid: [{ spec: { resources: { requests: { storage: "1Gi" } } } }, /spec.accessModes: Required value/],
  },
  {
    apiVersion: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    namespaced: true,
    body: { spec: { hard: { "count/nothing.example.com": 1, "requests.cpu": 1.5 } } },
    defaults: { "spec.hard[requests.cpu]": "1500m" },
    change: { spec: { hard: { "count/nothing.example.com": 2 } } },
    changed: ["spec.hard[count/nothing.example.com]", "2"],
    invalid: [
      { spec: { hard: { pods: -1 } } },
      /spec.hard\[pods\]: Invalid value: "-1": must be greater than or equal/,
    ],
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    plural: "limitranges",
    namespaced: true,
    body: { spec: { limits: [{ type: "Container", max: { cpu: 1 } }] } },
    defaults: { "spec.limits[0].default.cpu": "1", "spec.limits[0].defaultRequest.cpu": "1" },
    change: { spec: { limits: [{ type: "Pod", max: { cpu: 2 } }] } },
    changed: ["spec.limits[0].max.cpu", "2"],
    invalid: [
      { spec: { limits: [{ type: "Nope" }] } },
      /spec.limits\[0\].type: Invalid value: "Nope": must be a standard/,
    ],
  },
  {
    apiVersion: "v1",
    kind: "Event",
    plural: "events",
    namespaced: true,
    body: {
      involvedObject: { kind: "Pod", namespace: "NAMESPACE", name: "p" },
      reason: "R",
      message: "m",
      type: "Normal",
    },
    defaults: {},
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    namespaced: true,
    body: { spec: { selector, template: podTemplate } },
    defaults: {
      "spec.replicas": 1,
      "spec.strategy.type": "RollingUpdate",
      "spec.strategy.rollingUpdate.maxSurge": "25%",
      "spec.revisionHistoryLimit": 10,
      "spec.progressDeadlineSeconds": 600,
      "spec.template.spec.restartPolicy": "Always",
      "spec.template.spec.dnsPolicy": "ClusterFirst",
      "spec.template.spec.terminationGracePeriodSeconds": 30,
      "spec.template.spec.containers[0].imagePullPolicy": "Always",
      "metadata.generation": 1,
    },
    change: { spec: { replicas: 3 } },
    changed: ["spec.replicas", 3],
    invalid: [
      { spec: { selector: { matchLabels: { app: "y" } }, template: podTemplate } },
      /`selector` does not match template `labels`/,
    ],
  },
  {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    namespaced: true,
    body: { spec: { selector, template: podTemplate } },
    defaults: { "spec.replicas": 1, "metadata.generation": 1 },
    change: { spec: { replicas: 2 } },
    changed: ["spec.replicas", 2],
    invalid: [
      { spec: { selector, replicas: -1, template: podTemplate } },
      /spec.replicas: Invalid value: -1: must be greater than or equal to 0/,
    ],
  },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    namespaced: true,
    body: { spec: { template: podTemplate } },
    defaults: { "spec.replicas": 1, "spec.selector": selector.matchLabels, "metadata.labels": selector.matchLabels },
    change: { spec: { replicas: 2 } },
    changed: ["spec.replicas", 2],
    invalid: [
      { spec: { selector: { app: "other" }, template: podTemplate } },
      /spec.template.metadata.labels: Invalid value: .*: `selector` does not match template `labels`/,
    ],
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    namespaced: true,
    body: { spec: { serviceName: "s", selector, template: podTemplate } },
    defaults: {
      "spec.replicas": 1,
      "spec.podManagementPolicy": "OrderedReady",
      "spec.updateStrategy.type": "RollingUpdate",
      "spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
    },
    change: { spec: { replicas: 2 } },
    changed: ["spec.replicas", 2],
    invalid: [
      { spec: { serviceName: "s", selector, template: { metadata: { labels: { app: "x" } }, spec: {} } } },
      /spec.template.spec.containers: Required value/,
    ],
  },
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    plural: "daemonsets",
    namespaced: true,
    body: { spec: { selector, template: podTemplate } },
    defaults: { "spec.updateStrategy.type": "RollingUpdate", "spec.updateStrategy.rollingUpdate.maxUnavailable": 1 },
    change: { spec: { minReadySeconds: 5 } },
    changed: ["spec.minReadySeconds", 5],
  },
  {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    namespaced: true,
    body: { data: { a: 1 }, revision: 1 },
    defaults: {},
    change: { revision: 2 },
    changed: ["revision", 2],
    invalid: [{ data: { a: 1 }, revision: -1 }, /revision: Invalid value: -1/],
  },
  {
    apiVersion: "batch/v1",
    kind: "Job",
    plural: "jobs",
    namespaced: true,
    body: { spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } } } },
    defaults: {
      "spec.completions": 1,
      "spec.parallelism": 1,
      "spec.backoffLimit": 6,
      "spec.completionMode": "NonIndexed",
      "spec.suspend": false,
    },
    change: { spec: { parallelism: 2 } },
    changed: ["spec.parallelism", 2],
    invalid: [
      { spec: { template: { spec: { restartPolicy: "Always", containers: [{ name: "c", image: "x" }] } } } },
      /spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"|spec.template.spec.restartPolicy: Unsupported value/,
    ],
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    namespaced: true,
    body: {
      spec: {
        schedule: "*/5 * * * *",
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } } },
        },
      },
    },
    defaults: {
      "spec.concurrencyPolicy": "Allow",
      "spec.suspend": false,
      "spec.successfulJobsHistoryLimit": 3,
      "spec.failedJobsHistoryLimit": 1,
    },
    change: { spec: { suspend: true } },
    changed: ["spec.suspend", true],
    invalid: [
      {
        spec: {
          schedule: "never",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "x" }] } } },
          },
        },
      },
      /spec.schedule: Invalid value: "never"/,
    ],
  },
  {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    namespaced: true,
    body: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } } },
    defaults: {
      "spec.minReplicas": 1,
      "spec.metrics[0].resource.name": "cpu",
      "spec.metrics[0].resource.target.averageUtilization": 80,
    },
    change: { spec: { maxReplicas: 5 } },
    changed: ["spec.maxReplicas", 5],
    invalid: [
      { spec: { maxReplicas: 0, scaleTargetRef: { kind: "D", name: "d" } } },
      /spec.maxReplicas: Required value: must be set and greater than 0/,
    ],
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    namespaced: true,
    body: { spec: { minAvailable: 1, selector } },
    defaults: { "metadata.generation": 1 },
    change: { spec: { minAvailable: 2 } },
    changed: ["spec.minAvailable", 2],
    invalid: [
      { spec: { minAvailable: 1, maxUnavailable: 1, selector } },
      /minAvailable and maxUnavailable cannot be both set/,
    ],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    namespaced: true,
    body: { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] } },
    defaults: { "spec.policyTypes[0]": "Ingress" },
    invalid: [
      { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "x" } }] }] } },
      /spec.ingress\[0\].from\[0\].ipBlock.cidr: Invalid value: "x"/,
    ],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    namespaced: true,
    body: { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    defaults: {},
    change: { spec: { ingressClassName: "c" } },
    changed: ["spec.ingressClassName", "c"],
    invalid: [{ spec: {} }, /either `defaultBackend` or `rules` must be specified/],
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    namespaced: false,
    body: { spec: { controller: "example.com/c", parameters: { kind: "X", name: "n" } } },
    defaults: { "spec.parameters.scope": "Cluster", "metadata.generation": 1 },
    invalid: [{ spec: { controller: "nope" } }, /must be a domain-prefixed path/],
  },
  {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    namespaced: true,
    body: { spec: { holderIdentity: "x", leaseDurationSeconds: 15 } },
    defaults: {},
    change: { spec: { holderIdentity: "y" } },
    changed: ["spec.holderIdentity", "y"],
    invalid: [
      { spec: { leaseDurationSeconds: -1 } },
      /spec.leaseDurationSeconds: Invalid value: -1: must be greater than 0/,
    ],
  },
  {
    apiVersion: rbac,
    kind: "Role",
    plural: "roles",
    namespaced: true,
    body: { rules },
    defaults: {},
    change: { rules: [] },
    invalid: [{ rules: [{ apiGroups: [""], resources: ["pods"], verbs: [] }] }, /rules\[0\].verbs: Required value/],
  },
  {
    apiVersion: rbac,
    kind: "ClusterRole",
    plural: "clusterroles",
    namespaced: false,
    body: { rules },
    defaults: {},
    invalid: [
      { rules: [{ nonResourceURLs: ["x"], resources: ["pods"], apiGroups: [""], verbs: ["get"] }] },
      /rules\[0\].nonResourceURLs: Invalid value/,
    ],
  },
  {
    apiVersion: rbac,
    kind: "RoleBinding",
    plural: "rolebindings",
    namespaced: true,
    body: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "default" }],
    },
    defaults: {},
    invalid: [
      { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Foo", name: "view" } },
      /roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"/,
    ],
  },
  {
    apiVersion: rbac,
    kind: "ClusterRoleBinding",
    plural: "clusterrolebindings",
    namespaced: false,
    body: {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", name: "nobody" }],
    },
    defaults: { "subjects[0].apiGroup": "rbac.authorization.k8s.io" },
  },
  {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    plural: "priorityclasses",
    namespaced: false,
    body: { value: 1000 },
    defaults: { preemptionPolicy: "PreemptLowerPriority" },
    change: { description: "d" },
    changed: ["description", "d"],
    invalid: [
      { value: 2_000_000_000 },
      /value: Forbidden: maximum allowed value of a user defined priority is 1000000000/,
    ],
  },
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    plural: "storageclasses",
    namespaced: false,
    body: { provisioner: "example.com/p" },
    defaults: { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
    invalid: [{}, /provisioner: Required value/],
  },
  {
    apiVersion: admission,
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    namespaced: false,
    body: {
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ["nothing.example"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] },
          ],
        },
        validations: [{ expression: "true" }],
      },
    },
    defaults: { "spec.failurePolicy": "Fail", "spec.matchConstraints.matchPolicy": "Equivalent" },
    invalid: [{ spec: { validations: [{ expression: "true" }] } }, /spec.matchConstraints: Required value/],
  },
  {
    apiVersion: admission,
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
    namespaced: false,
    body: { spec: { policyName: "nothing", validationActions: ["Deny"] } },
    defaults: {},
    invalid: [{ spec: { policyName: "nothing" } }, /spec.validationActions: Required value/],
  },
  {
    apiVersion: admission,
    kind: "ValidatingWebhookConfiguration",
    plural: "validatingwebhookconfigurations",
    namespaced: false,
    body: {
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { url: "https://127.0.0.1:1/x" },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          rules: [
            { apiGroups: ["nothing.example"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] },
          ],
        },
      ],
    },
    defaults: {
      "webhooks[0].failurePolicy": "Fail",
      "webhooks[0].timeoutSeconds": 10,
      "webhooks[0].matchPolicy": "Equivalent",
    },
    invalid: [
      {
        webhooks: [
          {
            name: "a.example.com",
            clientConfig: { url: "http://x" },
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
          },
        ],
      },
      /webhooks\[0\].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme/,
    ],
  },
  {
    apiVersion: admission,
    kind: "MutatingWebhookConfiguration",
    plural: "mutatingwebhookconfigurations",
    namespaced: false,
    body: {
      webhooks: [
        {
          name: "a.example.com",
          clientConfig: { service: { namespace: "x", name: "y" } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          rules: [
            { apiGroups: ["nothing.example"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] },
          ],
        },
      ],
    },
    defaults: { "webhooks[0].reinvocationPolicy": "Never", "webhooks[0].clientConfig.service.port": 443 },
  },
];

export const pathOf = ({ apiVersion, plural, namespaced }: KindSample, namespace: string): string => {
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  return namespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
};
