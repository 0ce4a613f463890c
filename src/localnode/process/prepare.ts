import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../client/client.ts";
import type { RunRequest } from "../pod/container-run.ts";
import { isOwnImage } from "./capstan-command.ts";
import { ConfigSource } from "./config-source.ts";
import { environmentOf } from "./environment.ts";
import { expandVariables } from "./expand.ts";
import { type MountedPath, translatePaths } from "./mount-paths.ts";
import type { Places } from "./places.ts";
import { podKubeconfig } from "./pod-kubeconfig.ts";
import { prepareVolumes } from "./volumes.ts";

/** How processes are set up; the access to the API is there once the server listens. */
export interface ProcessSettings {
  readonly places: Places;
  readonly image: string;
  readonly nodeAddress: string;
  /** Where programs are looked for, after our own folder. */
  readonly path: string;
  /** Commands of our own program that run as a thread of this one, each with its module. */
  readonly threads: Threads;
  api(): { readonly client: Client; readonly serverUrl: string };
}

/** `provide` → the module that does what `capstan provide` does. */
export type Threads = Readonly<Record<string, string>>;

export interface PreparedContainer {
  readonly command: readonly string[];
  /** The module to run as a thread; absent for what is a process. */
  readonly thread?: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly terminationFile: string;
  readonly address: string;
  readonly translate: (text: string) => string;
  readonly renewInMs?: number;
}

/** Writes the files of a container and works out how to start it. May be done again to renew the files. */
export async function prepareContainer(
  settings: ProcessSettings,
  { pod, container }: RunRequest,
  signal: AbortSignal,
): Promise<PreparedContainer> {
  const { places, nodeAddress } = settings;
  const { client, serverUrl } = settings.api();
  const { uid = "", namespace = "", name } = pod.metadata;
  const addresses = { host: nodeAddress, pod: pod.status?.podIP || nodeAddress };
  const source = new ConfigSource(client, namespace, signal);
  const folder = places.container(uid, container.name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const volumes = await prepareVolumes({ pod, container, places, source, client, addresses, signal });
  const terminationFile = join(folder, "termination-log");
  const mounts: readonly MountedPath[] = [
    ...volumes.mounts,
    { inside: container.terminationMessagePath ?? "/dev/termination-log", outside: terminationFile },
  ];
  const translate = (text: string): string => translatePaths(text, mounts);
  const isOwn = isOwnImage(container.image, settings.image);
  const server = new URL(serverUrl);
  const account = volumes.mounts.find(({ inside }) => inside === accountFolder)?.outside;
  const kubeconfig = join(folder, "kubeconfig");
  if (account !== undefined) {
    writeFileSync(kubeconfig, podKubeconfig({ serverUrl, folder: account, namespace }), { mode: 0o600 });
  }
  const raw = await environmentOf({
    pod,
    container,
    source,
    addresses,
    given: {
      PATH: `${places.bin}:${settings.path}`,
      HOME: folder,
      HOSTNAME: pod.spec.hostname ?? name,
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      KUBERNETES_SERVICE_PORT_HTTPS: server.port,
      ...(account !== undefined && { KUBECONFIG: kubeconfig }),
      ...(isOwn && { CAPSTAN_RESULT: terminationFile }),
      ...(isOwn && account !== undefined && { CAPSTAN_KUBECONFIG: kubeconfig }),
    },
  });
  const variables = Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, translate(value)]));
  const words = [...(container.command ?? (isOwn ? ["capstan"] : [])), ...(container.args ?? [])];
  const thread = isOwn && words[0] === "capstan" ? settings.threads[words[1] ?? ""] : undefined;
  const workingDir = container.workingDir ? translate(container.workingDir) : "";
  return {
    command: words.map((word) => translate(expandVariables(word, raw))),
    ...(thread !== undefined && { thread }),
    variables,
    // A folder that is in no volume is part of the image, which is not here.
    cwd: workingDir !== "" && workingDir !== container.workingDir ? workingDir : folder,
    terminationFile,
    address: addresses.pod,
    translate,
    ...(volumes.renewInMs !== undefined && { renewInMs: volumes.renewInMs }),
  };
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
