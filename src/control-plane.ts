import { startApiServer } from "./apiserver/start.ts";
import type { HistoryLimits } from "./apiserver/storage/compactor.ts";
import type { Client } from "./client/client.ts";
import { createClient } from "./client/create-client.ts";
import { type ActionSettings, defaultActionSettings } from "./control-plane/actions.ts";
import { actionsUser, type EmbeddedActions, prepareActions } from "./control-plane/actions-embedded.ts";
import { startClassRuntimeApi, type WantedPort } from "./control-plane/class-runtimes.ts";
import { controllersOf, systemNames } from "./control-plane/controllers.ts";
import { joinDashboard } from "./control-plane/dashboard.ts";
import { startDebug } from "./control-plane/debug.ts";
import { layOutDemo, runDemoServices } from "./control-plane/demo.ts";
import { ensureObjects } from "./control-plane/ensure-objects.ts";
import { returnIdleMemory } from "./control-plane/idle-memory.ts";
import { applyObjects, installKinds } from "./control-plane/install.ts";
import { joinedManagers } from "./control-plane/joined-managers.ts";
import { type StoppablePart, stopAll } from "./control-plane/parts.ts";
import { type RegistrySettings, startRegistry } from "./control-plane/registry.ts";
import { routes } from "./control-plane/routes.ts";
import { startTracing, type TraceSettings } from "./control-plane/traces.ts";
import type { Installation } from "./controllers/class-runtime/installation.ts";
import { admissionWarnings } from "./controllers/minecraft/admission-warnings.ts";
import { type BaseUrls, chosenUrls } from "./controllers/minecraft/base-urls.ts";
import { withDemoRepositories } from "./controllers/minecraft/demo-repositories.ts";
import { createOutsideFetch } from "./controllers/minecraft/outside-fetch.ts";
import type { Assets } from "./dashboard/handler.ts";
import type { Env } from "./env/env.ts";
import type { HttpHandler } from "./http/message.ts";
import { listen } from "./http/server.ts";
import type { KubeObject } from "./kube/object.ts";
import { createLocalNode } from "./localnode/local-node.ts";
import { restClientMetrics } from "./runtime/client-metrics.ts";
import type { Logger } from "./runtime/log.ts";
import { createManager, type Manager, type ManagerOptions } from "./runtime/manager.ts";
import { MetricsRegistry } from "./runtime/metrics.ts";
import { solverThread } from "./solver/thread.ts";
import { openDatabase } from "./store/open-database.ts";

/**
 * The composition root of the laptop: an embedded API and everything else in one process. On a cluster the same parts are
 * joined by `control-plane/on-cluster.ts`.
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
  /** Commands of this program that a container may run as a thread of it, each with its module. */
  readonly threads?: Readonly<Record<string, string>>;
  readonly baseUrls: BaseUrls;
  readonly classRuntimes: Installation;
  readonly grpcPort: WantedPort;
  readonly actions?: ActionSettings;
  readonly registry: RegistrySettings;
  /** Where the registry and the audit trail are kept: an SQLite file or postgres://… */
  readonly database: string;
  readonly traces?: TraceSettings;
  readonly apiPort: number;
  readonly httpPort: number;
  /** How long Events are kept after they were last written. */
  readonly eventTtlMs?: number;
  /** How far back a watch can begin: what the API remembers of changes. */
  readonly history?: Partial<HistoryLimits>;
  /** Absent: nobody looks inside. */
  readonly debugPort?: number;
  readonly assets: Assets;
  readonly log: Logger;
  /** What the demo asks of plugin repositories is answered from inside the package. */
  readonly demo?: boolean;
  /** Laid out once; what stands in their namespaces afterwards is the person's. */
  readonly objects: readonly KubeObject[];
}

export interface ControlPlane {
  readonly kubeconfig: string;
  readonly api: string;
  readonly http: string;
  /** The class runtime API. */
  readonly grpc: string;
  /** The registry's own port, where it has one. */
  readonly registry?: string;
  /** Signs a person in to the dashboard, once. */
  readonly signInLink: string;
  readonly metrics: MetricsRegistry;
  stop(): Promise<void>;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { env, dataDir, log, version } = options;
  const parts: StoppablePart[] = [];
  try {
    const { image, processes, command, searchPath: path, threads = {}, baseUrls } = options;
    const outside = createOutsideFetch({ trustedUrls: chosenUrls(baseUrls) });
    parts.push({ stop: async () => outside.close() });
    parts.push({ stop: () => solverThread.endIfIdle() });
    const node = createLocalNode({ env, version, log, dataDir, image, processes, command, path, threads });
    const server = await startApiServer({
      env,
      dataDir,
      port: options.apiPort,
      podLogs: node.podLogs,
      ...(options.eventTtlMs !== undefined && { eventTtlMs: options.eventTtlMs }),
      ...(options.history && { history: options.history }),
    });
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

    const tracing = startTracing({ env, log, metrics, version, settings: options.traces });
    parts.push(tracing);
    const database = await openDatabase(env, options.database);
    parts.push({ stop: () => database.close() });
    const registry = await startRegistry({
      env,
      log,
      metrics,
      version,
      database,
      client,
      hosts: ["127.0.0.1"],
      settings: options.registry,
      isLeader: () => true,
    });
    parts.push(registry);

    parts.push(node);
    await installKinds(client, env);
    await applyObjects(client, [systemNamespace]);
    await ensureObjects(client, admissionWarnings());
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
      createManager({ env, client: controllersClient, log, metrics, tracing: tracing.tracing }),
      actionsManager(actions, {
        env,
        client: clientAs({ name: actionsUser, groups: [] }),
        log,
        metrics,
        tracing: tracing.tracing,
      }),
    );
    parts.push(manager);
    const controllers = [
      ...registry.controllers,
      ...node.controllers({ client: controllersClient, caCertificate, serverUrl: server.url }),
      ...controllersOf(otherSystems, {
        env,
        metrics,
        registryNamespace: options.registry.namespace,
        image,
        fetch: options.demo ? withDemoRepositories(outside.fetch) : outside.fetch,
        baseUrls,
        classRuntimes: options.classRuntimes,
      }),
    ];
    for (const controller of controllers) manager.add(controller);
    const demoClient = clientAs(demoUser);
    const fresh = await layOutDemo(demoClient, options.objects);
    await manager.start();

    const { classRuntimes, grpcPort } = options;
    const grpc = await startClassRuntimeApi({ env, client, installation: classRuntimes, version, port: grpcPort });
    parts.push(grpc);

    const dashboard = joinDashboard({
      env,
      assets: options.assets,
      api: server.handle,
      database,
      registry: registry.registry.core,
    });
    const handler = routes(manager, env, [registry.part, dashboard.handle]);
    const listener = await listen({ env, handler, port: options.httpPort });
    parts.push({ stop: () => listener.close() });
    if (options.demo) await runDemoServices(demoClient, fresh, { registryUrl: listener.url, image });
    const stopReturning = returnIdleMemory(env);
    parts.push({ stop: async () => stopReturning() });
    if (options.debugPort !== undefined)
      parts.push(await startDebug({ env, log: options.log, manager, port: options.debugPort }));
    return {
      kubeconfig: server.kubeconfigPath,
      api: server.url,
      http: listener.url,
      grpc: grpc.url,
      ...(registry.url !== undefined && { registry: registry.url }),
      signInLink: `${listener.url}/?token=${dashboard.sessions.issueSignInToken(server.adminToken)}`,
      metrics,
      stop: () => stopAll(parts),
    };
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
}

const systemNamespace: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "capstan-system" } };

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
