import { Event } from "../api/builtin/event.ts";
import { Lease } from "../api/builtin/lease.ts";
import { customResourceDefinitions } from "../api/crds.ts";
import { systemEnv } from "../env/system.ts";
import type { KubeObject } from "../kube/object.ts";
import { MetricsRegistry } from "../runtime/metrics.ts";
import { allow, mergePermissions, type Permission } from "../runtime/permission.ts";
import { controllersOf, systemNames } from "./controllers.ts";

/** What `capstan install` prints: everything that a cluster needs, rendered from what the controllers declare. */
export interface InstallOptions {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  /** One Deployment for all systems instead of one for each. */
  readonly single: boolean;
  readonly registryNamespace: string;
}

export function installObjects(options: InstallOptions): readonly KubeObject[] {
  const groups = options.single
    ? [{ name: "capstan", systems: systemNames }]
    : systemNames.map((name) => ({ name, systems: [name] }));
  return [
    ...(customResourceDefinitions as readonly KubeObject[]),
    namespaceObject(options.namespace),
    ...groups.flatMap((group) => groupObjects(group, options)),
  ];
}

interface Group {
  readonly name: string;
  readonly systems: readonly string[];
}

function groupObjects(group: Group, options: InstallOptions): readonly KubeObject[] {
  const name = group.name === "capstan" ? "capstan" : `capstan-${group.name}`;
  const { namespace } = options;
  const labels = {
    "app.kubernetes.io/name": "capstan",
    "app.kubernetes.io/component": group.name,
    "app.kubernetes.io/managed-by": "capstan",
  };
  const subject = [{ kind: "ServiceAccount", name, namespace }];
  const rbac = "rbac.authorization.k8s.io";
  const object = (apiVersion: string, kind: string, rest: Record<string, unknown>, isNamespaced = true): KubeObject =>
    ({ apiVersion, kind, metadata: { name, ...(isNamespaced && { namespace }), labels }, ...rest }) as KubeObject;
  return [
    object("v1", "ServiceAccount", {}),
    object(`${rbac}/v1`, "ClusterRole", { rules: rulesOf(permissionsOf(group, options)) }, false),
    object(
      `${rbac}/v1`,
      "ClusterRoleBinding",
      { roleRef: { apiGroup: rbac, kind: "ClusterRole", name }, subjects: subject },
      false,
    ),
    object(`${rbac}/v1`, "Role", { rules: rulesOf([allow(Lease, ["get", "create", "update", "patch"])]) }),
    object(`${rbac}/v1`, "RoleBinding", { roleRef: { apiGroup: rbac, kind: "Role", name }, subjects: subject }),
    object("apps/v1", "Deployment", { spec: deploymentSpec(name, labels, group, options) }),
    ...(options.replicas > 1
      ? [object("policy/v1", "PodDisruptionBudget", { spec: { maxUnavailable: 1, selector: { matchLabels: labels } } })]
      : []),
    object("networking.k8s.io/v1", "NetworkPolicy", {
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ["Ingress"],
        ingress: [{ ports: [{ port: httpPort, protocol: "TCP" }] }],
      },
    }),
  ];
}

/** Exactly what the controllers say that they read and write, and the events that they record. */
export function permissionsOf(group: Group, { registryNamespace, image }: InstallOptions): readonly Permission[] {
  const controllers = controllersOf(group.systems, {
    env: systemEnv,
    metrics: new MetricsRegistry(),
    registryNamespace,
    image,
    fetch: () => Promise.reject(new Error("nothing is fetched while manifests are rendered")),
    baseUrls: {},
  });
  return mergePermissions([
    ...controllers.flatMap(({ permissions }) => permissions),
    allow(Event, ["create", "patch"]),
  ]);
}

const rulesOf = (permissions: readonly Permission[]): readonly unknown[] =>
  permissions.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs }));

const httpPort = 8080;

function deploymentSpec(
  name: string,
  labels: Readonly<Record<string, string>>,
  group: Group,
  options: InstallOptions,
): unknown {
  const probe = (path: string): unknown => ({ httpGet: { path, port: "http" }, periodSeconds: 5 });
  return {
    replicas: options.replicas,
    selector: { matchLabels: labels },
    template: {
      metadata: {
        labels,
        annotations: {
          "prometheus.io/scrape": "true",
          "prometheus.io/port": String(httpPort),
          "prometheus.io/path": "/metrics",
        },
      },
      spec: {
        serviceAccountName: name,
        terminationGracePeriodSeconds: 40,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_532,
          runAsGroup: 65_532,
          seccompProfile: { type: "RuntimeDefault" },
        },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: labels },
          },
        ],
        containers: [
          {
            name: "capstan",
            image: options.image,
            imagePullPolicy: "IfNotPresent",
            command: ["capstan"],
            args: [
              "run",
              `--controllers=${group.systems.join(",")}`,
              "--leader-elect",
              `--leader-elect-name=${name}`,
              `--leader-elect-namespace=${options.namespace}`,
              "--bind-address=0.0.0.0",
              `--http-port=${httpPort}`,
            ],
            ports: [{ name: "http", containerPort: httpPort, protocol: "TCP" }],
            livenessProbe: probe("/healthz"),
            readinessProbe: probe("/readyz"),
            resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ["ALL"] },
            },
            volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
          },
        ],
        volumes: [{ name: "tmp", emptyDir: {} }],
      },
    },
  };
}

const namespaceObject = (name: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name,
      labels: {
        "app.kubernetes.io/managed-by": "capstan",
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
      },
    },
  }) as KubeObject;
