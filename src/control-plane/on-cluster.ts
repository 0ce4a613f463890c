import type { Client } from "../client/client.ts";
import type { ClusterAccess } from "../client/cluster-access.ts";
import type { Installation } from "../controllers/class-runtime/installation.ts";
import { type BaseUrls, chosenUrls } from "../controllers/minecraft/base-urls.ts";
import { createOutsideFetch } from "../controllers/minecraft/outside-fetch.ts";
import type { Env } from "../env/env.ts";
import { listen } from "../http/server.ts";
import type { LeaderElectionOptions } from "../runtime/leader-election.ts";
import type { Logger } from "../runtime/log.ts";
import { createManager } from "../runtime/manager.ts";
import { MetricsRegistry } from "../runtime/metrics.ts";
import { solverThread } from "../solver/thread.ts";
import type { Database } from "../store/database.ts";
import { openDatabase } from "../store/open-database.ts";
import type { ActionSettings } from "./actions.ts";
import { ActionsSetupError, type ClusterActions, prepareActionsOnCluster } from "./actions-on-cluster.ts";
import { startClassRuntimeApi, type WantedPort } from "./class-runtimes.ts";
import { controllersOf } from "./controllers.ts";
import { type DashboardSources, joinDashboard, transportForPeople } from "./dashboard.ts";
import { startDebug } from "./debug.ts";
import { type StoppablePart, stopAll } from "./parts.ts";
import { type RegistrySettings, startRegistry } from "./registry.ts";
import { routes } from "./routes.ts";
import { startTracing, type TraceSettings } from "./traces.ts";
import type { WebhookPlace } from "./webhook-certificate.ts";

/** The composition root of a cluster: the same parts as on a laptop, against any Kubernetes. */
export interface RunOptions {
  readonly env: Env;
  readonly version: string;
  /** Makes the client, given where its metrics go. */
  readonly connect: (metrics: MetricsRegistry) => Promise<ConnectedCluster>;
  readonly systems: readonly string[];
  /** False: what is not installed in the cluster is left out. */
  readonly areSystemsChosen: boolean;
  readonly image: string;
  readonly baseUrls: BaseUrls;
  readonly classRuntimes: Installation;
  readonly grpcPort: WantedPort;
  readonly registry: RegistrySettings;
  readonly actions: ActionSettings;
  readonly webhook: WebhookPlace;
  /** Where the registry and the audit trail are kept: postgres://… or an SQLite file. Opened only where it is needed. */
  readonly database: () => string;
  readonly dashboard: Pick<DashboardSources, "assets" | "publicUrl" | "oidc">;
  readonly traces?: TraceSettings;
  /** Watch only these; all namespaces when empty. */
  readonly namespaces: readonly string[];
  readonly host: string;
  readonly httpPort: number;
  /** Absent: nobody looks inside. */
  readonly debugPort?: number;
  readonly log: Logger;
  /** Absent: this process leads. */
  readonly leaderElection?: LeaderElectionOptions;
}

export interface ConnectedCluster {
  readonly client: Client;
  readonly access: ClusterAccess;
  /** The time of day as the cluster has it: replicas on several machines must go by one clock. */
  now(): Date;
  close(): Promise<void>;
}

export interface RunningControllers {
  readonly http: string;
  /** The registry's own port, where it has one. */
  readonly registry?: string;
  /** Resolves when the controllers have ended by themselves, with the reason. */
  readonly ended: Promise<Error | undefined>;
  stop(): Promise<void>;
}

/** Runs systems against a cluster. Standbys keep their caches warm and take over when the leader goes. */
export async function runControllers(options: RunOptions): Promise<RunningControllers> {
  const { log, version, leaderElection, namespaces, systems, host } = options;
  const metrics = new MetricsRegistry();
  const parts: StoppablePart[] = [];
  try {
    const { client, access, now, close } = await options.connect(metrics);
    parts.push({ stop: close });
    const env = { ...options.env, now };
    const tracing = startTracing({ env: options.env, log, metrics, version, settings: options.traces });
    parts.push(tracing);
    const database = needsDatabase(systems) ? await openDatabase(env, options.database()) : undefined;
    if (database) parts.push({ stop: () => database.close() });
    const manager = createManager({
      env,
      client,
      log,
      metrics,
      tracing: tracing.tracing,
      ...(leaderElection && { leaderElection, instance: leaderElection.identity }),
      ...(namespaces.length > 0 && { namespaces }),
    });
    const registry =
      database && systems.includes("registry")
        ? await startRegistry({
            env,
            log,
            metrics,
            version,
            database,
            client,
            hosts: options.registry.listen ? [] : [host],
            settings: options.registry,
            isLeader: () => manager.isLeader,
          })
        : undefined;
    if (registry) parts.push(registry);
    const actions =
      database && options.systems.includes("actions")
        ? await actionsOf({ ...options, env }, client, database, metrics)
        : undefined;
    if (actions) parts.push(actions);
    const runnable = options.systems.filter((system) => system !== "actions" || actions !== undefined);
    const outside = createOutsideFetch({ trustedUrls: chosenUrls(options.baseUrls) });
    parts.push({ stop: async () => outside.close() });
    parts.push({ stop: () => solverThread.endIfIdle() });
    const controllers = [
      ...(registry?.controllers ?? []),
      ...controllersOf(runnable, {
        env,
        metrics,
        registryNamespace: options.registry.namespace,
        image: options.image,
        fetch: outside.fetch,
        baseUrls: options.baseUrls,
        classRuntimes: options.classRuntimes,
        ...(actions && { actions: actions.parts }),
      }),
    ];
    for (const controller of controllers) manager.add(controller);

    const people = transportForPeople(access, { env });
    parts.push({ stop: () => people.close() });
    const dashboard = joinDashboard({
      env,
      ...options.dashboard,
      api: people.handle,
      ...(database && { database }),
      ...(registry && { registry: registry.registry.core }),
    });
    // Every replica serves; only its controllers wait for their turn.
    const served = [...(registry && !options.registry.listen ? [registry.part] : []), dashboard.handle];
    const listener = await listen({
      env,
      handler: routes(manager, env, served),
      host,
      port: options.httpPort,
      isOurHost: () => true,
    });
    parts.push({ stop: () => listener.close() });
    if (options.debugPort !== undefined) parts.push(await startDebug({ env, log, manager, port: options.debugPort }));
    if (systems.includes("class-runtimes")) {
      const { classRuntimes: installation, grpcPort: port } = options;
      parts.push(await startClassRuntimeApi({ env, client, installation, version, host, port }));
    }
    parts.push(manager);
    await manager.start();
    return {
      http: listener.url,
      ...(registry?.url !== undefined && { registry: registry.url }),
      ended: manager.stopped,
      stop: () => stopAll(parts),
    };
  } catch (error) {
    await stopAll(parts);
    throw error;
  }
}

/** Nothing where they are not installed and nobody has asked for them by name. */
async function actionsOf(
  { env, log, actions: settings, webhook, areSystemsChosen }: RunOptions,
  client: Client,
  database: Database,
  metrics: MetricsRegistry,
): Promise<ClusterActions | undefined> {
  try {
    return await prepareActionsOnCluster({ env, client, database, settings, webhook, log, metrics });
  } catch (error) {
    if (areSystemsChosen || !(error instanceof ActionsSetupError)) throw error;
    log.warn("actions are left out", { why: error.message });
    return undefined;
  }
}

/** Systems that keep something of their own beside the cluster. */
const needsDatabase = (systems: readonly string[]): boolean =>
  systems.some((system) => system === "registry" || system === "actions");
