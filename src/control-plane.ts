import { CustomResourceDefinition } from "./api/builtin/custom-resource-definition.ts";
import { customResourceDefinitions } from "./api/crds.ts";
import { GameDefinition } from "./api/game-definition.ts";
import { findKind } from "./api/kinds.ts";
import { ModuleManifest } from "./api/module-manifest.ts";
import { WorldInstance } from "./api/world-instance.ts";
import { startApiServer } from "./apiserver/start.ts";
import type { Client } from "./client/client.ts";
import { createClient } from "./client/create-client.ts";
import { bindingEndpoints } from "./controllers/binding-endpoints/controller.ts";
import { endpointConfig } from "./controllers/binding-endpoints/endpoint-config.ts";
import { capabilityResolver } from "./controllers/capability-resolver/controller.ts";
import { gameStatus } from "./controllers/capability-resolver/game-status.ts";
import { moduleStatus } from "./controllers/capability-resolver/module-status.ts";
import { reportWorld, type WorldReport } from "./controllers/capability-resolver/report.ts";
import { type Assets, createDashboard } from "./dashboard/handler.ts";
import { createSessions } from "./dashboard/session.ts";
import { type Env, sleep } from "./env/env.ts";
import type { HttpHandler } from "./http/message.ts";
import { textReply } from "./http/reply.ts";
import { listen } from "./http/server.ts";
import { isConditionTrue } from "./kube/condition.ts";
import type { KubeObject } from "./kube/object.ts";
import type { Controller } from "./runtime/controller.ts";
import type { Logger } from "./runtime/log.ts";
import { createManager, type Manager } from "./runtime/manager.ts";
import { MetricsRegistry, metricsContentType } from "./runtime/metrics.ts";

/** The composition root: every part is made and joined here, and nowhere else. */
export interface ControlPlaneOptions {
  readonly env: Env;
  readonly dataDir: string;
  readonly apiPort: number;
  readonly httpPort: number;
  readonly assets: Assets;
  readonly log: Logger;
  /** Applied once the kinds are there; applying them again changes nothing. */
  readonly objects: readonly KubeObject[];
}

export interface ControlPlane {
  readonly kubeconfig: string;
  readonly api: string;
  readonly http: string;
  /** Signs a person in to the dashboard, once. */
  readonly signInLink: string;
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { env, dataDir, log } = options;
  const server = await startApiServer({ env, dataDir, port: options.apiPort });
  const metrics = new MetricsRegistry();
  const client = createClient({ env, transport: signedIn(server.handle, server.adminToken), fieldManager: "capstan" });
  const manager = createManager({ env, client, log, metrics });
  for (const controller of controllers(metrics)) manager.add(controller);
  const sessions = createSessions(env);
  const dashboard = createDashboard({
    assets: options.assets,
    sessions,
    api: server.handle,
    questions: { worlds: ([namespace = "", name = ""]) => worldReport(manager, namespace, name) },
  });
  try {
    await installKinds(client, env);
    await applyObjects(client, options.objects);
    await manager.start();
    const listener = await listen({ env, handler: routes(dashboard, manager), port: options.httpPort });
    return {
      kubeconfig: server.kubeconfigPath,
      api: server.url,
      http: listener.url,
      signInLink: `${listener.url}/?token=${sessions.issueSignInToken(server.adminToken)}`,
      async stop() {
        await listener.close();
        await manager.stop();
        await server.stop();
      },
    };
  } catch (error) {
    await manager.stop();
    await server.stop();
    throw error;
  }
}

/** The embedded server in the same process, as the administrator. */
const signedIn =
  (handle: HttpHandler, token: string): HttpHandler =>
  (request) =>
    handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });

function routes(dashboard: ReturnType<typeof createDashboard>, manager: Manager): HttpHandler {
  return async (request) => {
    const path = request.target.split("?", 1)[0];
    if (path === "/healthz") return textReply(200, "ok");
    if (path === "/readyz") return textReply(200, "ok");
    if (path === "/metrics") return textReply(200, manager.metrics.expose(), { "content-type": metricsContentType });
    return (await dashboard(request)) ?? textReply(404, "not found\n");
  };
}

/** Where the kinds are there already, nothing is written. Answers when all of them are served. */
async function installKinds(client: Client, env: Env): Promise<void> {
  const options = { fieldManager: "capstan-install", force: true };
  const deadlineMs = env.monotonicMs() + establishTimeoutMs;
  await Promise.all(
    customResourceDefinitions.map(async (definition) => {
      let found = await client.apply(CustomResourceDefinition, definition, options);
      while (!isConditionTrue(found.status?.conditions, "Established")) {
        if (env.monotonicMs() > deadlineMs)
          throw new Error(`${found.metadata.name} was not served within ${establishTimeoutMs} ms`);
        await sleep(env, establishPollMs);
        found = await client.get(CustomResourceDefinition, { name: found.metadata.name });
      }
    }),
  );
}

const establishTimeoutMs = 30_000;
const establishPollMs = 20;

/** In the order given, so that a namespace comes before what lives in it. */
async function applyObjects(client: Client, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
    const kind = findKind(group, object.kind) ?? (await client.discover(group, object.kind));
    if (!kind) throw new Error(`${object.kind} ${object.metadata.name}: the API does not serve ${object.apiVersion}`);
    await client.apply(kind, object, { fieldManager: "capstan-demo", force: true });
  }
}

const controllers = (metrics: MetricsRegistry): readonly Controller[] => [
  capabilityResolver(metrics),
  gameStatus,
  moduleStatus(),
  bindingEndpoints({ registryNamespace: "capstan-system" }),
  endpointConfig,
];

/** The resolver's own words about a world, from the caches that it works with. */
function worldReport(manager: Manager, namespace: string, name: string): WorldReport | undefined {
  const world = manager.informer(WorldInstance).cache.get({ namespace, name });
  if (!world) return undefined;
  const catalogue = {
    game: (_: string, game: string) => manager.informer(GameDefinition).cache.get({ namespace, name: game }),
    manifest: (_: string, module: string) => manager.informer(ModuleManifest).cache.get({ namespace, name: module }),
  };
  return reportWorld(world, catalogue).report;
}
