import { CapabilityBinding } from "../api/capability-binding.ts";
import { GameDefinition } from "../api/game-definition.ts";
import { KubernetesExecution } from "../api/kubernetes-execution.ts";
import { ModuleManifest } from "../api/module-manifest.ts";
import { PaperMCServer } from "../api/papermc-server.ts";
import { Plugin } from "../api/plugin.ts";
import { ServiceTarget } from "../api/service-target.ts";
import { WorldInstance } from "../api/world-instance.ts";
import type { AuditEntry } from "../audit/entry.ts";
import { hasTrail, lastEntries } from "../audit/read-trail.ts";
import { isNotFound } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import type { ClusterAccess } from "../client/cluster-access.ts";
import { createClient } from "../client/create-client.ts";
import { createTransport, type Transport, type TransportOptions } from "../client/transport.ts";
import { reportWorld, type WorldReport } from "../controllers/capability-resolver/report.ts";
import { createOutsideFetch } from "../controllers/minecraft/outside-fetch.ts";
import { type FleetReport, reportFleet } from "../controllers/version-solver/report.ts";
import { databaseSessions } from "../dashboard/database-sessions.ts";
import { type Assets, createDashboard, type Question } from "../dashboard/handler.ts";
import { memorySessions } from "../dashboard/memory-sessions.ts";
import type { OidcSignIn } from "../dashboard/oidc.ts";
import type { ResourceAccess } from "../dashboard/person.ts";
import { isLoopbackName } from "../dashboard/same-page.ts";
import { createSessions, type Sessions } from "../dashboard/session.ts";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import type { RegistryCore } from "../registry/registry-core.ts";
import type { Database } from "../store/database.ts";
import type { Part } from "./routes.ts";

/** The dashboard, joined to what it tells of: the same on a laptop and on a cluster. */
export interface DashboardSources {
  readonly env: Env;
  readonly assets: Assets;
  /** The Kubernetes API without a credential of its own: requests come with the person's. */
  readonly api: HttpHandler;
  /** Where the audit trail and the sessions are; without it the page says that there is no trail, and sessions are this process's own. */
  readonly database?: Database;
  /** Who was last heard when; without it the page shows what the ServiceTargets say. */
  readonly registry?: Pick<RegistryCore, "directory">;
  /** An issuer that the cluster trusts, too; people come back from it to `publicUrl`. */
  readonly oidc?: OidcSettings;
  /** Where people reach the page, such as `https://capstan.example.org`; loopback only when absent. */
  readonly publicUrl?: string;
}

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
}

export interface JoinedDashboard {
  readonly handle: Part;
  readonly sessions: Sessions;
}

export function joinDashboard(sources: DashboardSources): JoinedDashboard {
  const { env, assets, api, publicUrl, oidc, database } = sources;
  const kept = database ? databaseSessions(env, database) : memorySessions(env);
  const sessions = createSessions({ env, kept, isSecure: publicUrl?.startsWith("https:") ?? false });
  const ownName = publicUrl && new URL(publicUrl).hostname.toLowerCase();
  const handle = createDashboard({
    assets,
    sessions,
    api,
    questions: questionsOf(sources),
    signIn: { token: true, ...(oidc && publicUrl !== undefined && { oidc: oidcSignIn(oidc, publicUrl, env) }) },
    isOurHost: (hostname) => hostname === ownName || isLoopbackName(hostname),
  });
  return { handle, sessions };
}

/** Loaded when the first person uses it: most dashboards never need what reads signed tokens. */
function oidcSignIn(settings: OidcSettings, publicUrl: string, env: Env): OidcSignIn {
  const { fetch } = createOutsideFetch({ trustedUrls: [settings.issuer] });
  let loaded: Promise<OidcSignIn> | undefined;
  const load = async (): Promise<OidcSignIn> =>
    (await import("../dashboard/oidc.ts")).createOidcSignIn({ ...settings, publicUrl, env, fetch });
  return {
    title: new URL(settings.issuer).host,
    async handle(request, sessions) {
      loaded ??= load();
      return (await loaded).handle(request, sessions);
    },
  };
}

