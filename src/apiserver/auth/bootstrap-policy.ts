import type { Binding, PolicyRule, Role, Subject } from "./rbac-objects.ts";

/** The roles and bindings that every cluster has from its first minute, as far as the served resources go. */
export function bootstrapPolicy(): readonly (Role | Binding)[] {
  return [
    ...Object.entries(plainRoles).map(([name, rules]) => clusterRole(name, { rules })),
    ...["admin", "edit", "view"].map((level) => {
      const label = `rbac.authorization.k8s.io/aggregate-to-${level}`;
      return clusterRole(
        level,
        { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] } },
        lower[level],
      );
    }),
    clusterRole("system:aggregate-to-admin", { rules: adminRules }, "admin"),
    clusterRole("system:aggregate-to-edit", { rules: editRules }, "edit"),
    clusterRole("system:aggregate-to-view", { rules: viewRules }, "view"),
    binding("cluster-admin", "cluster-admin", [group("system:masters")]),
    binding("system:basic-user", "system:basic-user", [group("system:authenticated")]),
    binding("system:discovery", "system:discovery", [group("system:authenticated")]),
    binding("system:monitoring", "system:monitoring", [group("system:monitoring")]),
    binding("system:public-info-viewer", "system:public-info-viewer", [
      group("system:authenticated"),
      group("system:unauthenticated"),
    ]),
    binding("system:service-account-issuer-discovery", "system:service-account-issuer-discovery", [
      group("system:serviceaccounts"),
    ]),
  ];
}

/** view is part of edit, edit is part of admin. */
const lower: Readonly<Record<string, string>> = { edit: "admin", view: "edit" };

const read = ["get", "list", "watch"];
const change = ["create", "delete", "deletecollection", "patch", "update"];
const everything = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const rule = (verbs: readonly string[], apiGroups: readonly string[], resources: readonly string[]): PolicyRule => ({
  verbs,
  apiGroups,
  resources,
});
const health = ["/healthz", "/livez", "/readyz"];

const plainRoles: Readonly<Record<string, readonly PolicyRule[]>> = {
  "cluster-admin": [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ],
  "system:auth-delegator": [
    rule(["create"], ["authentication.k8s.io"], ["tokenreviews"]),
    rule(["create"], ["authorization.k8s.io"], ["subjectaccessreviews"]),
  ],
  "system:basic-user": [
    rule(["create"], ["authorization.k8s.io"], ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
    rule(["create"], ["authentication.k8s.io"], ["selfsubjectreviews"]),
  ],
  "system:discovery": [
    {
      verbs: ["get"],
      nonResourceURLs: [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
      ],
    },
  ],
  "system:monitoring": [
    {
      verbs: ["get"],
      nonResourceURLs: [
        "/healthz",
        "/healthz/*",
        "/livez",
        "/livez/*",
        "/metrics",
        "/metrics/slis",
        "/readyz",
        "/readyz/*",
      ],
    },
  ],
  "system:public-info-viewer": [{ verbs: ["get"], nonResourceURLs: [...health, "/version", "/version/"] }],
  "system:service-account-issuer-discovery": [
    {
      verbs: ["get"],
      nonResourceURLs: [
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/",
        "/openid/v1/jwks",
        "/openid/v1/jwks/",
      ],
    },
  ],
};

const adminRules: readonly PolicyRule[] = [
  rule(["create"], ["authorization.k8s.io"], ["localsubjectaccessreviews"]),
  rule(everything, ["rbac.authorization.k8s.io"], ["rolebindings", "roles"]),
];

const scalable = ["deployments", "replicasets", "statefulsets"];
const podStreams = ["pods/attach", "pods/exec", "pods/portforward", "pods/proxy"];

const editRules: readonly PolicyRule[] = [
  rule(read, [""], [...podStreams, "secrets", "services/proxy"]),
  rule(["impersonate"], [""], ["serviceaccounts"]),
  rule(change, [""], ["pods", ...podStreams]),
  rule(["create"], [""], ["pods/eviction"]),
  rule(
    change,
    [""],
    [
      ...["configmaps", "persistentvolumeclaims", "replicationcontrollers", "replicationcontrollers/scale"],
      ...["secrets", "serviceaccounts", "services", "services/proxy"],
    ],
  ),
  rule(["create"], [""], ["serviceaccounts/token"]),
  rule(change, ["", "events.k8s.io"], ["events"]),
  rule(change, ["apps"], ["daemonsets", ...scalable.flatMap((name) => [name, `${name}/scale`])]),
  rule(change, ["autoscaling"], ["horizontalpodautoscalers"]),
  rule(change, ["batch"], ["cronjobs", "jobs"]),
  rule(change, ["policy"], ["poddisruptionbudgets"]),
  rule(change, ["networking.k8s.io"], ["ingresses", "networkpolicies"]),
  rule(everything, ["coordination.k8s.io"], ["leases"]),
];

const viewRules: readonly PolicyRule[] = [
  rule(
    read,
    [""],
    [
      "configmaps",
      "endpoints",
      "persistentvolumeclaims",
      "persistentvolumeclaims/status",
      "pods",
      "replicationcontrollers",
      "replicationcontrollers/scale",
      "serviceaccounts",
      "services",
      "services/status",
    ],
  ),
  rule(
    read,
    [""],
    [
      ...["bindings", "limitranges", "namespaces/status", "pods/log", "pods/status", "replicationcontrollers/status"],
      ...["resourcequotas", "resourcequotas/status"],
    ],
  ),
  rule(read, [""], ["namespaces"]),
  rule(read, ["", "events.k8s.io"], ["events"]),
  rule(read, ["discovery.k8s.io"], ["endpointslices"]),
  rule(
    read,
    ["apps"],
    [
      "controllerrevisions",
      "daemonsets",
      "daemonsets/status",
      ...scalable.flatMap((name) => [name, `${name}/scale`, `${name}/status`]),
    ],
  ),
  rule(read, ["autoscaling"], ["horizontalpodautoscalers", "horizontalpodautoscalers/status"]),
  rule(read, ["batch"], ["cronjobs", "cronjobs/status", "jobs", "jobs/status"]),
  rule(read, ["policy"], ["poddisruptionbudgets", "poddisruptionbudgets/status"]),
  rule(read, ["networking.k8s.io"], ["ingresses", "ingresses/status", "networkpolicies"]),
];

const metadataOf = (name: string, aggregateTo?: string) => ({
  name,
  labels: {
    "kubernetes.io/bootstrapping": "rbac-defaults",
    ...(aggregateTo !== undefined && { [`rbac.authorization.k8s.io/aggregate-to-${aggregateTo}`]: "true" }),
  },
  annotations: { "rbac.authorization.kubernetes.io/autoupdate": "true" },
});

const clusterRole = (name: string, body: Pick<Role, "rules" | "aggregationRule">, aggregateTo?: string): Role => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: metadataOf(name, aggregateTo),
  ...body,
});

const binding = (name: string, role: string, subjects: readonly Subject[]): Binding => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: metadataOf(name),
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
  subjects,
});

const group = (name: string): Subject => ({ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name });
