import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { hasTrail, lastEntries } from "../../audit/read-trail.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { reportWorld, type WorldReport } from "../../controllers/capability-resolver/report.ts";
import { type PluginReport, reportFleet, type ServerReport } from "../../controllers/version-solver/report.ts";
import { systemEnv } from "../../env/system.ts";
import type { Condition } from "../../kube/condition.ts";
import type { Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import type { Database } from "../../store/database.ts";
import { openDatabase } from "../../store/open-database.ts";
import { Failure } from "../failure.ts";
import { eventsOf, type ObjectEvent } from "../object-events.ts";

/** Everything that is known about why one object is as it is. */
export interface Story {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly phase: string;
  readonly message: string;
  readonly conditions: readonly Condition[];
  readonly events: readonly ObjectEvent[];
  readonly resolution?: WorldReport;
  /** The solver's answer for a server or plugin. */
  readonly versions?: ServerReport | PluginReport;
  /** Whether the solver is certain that nothing better exists. */
  readonly proven?: boolean;
  readonly audit: readonly AuditLine[];
}

export interface AuditLine {
  readonly time: string;
  readonly actor: string;
  readonly verb: string;
  readonly result: string;
}

/** Where the audit trail may be found. */
export interface TrailPlace {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
}

export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

export async function storyOf(client: Client, kind: Kind, key: ObjectKey, place: TrailPlace): Promise<Story> {
  const object = (await client.get(kind, key).catch((error: unknown) => {
    if (isNotFound(error))
      throw new Failure(
        `there is no ${kind.kind} ${key.name}${kind.namespaced ? ` in namespace ${key.namespace}; name another with -n` : ""}`,
      );
    throw error;
  })) as ExplainedObject;
  return {
    kind: kind.kind,
    ...key,
    phase: phaseOf(object),
    message: object.status?.message ?? "",
    conditions: object.status?.conditions ?? [],
    events: await eventsOf(client, object),
    ...(kind === (WorldInstance as Kind) && {
      resolution: await resolutionOf(client, object as unknown as WorldInstance),
    }),
    ...(await versionsOf(client, kind, object)),
    audit: await auditRowsOf(place, kind, object),
  };
}

interface ExplainedObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly overallPhase?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** Kinds without a phase say with Ready how they are. */
function phaseOf({ status }: ExplainedObject): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return (
    status?.phase ?? status?.overallPhase ?? (ready ? (ready.status === "True" ? "Ready" : ready.reason) : "Unknown")
  );
}

async function resolutionOf(client: Client, world: WorldInstance): Promise<WorldReport> {
  const { namespace = "" } = world.metadata;
  const [games, manifests, bindings] = await Promise.all([
    client.list(GameDefinition, { namespace }),
    client.list(ModuleManifest, { namespace }),
    client.list(CapabilityBinding, { namespace }),
  ]);
  const catalogue = {
    game: (_: string, name: string) => games.items.find(({ metadata }) => metadata.name === name),
    manifest: (_: string, name: string) => manifests.items.find(({ metadata }) => metadata.name === name),
  };
  const own = bindings.items.filter(({ spec }) => spec.worldRef?.name === world.metadata.name);
  return reportWorld(world, catalogue, own).report;
}

/** The solver is asked anew, with what the cluster knows now. */
async function versionsOf(
  client: Client,
  kind: Kind,
  { metadata: { namespace = "", name } }: KubeObject,
): Promise<Pick<Story, "versions" | "proven">> {
  if (kind !== (PaperMCServer as Kind) && kind !== (Plugin as Kind)) return {};
  const [{ items: servers }, { items: plugins }] = await Promise.all([
    client.list(PaperMCServer, { namespace }),
    client.list(Plugin, { namespace }),
  ]);
  const options = { env: systemEnv, now: systemEnv.now(), timeLimitMs: solveLimitMs };
  const report = await reportFleet(namespace, { servers, plugins }, options);
  const reports: readonly (ServerReport | PluginReport)[] =
    (kind === (Plugin as Kind) ? report?.plugins : report?.servers) ?? [];
  const versions = reports.find((each) => each.name === name);
  return report && versions ? { versions, proven: report.proven } : {};
}

const solveLimitMs = 10_000;

/** What the trail says about this very object; nothing where there is no trail within reach. */
async function auditRowsOf(
  place: TrailPlace,
  { kind }: Kind,
  { metadata: { namespace, name, uid } }: KubeObject,
): Promise<readonly AuditLine[]> {
  const trail = await openTrail(place);
  if (!trail) return [];
  try {
    const filter = { kind, name, ...(namespace !== undefined && { namespace }) };
    const entries = await lastEntries(trail, filter, maxAuditLines);
    return entries
      .filter((entry) => entry.uid === "" || entry.uid === uid)
      .map(({ time, actor, verb, result }) => ({ time, actor, verb, result }));
  } finally {
    await trail.close();
  }
}

const maxAuditLines = 100;

async function openTrail({ databaseUrl, dataDir }: TrailPlace): Promise<Database | undefined> {
  const file = join(resolve(dataDir ?? ".capstan"), "capstan.db");
  if (databaseUrl === undefined && !existsSync(file)) return undefined;
  const database = await openDatabase(systemEnv, databaseUrl ?? file);
  if (await hasTrail(database)) return database;
  await database.close();
  return undefined;
}
