import { admissionWarnings } from "../../controllers/minecraft/admission-warnings.ts";
import type { KubeObject } from "../../kube/object.ts";
import { actionInstallObjects, webhookService } from "../action-objects.ts";
import { labelsOf, objectOf } from "./labelled.ts";
import type { Group, InstallOptions } from "./options.ts";

/** What a system needs besides a process that runs its controllers. */
export interface Needs {
  readonly args?: (options: InstallOptions) => readonly string[];
  readonly ports?: readonly Port[];
  /** The registry and the audit trail of several replicas live in PostgreSQL. */
  readonly database?: boolean;
  readonly objects?: (group: Group, options: InstallOptions) => readonly KubeObject[];
}

export interface Port {
  readonly name: string;
  readonly port: number;
  /** Who may reach it; everybody in the cluster unless told otherwise. */
  readonly onlyFrom?: { readonly namespacesLabelled: string };
}

export const httpPort: Port = { name: "http", port: 8080 };
const grpcPort: Port = {
  name: "grpc",
  port: 8088,
  onlyFrom: { namespacesLabelled: "capstan.dev/class-runtime-client" },
};
const webhookPort: Port = { name: "webhook", port: 9443 };

/** For tokens of pods that register themselves. */
export const registryAudience = "capstan-registry";

const needs: Readonly<Record<string, Needs>> = {
  actions: {
    args: ({ namespace }) => [`--webhook-port=${webhookPort.port}`, `--webhook-service=${namespace}/${webhookService}`],
    ports: [webhookPort],
    database: true,
    objects: (group, { namespace, image }) =>
      actionInstallObjects({ namespace, image, serviceAccount: group.name, podLabels: labelsOf(group) }),
  },
  "class-runtimes": {
    args: () => [`--grpc-port=${grpcPort.port}`],
    ports: [grpcPort],
    objects: (group, options) => [service(group, options, "capstan-class-runtimes", grpcPort)],
  },
  registry: {
    args: ({ registryNamespace }) => [
      `--registry-token-review-audience=${registryAudience}`,
      `--registry-namespace=${registryNamespace}`,
    ],
    database: true,
    objects: (group, options) => [service(group, options, "capstan-registry", httpPort)],
  },
  resolver: { args: ({ registryNamespace }) => [`--registry-namespace=${registryNamespace}`] },
  versions: { objects: admissionWarnings },
};

/** Of all systems of a group together. */
export function needsOf({ systems }: Group): Required<Needs> {
  const all = systems.flatMap((system) => needs[system] ?? []);
  return {
    args: (options) => [...new Set(all.flatMap(({ args }) => args?.(options) ?? []))],
    ports: [httpPort, ...all.flatMap(({ ports = [] }) => ports)],
    database: all.some(({ database }) => database),
    objects: (group, options) => all.flatMap(({ objects }) => objects?.(group, options) ?? []),
  };
}

/** Under the same name whether its system has a Deployment of its own or not. */
const service = (group: Group, { namespace }: InstallOptions, name: string, port: Port): KubeObject =>
  objectOf(
    group,
    ["v1", "Service"],
    { name, namespace },
    {
      spec: {
        selector: labelsOf(group),
        ports: [{ name: port.name, port: port.port, targetPort: port.name, protocol: "TCP" }],
      },
    },
  );
