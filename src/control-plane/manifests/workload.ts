import type { KubeObject } from "../../kube/object.ts";
import { labelsOf, objectOf, selectorOf } from "./labelled.ts";
import type { Group, InstallOptions } from "./options.ts";

const httpPort = 8080;

/** What runs a group: its Deployment, how many of its pods may go at once, and who may reach them. */
export function workloadObjects(group: Group, options: InstallOptions): readonly KubeObject[] {
  const { namespace, replicas } = options;
  const matchLabels = selectorOf(group);
  return [
    objectOf(group, ["apps/v1", "Deployment"], { namespace }, { spec: deploymentSpec(group, options) }),
    ...(replicas > 1
      ? [
          objectOf(
            group,
            ["policy/v1", "PodDisruptionBudget"],
            { namespace },
            { spec: { maxUnavailable: 1, selector: { matchLabels } } },
          ),
        ]
      : []),
    objectOf(
      group,
      ["networking.k8s.io/v1", "NetworkPolicy"],
      { namespace },
      {
        spec: {
          podSelector: { matchLabels },
          policyTypes: ["Ingress"],
          ingress: [{ ports: [{ port: httpPort, protocol: "TCP" }] }],
        },
      },
    ),
  ];
}

function deploymentSpec(group: Group, options: InstallOptions): object {
  const matchLabels = selectorOf(group);
  return {
    replicas: options.replicas,
    selector: { matchLabels },
    template: {
      metadata: {
        labels: labelsOf(group),
        annotations: {
          "prometheus.io/scrape": "true",
          "prometheus.io/port": String(httpPort),
          "prometheus.io/path": "/metrics",
        },
      },
      spec: {
        serviceAccountName: group.name,
        // Longer than a graceful hand-over of the lease takes.
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
            labelSelector: { matchLabels },
          },
        ],
        containers: [container(group, options)],
        volumes: [{ name: "tmp", emptyDir: {} }],
      },
    },
  };
}

function container(group: Group, options: InstallOptions): object {
  const probe = (path: string): object => ({ httpGet: { path, port: "http" }, periodSeconds: 5, timeoutSeconds: 5 });
  return {
    name: "capstan",
    image: options.image,
    imagePullPolicy: "IfNotPresent",
    command: ["capstan"],
    args: [
      "run",
      `--controllers=${group.systems.join(",")}`,
      "--leader-elect",
      `--leader-elect-name=${group.name}`,
      `--leader-elect-namespace=${options.namespace}`,
      "--bind-address=0.0.0.0",
      `--http-port=${httpPort}`,
    ],
    env: [{ name: "CAPSTAN_IMAGE", value: options.image }],
    envFrom: [{ configMapRef: { name: "capstan", optional: true } }],
    ports: [{ name: "http", containerPort: httpPort, protocol: "TCP" }],
    // A process that starts on a busy node is slow, not dead.
    startupProbe: { ...probe("/healthz"), failureThreshold: 36 },
    livenessProbe: { ...probe("/healthz"), failureThreshold: 6 },
    readinessProbe: probe("/readyz"),
    resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
  };
}
