import { join } from "node:path";
import { startApiServer } from "./apiserver/start.ts";
import type { Client } from "./client/client.ts";
import { createClient } from "./client/create-client.ts";
import { type ActionSettings, defaultActionSettings } from "./control-plane/actions.ts";
import { actionsUser, type EmbeddedActions, prepareActions } from "./control-plane/actions-embedded.ts";
import { startClassRuntimeApi, type WantedPort } from "./control-plane/class-runtimes.ts";
import { controllersOf, systemNames } from "./control-plane/controllers.ts";
import { applyObjects, installKinds } from "./control-plane/install.ts";
import { joinedManagers } from "./control-plane/joined-managers.ts";
import { routes } from "./control-plane/routes.ts";
import { worldReport } from "./control-plane/world-report.ts";
import type { Installation } from "./controllers/class-runtime/installation.ts";
import { type BaseUrls, chosenUrls } from "./controllers/minecraft/base-urls.ts";
import { createOutsideFetch } from "./controllers/minecraft/outside-fetch.ts";
import { type Assets, createDashboard } from "./dashboard/handler.ts";
import { createSessions } from "./dashboard/session.ts";
import type { Env } from "./env/env.ts";
import type { HttpHandler } from "./http/message.ts";
import { listen } from "./http/server.ts";
import type { KubeObject } from "./kube/object.ts";
import { createLocalNode } from "./localnode/local-node.ts";
import { openAccess } from "./registry/access/access.ts";
import { serviceTargetMirror } from "./registry/mirror/mirror.ts";
import { createRegistry } from "./registry/registry.ts";
import { openSqlLog } from "./registry/storage/sql-log.ts";
import { restClientMetrics } from "./runtime/client-metrics.ts";
import type { LeaderElectionOptions } from "./runtime/leader-election.ts";
import type { Logger } from "./runtime/log.ts";
import { createManager, type Manager, type ManagerOptions } from "./runtime/manager.ts";
import { MetricsRegistry } from "./runtime/metrics.ts";
import { openSqlite } from "./store/sqlite-database.ts";

/**
 * The composition root: every part is made and joined here, in two ways. `startControlPlane` is the laptop: an embedded
 * API and everything else in one process. `runControllers` is the cluster: the same controllers against any Kubernetes.
 */
export interface ControlPlaneOptions {
  readonly env: Env;
  readonly version: string;
  readonly dataDir: string;
  /** Our own image: its containers run as processes of the local node. */
  readonly image: string;
  /** `all`: so does every container that has a command. */
  readonly processes: "own" | "all";
  /** How this program is started, for containers of our own image. */
  readonly command: readonly string[];
  /** Where the local node looks for other programs. */
  readonly searchPath: string;
  readonly baseUrls: BaseUrls;
  readonly classRuntimes: Installation;
  readonly grpcPort: WantedPort;
  readonly actions?: ActionSettings;
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
  /** The class runtime API. */
  readonly grpc: string;
  /** Signs a person in to the dashboard, once. */
  readonly signInLink: string;
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { env, dataDir, log, version } = options;
  const parts: Part[] = [];
  try {
    const { image, processes, command, searchPath: path, baseUrls } = options;
    const outside = createOutsideFetch({ trustedUrls: chosenUrls(baseUrls) });
    parts.push({ stop: async () => outside.close() });
    const node = createLocalNode({ env, version, log, dataDir, image, processes, command, path });
    const server = await startApiServer({ env, dataDir, port: options.apiPort, podLogs: node.podLogs });
    parts.push(server);
    const metrics = new MetricsRegistry();
    const clientAs = (user?: User): Client =>
      createClient({
        env,
        transport: signedIn(server.handle, server.adminToken, user),
        fieldManager: "capstan",
        metrics: restClientMetrics(metrics),
      });
    const client = clientAs();
    const controllersClient = clientAs(controllersUser);

    const database = await openSqlite(join(dataDir, "capstan.db"));
    parts.push({ stop: () => database.close() });
    const registry = createRegistry({
      env,
      storage: await openSqlLog(env, database),
      access: openAccess,
      log,
      metrics,
      version,
    });
    parts.push(registry);
    await registry.start();

    parts.push(node);
    await installKinds(client, env);
    await applyObjects(client, [systemNamespace]);
    const { caCertificate } = server;
    const actions = await prepareActions({
      env,
      dataDir,
      database,
      image,
      settings: options.actions ?? defaultActionSettings,
      admin: client,
      nodeUser: controllersUser.name,
      serverUrl: server.url,
      caCertificate,
      log,
      metrics,
    });
    parts.push(actions);
    const manager = joinedManagers(
      createManager({ env, client: controllersClient, log, metrics }),
      actionsManager(actions, { env, client: clientAs({ name: actionsUser, groups: [] }), log, metrics }),
    );
    parts.push(manager);
    const controllers = [
      serviceTargetMirror({ core: registry.core, namespace: registryNamespace }),

      ...node.controllers({ client: controllersClient, caCertificate, serverUrl: server.url }),
      ...controllersOf(otherSystems, {
        env,
        metrics,
        registryNamespace,
        image,
        fetch: outside.fetch,
        baseUrls,
        classRuntimes: options.classRuntimes,
      }),
    ];
    for (const controller of controllers) manager.add(controller);
    await applyObjects(clientAs(demoUser), options.objects);
    await manager.start();

    const { classRuntimes, grpcPort } = options;
    const grpc = await startClassRuntimeApi({ env, client, installation: classRuntimes, version, port: grpcPort });
    parts.push(grpc);

    const sessions = createSessions(env);
    const dashboard = createDashboard({
      assets: options.assets,
      sessions,
      api: server.handle,
      questions: { worlds: ([namespace = "", name = ""]) => worldReport(manager, namespace, name) },
    });
    const handler = routes(manager, env, [(request) => registry.handle(request), dashboard]);
    const listener = await listen({ env, handler, port: options.httpPort });
    parts.push({ stop: () => listener.close() });
    return {
      kubeconfig: server.kubeconfigPath,
      api: server.url,
      http: listener.url,
      grpc: grpc.url,
      signInLink: `${listener.url}/?token=${sessions.issueSignInToken(server.adminToken)}`,
      stop: () => stopAll(parts),
    };
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
}

interface Part {
  stop(): Promise<void>;
}

/** The last to come is the first to go: nothing loses what it stands on. */
async function stopAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts.toReversed()) await part.stop();
}

