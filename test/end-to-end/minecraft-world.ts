import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Secret, ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { customResourceDefinitions } from "../../src/api/crds.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { readManifests } from "../../src/cli/manifest-files.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { applyObjects } from "../../src/control-plane/install.ts";
import { minecraftControllers } from "../../src/controllers/minecraft/controllers.ts";
import { createOutsideFetch } from "../../src/controllers/minecraft/outside-fetch.ts";
import { versionSolver } from "../../src/controllers/version-solver/controller.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler, HttpRequest } from "../../src/http/message.ts";
import { createLogger } from "../../src/runtime/log.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";
import { eventually } from "./embedded.ts";
import { type Recordings, startRecordings } from "./minecraft-recordings.ts";

export const namespace = "games";

/** The embedded API in memory, the Minecraft controllers on it, and recorded answers from outside. */
export interface MinecraftWorld {
  readonly client: Client;
  readonly manager: Manager;
  readonly recordings: Recordings;
  /** Plays StatefulSet controller and node once: what is there becomes ready, if `isReady` says so. */
  playNode(isReady?: (image: string) => boolean): Promise<void>;
  server(name: string, inNamespace?: string): Promise<PaperMCServer>;
  plugin(name: string, inNamespace?: string): Promise<Plugin>;
  /** As `kubectl apply` does it, into our namespace where a manifest names none. */
  apply(paths: readonly string[]): Promise<void>;
  readonly writes: Map<string, number>;
  /** The warnings in the operator's log. */
  readonly warnings: readonly string[];
}

export interface MinecraftOutside {
  /** Puts itself before what reaches the recordings. */
  readonly around?: (fetch: HttpHandler) => HttpHandler;
  /** True: the services are where they really are, which nothing but `around` may answer for. */
  readonly isReal?: boolean;
  /** What happens to the API just before a controller's write reaches it. */
  readonly beforeWrite?: (request: HttpRequest, client: Client) => Promise<void>;
}

export async function startMinecraft(
  context: TestContext,
  { around = (fetch) => fetch, isReal = false, beforeWrite = async () => undefined }: MinecraftOutside = {},
): Promise<MinecraftWorld> {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  const writes = new Map<string, number>();
  const transport: HttpHandler = (request) => {
    if (request.method !== "GET") writes.set(request.method, (writes.get(request.method) ?? 0) + 1);
    return server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  };
  const client = createClient({ env: systemEnv, transport });
  for (const definition of customResourceDefinitions) await client.create(CustomResourceDefinition, definition);
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ServiceAccount, { metadata: { name: "default", namespace } });
  await eventually(
    () => client.list(Plugin),
    () => undefined,
  );
  const recordings = await startRecordings();
  context.after(() => recordings.server.close());
  const outside = createOutsideFetch({ trustedUrls: Object.values(recordings.baseUrls) });
  context.after(() => outside.close());
  const controllersClient = createClient({
    env: systemEnv,
    transport: async (request) => {
      if (request.method !== "GET") await beforeWrite(request, client);
      return transport(request);
    },
  });
  const warnings: string[] = [];
  const log = createLogger({ env: systemEnv, level: "warn", writeLine: (line) => warnings.push(line) });
  const manager = createManager({ env: systemEnv, client: controllersClient, log });
  const { metrics } = manager;
  for (const controller of [
    ...versionSolver({ env: systemEnv, metrics }),
    ...minecraftControllers({
      env: systemEnv,
      metrics,
      fetch: around(isReal ? noNetwork : outside.fetch),
      baseUrls: isReal ? {} : recordings.baseUrls,
      image: "capstan:test",
    }),
  ])
    manager.add(controller);
  await manager.start();
  context.after(() => manager.stop());
  return {
    client,
    manager,
    recordings,
    writes,
    warnings,
    server: (name, inNamespace = namespace) => client.get(PaperMCServer, { namespace: inNamespace, name }),
    plugin: (name, inNamespace = namespace) => client.get(Plugin, { namespace: inNamespace, name }),
    playNode: (isReady = () => true) => playNode(client, isReady),
    apply: (paths) =>
      applyObjects(
        client,
        readManifests(paths).map(({ object }) =>
          object.kind === "Namespace" ? object : { ...object, metadata: { namespace, ...object.metadata } },
        ),
      ),
  };
}

const noNetwork: HttpHandler = ({ target }) => Promise.reject(new Error(`${target} was asked for`));

async function playNode(client: Client, isReady: (image: string) => boolean): Promise<void> {
  for (const set of (await client.list(StatefulSet, { namespace })).items) {
    const image = set.spec.template.spec.containers[0]?.image ?? "";
    const ready = isReady(image) ? 1 : 0;
    const { name, generation = 1 } = set.metadata;
    const status = { observedGeneration: generation, replicas: 1, updatedReplicas: 1, readyReplicas: ready };
    await client.patch(
      StatefulSet,
      { namespace, name },
      { type: "merge", value: { status } },
      { subresource: "status" },
    );
    const key = { namespace, name: `${name}-0` };
    const pods = await client.list(Pod, { namespace, fieldSelector: `metadata.name=${key.name}` });
    if (pods.items.length === 0)
      await client.create(Pod, { metadata: key, spec: { containers: [{ name: "papermc", image }] } });
    await client.patch(
      Pod,
      key,
      { type: "merge", value: { status: { podIP: "127.0.0.1" } } },
      { subresource: "status" },
    );
  }
}

export const rconSecret = (client: Client, password: string): Promise<Secret> =>
  client.create(Secret, { metadata: { name: "rcon", namespace }, stringData: { password } });

export function newServer(
  client: Client,
  name: string,
  rconPort: number,
  more: Partial<PaperMCServer["spec"]> = {},
): Promise<PaperMCServer> {
  return client.create(PaperMCServer, {
    metadata: { name, namespace, labels: { environment: "production" } },
    spec: {
      updateStrategy: "auto",
      updateSchedule: {
        checkCron: "0 3 * * *",
        timeZone: "Europe/Berlin",
        maintenanceWindow: { cron: "0 4 29 2 *", enabled: true, duration: "1h" },
      },
      gracefulShutdown: { timeout: "2s" },
      rcon: { enabled: true, passwordSecret: { name: "rcon", key: "password" }, port: rconPort },
      podTemplate: { spec: { containers: [{ name: "minecraft" }] } },
      ...more,
    },
  });
}

export function newPlugin(client: Client, name: string, more: Partial<Plugin["spec"]> = {}): Promise<Plugin> {
  return client.create(Plugin, {
    metadata: { name, namespace },
    spec: {
      source: { type: "hangar", project: name },
      updateStrategy: "latest",
      instanceSelector: { matchLabels: { environment: "production" } },
      ...more,
    },
  });
}
