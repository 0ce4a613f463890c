import type { KubeObject } from "../../kube/object.ts";
import { labelsOf, objectOf } from "./labelled.ts";
import { httpPort, needsOf, type Port } from "./needs.ts";
import type { Group, InstallOptions } from "./options.ts";

/** What runs a group: its Deployment, how many of its pods may go at once, and who may reach them. */
export function workloadObjects(group: Group, options: InstallOptions): readonly KubeObject[] {
  const { namespace, replicas } = options;
  const matchLabels = labelsOf(group);
  const inNamespace = (apiVersion: string, kind: string, spec: object): KubeObject =>
    objectOf(group, [apiVersion, kind], { namespace }, { spec });
  return [
    inNamespace("apps/v1", "Deployment", deploymentSpec(group, options)),
    ...(replicas > 1
      ? [inNamespace("policy/v1", "PodDisruptionBudget", { maxUnavailable: 1, selector: { matchLabels } })]
      : []),
    inNamespace("networking.k8s.io/v1", "NetworkPolicy", {
      podSelector: { matchLabels },
      policyTypes: ["Ingress"],
      ingress: needsOf(group).ports.map(ingressTo),
    }),
  ];
}

const ingressTo = ({ port, onlyFrom }: Port): object => ({
  ports: [{ port, protocol: "TCP" }],
  ...(onlyFrom && { from: [{ namespaceSelector: { matchLabels: { [onlyFrom.namespacesLabelled]: "true" } } }] }),
});

function deploymentSpec(group: Group, options: InstallOptions): object {
  const matchLabels = labelsOf(group);
  return {
    replicas: options.replicas,
    selector: { matchLabels },
    template: {
      metadata: {
        labels: labelsOf(group),
        annotations: {
          "prometheus.io/scrape": "true",
          "prometheus.io/port": String(httpPort.port),
          "prometheus.io/path": "/metrics",
        },
      },
      spec: {
        serviceAccountName: group.name,
        // The variables of a Service named capstan-registry would be taken for settings: CAPSTAN_REGISTRY_PORT is one.
        enableServiceLinks: false,
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
        volumes: [{ name: "tmp", emptyDir: {} }, ...(needsOf(group).database ? [databaseVolume] : [])],
      },
    },
  };
}

function container(group: Group, options: InstallOptions): object {
  const { args, ports, database } = needsOf(group);
  const probe = (path: string): object => ({ httpGet: { path, port: "http" }, periodSeconds: 5, timeoutSeconds: 5 });
  return {
    name: "capstan",
    image: options.image,
    imagePullPolicy: "IfNotPresent",
    command: ["capstan"],
    // The only folder that can be written.
    workingDir: "/tmp",
    args: [
      "run",
      `--controllers=${group.systems.join(",")}`,
      "--leader-elect",
      `--leader-elect-name=${group.name}`,
      `--leader-elect-namespace=${options.namespace}`,
      "--bind-address=0.0.0.0",
      `--http-port=${httpPort.port}`,
      `--image=${options.image}`,
      ...args(options),
    ],
    // Whatever else is to be set: every flag has a variable of its own.
    envFrom: [{ configMapRef: { name: "capstan", optional: true } }],
    ...(database && { env: [databaseUrl] }),
    ports: ports.map(({ name, port }) => ({ name, containerPort: port, protocol: "TCP" })),
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
    volumeMounts: [
      { name: "tmp", mountPath: "/tmp" },
      ...(database ? [{ name: databaseVolume.name, mountPath: "/etc/capstan/database", readOnly: true }] : []),
    ],
  };
}

const databaseSecret = "capstan-database";

const databaseUrl = {
  name: "CAPSTAN_DATABASE_URL",
  valueFrom: { secretKeyRef: { name: databaseSecret, key: "url" } },
} as const;

/** The authority that signed the database's certificate, for `sslrootcert=/etc/capstan/database/ca.crt` in the URL. */
const databaseVolume = {
  name: "database",
  secret: {
    secretName: databaseSecret,
    items: [{ key: "ca.crt", path: "ca.crt" }],
    optional: true,
    defaultMode: 0o444,
  },
} as const;
