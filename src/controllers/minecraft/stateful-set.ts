import type { Container, PodSpec } from "../../api/builtin/pod-spec.ts";
import type { StatefulSet } from "../../api/builtin/workloads.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { ApplyObject } from "../../client/client.ts";
import { parseDurationMs } from "../../kube/duration.ts";
import { childLabels, childMetadata, gamePort, selectorLabels } from "./children.ts";
import { readImage } from "./paper-image.ts";
import { listFile, listName } from "./plugin-list.ts";

export interface StatefulSetInput {
  readonly server: PaperMCServer;
  readonly image: string;
  /** Of the plugin list; the pod is replaced when it changes. */
  readonly pluginDigest: string;
  /** The ports that plugins open. */
  readonly ports: readonly number[];
  /** Our own image, which fetches the jars before the server starts. */
  readonly ownImage: string;
  /** Mirrors that jars may come from although they stand inside the cluster. */
  readonly trustedUrls: readonly string[];
  /** What is there already: the template of the volume cannot be changed afterwards. */
  readonly existing?: StatefulSet;
  /** The server runs and is not being updated: a new version of ours is no reason to restart it. */
  readonly isUndisturbed: boolean;
}

export const pluginDigestAnnotation = "mc.k8s.lex.la/plugins-digest";
export const dataVolume = "data";
const listVolume = "capstan-plugins";
const defaultGraceSeconds = 300;
/** The user of the image that runs the server, who has to be able to replace what we write. */
const serverUser = 9001;

export function statefulSetOf(input: StatefulSetInput): ApplyObject<StatefulSet> {
  const { server, existing } = input;
  const { name } = server.metadata;
  const { podTemplate } = server.spec;
  return {
    metadata: childMetadata(server, name, "server"),
    spec: {
      replicas: 1,
      serviceName: existing?.spec.serviceName ?? name,
      selector: existing?.spec.selector ?? { matchLabels: selectorLabels(name) },
      template: {
        metadata: {
          labels: { ...podTemplate.metadata?.labels, ...childLabels(name, "server"), ...selectorLabels(name) },
          annotations: { ...podTemplate.metadata?.annotations, [pluginDigestAnnotation]: input.pluginDigest },
        },
        spec: podSpecOf(input),
      },
      volumeClaimTemplates: existing?.spec.volumeClaimTemplates ?? [claimTemplateOf(server)],
    },
  };
}

export function graceSeconds({ spec }: PaperMCServer): number {
  const timeout = parseDurationMs(spec.gracefulShutdown.timeout);
  const seconds = timeout.ok ? Math.ceil(timeout.value / 1_000) : 0;
  return seconds > 0 ? seconds : defaultGraceSeconds;
}

function podSpecOf(input: StatefulSetInput): PodSpec {
  const { server } = input;
  const template: Partial<PodSpec> = server.spec.podTemplate.spec ?? {};
  const { containers = [], initContainers = [], volumes = [], ...rest } = template;
  const [first, ...others] = containers;
  const user = rest.securityContext?.runAsUser ?? serverUser;
  return {
    ...rest,
    terminationGracePeriodSeconds: rest.terminationGracePeriodSeconds ?? graceSeconds(server),
    initContainers: [prepareContainer(input, user), ...initContainers],
    containers: [serverContainer(input, first), ...others],
    volumes: [...volumes, { name: listVolume, configMap: { name: listName(server) } }],
  };
}

const prepareName = "capstan-prepare";

/** Our own image puts the right jars into the plugins folder, checked, and switches RCON on. */
function prepareContainer(input: StatefulSetInput, user: number): Container {
  const { server, ownImage, trustedUrls, existing, isUndisturbed } = input;
  const { rcon } = server.spec;
  const before = existing?.spec.template.spec.initContainers?.find(({ name }) => name === prepareName);
  const kept = isUndisturbed ? before : undefined;
  return {
    name: prepareName,
    image: kept?.image ?? ownImage,
    command: kept?.command ?? [
      "capstan",
      "prepare-minecraft",
      "--list",
      `/capstan/${listFile}`,
      "--data",
      "/data",
      ...trustedUrls.flatMap((url) => ["--trust", url]),
    ],
    env: rcon.enabled ? rconVariables(server) : [],
    volumeMounts: [
      { name: dataVolume, mountPath: "/data" },
      { name: listVolume, mountPath: "/capstan", readOnly: true },
    ],
    securityContext: {
      runAsUser: user,
      runAsNonRoot: user !== 0,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
  };
}

function serverContainer({ server, image, ports }: StatefulSetInput, template: Container | undefined): Container {
  const { rcon } = server.spec;
  const running = readImage(image);
  const defaults: NonNullable<Container["env"]> = [
    { name: "EULA", value: "TRUE" },
    ...(running ? [{ name: "PAPER_VERSION", value: running.version }] : []),
    ...(running?.build !== undefined ? [{ name: "PAPER_BUILD", value: String(running.build) }] : []),
    ...(rcon.enabled ? rconVariables(server) : []),
  ];
  const env = template?.env ?? [];
  const given = new Set(env.map(({ name }) => name));
  const mounts = template?.volumeMounts ?? [];
  const hasData = mounts.some(({ mountPath }) => mountPath === "/data");
  const open = template?.ports ?? [];
  const isOpen = (port: number, protocol: string): boolean =>
    open.some((one) => one.containerPort === port && (one.protocol ?? "TCP") === protocol);
  const wanted: NonNullable<Container["ports"]> = [
    { name: "minecraft", containerPort: gamePort, protocol: "TCP" },
    ...(rcon.enabled ? [{ name: "rcon", containerPort: rcon.port, protocol: "TCP" as const }] : []),
    ...ports.flatMap((port) => [
      { name: `plugin-${port}-tcp`, containerPort: port, protocol: "TCP" as const },
      { name: `plugin-${port}-udp`, containerPort: port, protocol: "UDP" as const },
    ]),
  ];
  return {
    // Ready means that players can connect, so that an update is known to have succeeded.
    readinessProbe: { tcpSocket: { port: gamePort }, periodSeconds: 10, failureThreshold: 3 },
    ...template,
    name: template?.name ?? "papermc",
    image,
    env: [...env, ...defaults.filter(({ name }) => !given.has(name))],
    ports: [...open, ...wanted.filter(({ containerPort, protocol }) => !isOpen(containerPort, protocol ?? "TCP"))],
    volumeMounts: hasData ? mounts : [...mounts, { name: dataVolume, mountPath: "/data" }],
  };
}

const rconVariables = ({ spec: { rcon } }: PaperMCServer): NonNullable<Container["env"]> => [
  { name: "RCON_PORT", value: String(rcon.port) },
  {
    name: "RCON_PASSWORD",
    valueFrom: { secretKeyRef: { name: rcon.passwordSecret.name, key: rcon.passwordSecret.key } },
  },
];

function claimTemplateOf({ spec }: PaperMCServer) {
  const { size = "10Gi", storageClassName } = spec.storage ?? {};
  return {
    metadata: { name: dataVolume },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: size } },
      ...(storageClassName !== undefined && { storageClassName }),
    },
  };
}