/** Where services live that registered without a namespace of their own. */
const registryNamespace = "capstan-system";

const systemNamespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: registryNamespace } };

interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** As whom everything but actions runs here, the local node included: not as the person, who may have to approve what it asks for. */
const controllersUser: User = { name: "capstan-controllers", groups: ["system:masters"] };
/** Whoever asks for what the demo asks for; so that the person at the keyboard can approve it. */
const demoUser: User = { name: "capstan-demo", groups: ["system:masters"] };
/** Actions act as their own account, with the rights that they declare. */
const otherSystems = systemNames.filter((name) => name !== "actions");

/** The embedded server in the same process: as the administrator, who may be anybody else. */
const signedIn = (handle: HttpHandler, token: string, user?: User): HttpHandler => {
  const credentials = {
    authorization: `Bearer ${token}`,
    ...(user && { "impersonate-user": user.name }),
    ...(user && user.groups.length > 0 && { "impersonate-group": user.groups.join(", ") }),
  };
  return (request) => handle({ ...request, headers: { ...request.headers, ...credentials } });
};

function actionsManager(actions: EmbeddedActions, options: ManagerOptions): Manager {
  const manager = createManager(options);
  for (const controller of actions.controllers) manager.add(controller);
  return manager;
}

export interface RunOptions {
  readonly env: Env;
  /** Makes the client, given where its metrics go. */
  readonly connect: (metrics: MetricsRegistry) => Promise<{ readonly client: Client; close(): Promise<void> }>;
  readonly systems: readonly string[];
  readonly image: string;
  readonly baseUrls: BaseUrls;
  readonly classRuntimes: Installation;
  readonly grpcPort: WantedPort;
  readonly version: string;
  /** Watch only these; all namespaces when empty. */
  readonly namespaces: readonly string[];
  readonly host: string;
  readonly httpPort: number;
  readonly log: Logger;
  /** Absent: this process leads. */
  readonly leaderElection?: LeaderElectionOptions;
}

export interface RunningControllers {
  readonly http: string;
  /** Resolves when the controllers have ended by themselves, with the reason. */
  readonly ended: Promise<Error | undefined>;
  stop(): Promise<void>;
}

/** Runs systems against a cluster. Standbys keep their caches warm and take over when the leader goes. */
export async function runControllers(options: RunOptions): Promise<RunningControllers> {
  const { env, log, leaderElection, namespaces } = options;
  const metrics = new MetricsRegistry();
  const { client, close } = await options.connect(metrics);
  const manager = createManager({
    env,
    client,
    log,
    metrics,
    ...(leaderElection && { leaderElection, instance: leaderElection.identity }),
    ...(namespaces.length > 0 && { namespaces }),
  });
  const outside = createOutsideFetch({ trustedUrls: chosenUrls(options.baseUrls) });
  const { image, baseUrls } = options;
  const made = controllersOf(options.systems, {
    env,
    metrics,
    registryNamespace,
    image,
    fetch: outside.fetch,
    baseUrls,
    classRuntimes: options.classRuntimes,
  });
  for (const controller of made) manager.add(controller);
  const listener = await listen({
    env,
    handler: routes(manager, env, []),
    host: options.host,
    port: options.httpPort,
    isOurHost: () => true,
  });
  // Standbys answer too: it only asks the cluster's API.
  const grpc = options.systems.includes("class-runtimes")
    ? await startClassRuntimeApi({
        env,
        client,
        installation: options.classRuntimes,
        version: options.version,
        host: options.host,
        port: options.grpcPort,
      })
    : undefined;
  const stop = async (): Promise<void> => {
    await manager.stop();
    await grpc?.stop();
    await listener.close();
    outside.close();
    await close();
  };
  try {
    await manager.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { http: listener.url, ended: manager.stopped, stop };
}