/**
 * The API of a cluster for people: our own credential must not be there at all. A server that sees our client certificate
 * takes everyone for us, whatever token they bring.
 */
export const transportForPeople = (
  { server, namespace, tls, proxyUrl }: ClusterAccess,
  options: TransportOptions,
): Transport => {
  const { clientCertificate: _ours, ...verification } = tls;
  return createTransport(
    { server, namespace, tls: verification, credential: { kind: "None" }, ...(proxyUrl !== undefined && { proxyUrl }) },
    options,
  );
};

function questionsOf({ env, database, registry }: DashboardSources): Readonly<Record<string, Question>> {
  return {
    worlds: {
      answer: ([namespace = "", name = ""], asPerson) => worldReport(clientOf(env, asPerson), namespace, name),
    },
    fleet: {
      answer: ([namespace = ""], asPerson) => fleetReport(env, clientOf(env, asPerson), namespace),
    },
    ...(database && {
      audit: {
        needs: ([namespace, name]) => may(name ? "get" : "list", KubernetesExecution, namespace, name),
        answer: ([namespace, name]) => auditOf(database, namespace, name),
      },
    }),
    ...(registry && {
      heartbeats: {
        needs: () => may("list", ServiceTarget),
        answer: ([ids = ""]) => heartbeats(registry.directory, ids.split(",").slice(0, maxAskedIds)),
      },
    }),
  };
}

const may = (verb: string, kind: KindRef, namespace = "", name = ""): ResourceAccess => ({
  verb,
  group: kind.group,
  resource: kind.plural,
  ...(namespace !== "" && { namespace }),
  ...(name !== "" && { name }),
});

const clientOf = (env: Env, transport: HttpHandler): Client => createClient({ env, transport });

/** The resolver's own words about a world, worked out from what the person may read. */
async function worldReport(client: Client, namespace: string, name: string): Promise<WorldReport | undefined> {
  if (!namespace || !name) return undefined;
  const world = await client.get(WorldInstance, { namespace, name });
  const { items } = await client.list(ModuleManifest, { namespace });
  const game = await client
    .get(GameDefinition, { namespace, name: world.spec.gameRef.name })
    .catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error)));
  const manifests = new Map(items.map((manifest) => [manifest.metadata.name, manifest]));
  const { items: bindings } = await client.list(CapabilityBinding, { namespace });
  const own = bindings.filter(({ spec }) => spec.worldRef?.name === name);
  return reportWorld(world, { game: () => game, manifest: (_, module) => manifests.get(module) }, own).report;
}

/** The solver's proof and remedies; nothing when the time ran out. */
async function fleetReport(env: Env, client: Client, namespace: string): Promise<FleetReport | undefined> {
  if (!namespace) return undefined;
  const { items: servers } = await client.list(PaperMCServer, { namespace });
  const { items: plugins } = await client.list(Plugin, { namespace });
  return reportFleet(namespace, { servers, plugins }, { env, now: env.now(), timeLimitMs: solveLimitMs });
}

const solveLimitMs = 5_000;

async function auditOf(
  database: Database,
  namespace: string | undefined,
  name: string | undefined,
): Promise<readonly Omit<AuditEntry, "uid">[]> {
  if (!(await hasTrail(database))) return [];
  const filter = { kind: KubernetesExecution.kind, ...(namespace && { namespace }), ...(name && { name }) };
  return lastEntries(database, filter, maxAuditRows);
}

const maxAuditRows = 500;
const maxAskedIds = 200;

function heartbeats(directory: RegistryCore["directory"], ids: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ids.flatMap((id) => {
      const lastSeenMs = directory.get(id)?.lastSeenMs;
      return lastSeenMs === undefined ? [] : [[id, new Date(lastSeenMs).toISOString()]];
    }),
  );
}
