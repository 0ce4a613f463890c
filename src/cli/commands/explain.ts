import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { CapabilityBinding } from "../../api/capability-binding.ts";
import { GameDefinition } from "../../api/game-definition.ts";
import { kinds } from "../../api/kinds.ts";
import { ModuleManifest } from "../../api/module-manifest.ts";
import { PaperMCServer } from "../../api/papermc-server.ts";
import { Plugin } from "../../api/plugin.ts";
import { WorldInstance } from "../../api/world-instance.ts";
import { hasTrail, lastEntries } from "../../audit/read-trail.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import { type RequirementReport, reportWorld, type WorldReport } from "../../controllers/capability-resolver/report.ts";
import { type PluginReport, reportFleet, type ServerReport } from "../../controllers/version-solver/report.ts";
import { systemEnv } from "../../env/system.ts";
import type { Condition } from "../../kube/condition.ts";
import type { Kind } from "../../kube/kind.ts";
import type { KubeObject } from "../../kube/object.ts";
import { stringifyYaml } from "../../kube/yaml.ts";
import type { Database } from "../../store/database.ts";
import { openDatabase } from "../../store/open-database.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { Failure, failClearly } from "../failure.ts";
import { type DatabaseFlags, withDatabaseFlags } from "../flags/database.ts";
import { eventsOf, type ObjectEvent } from "../object-events.ts";

interface ExplainFlags extends ClusterFlags, DatabaseFlags {
  readonly namespace?: string;
  readonly output: "text" | "json" | "yaml";
}

/** `capstan explain KIND NAME`: why an object is in the state that it is in. */
export function explainCommand(): Command {
  const command = new Command("explain")
    .description(
      "Tell why an object is in the state that it is in: its conditions, its events, the audit trail, and what would change it.",
    )
    .addArgument(new Argument("<kind>", "a kind, its plural or a short name, such as world"))
    .addArgument(new Argument("<name>", "the object's name"))
    .option("-n, --namespace <namespace>", "the object's namespace")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json", "yaml"]).default("text"))
    .addHelpText("after", "\nExample:\n  capstan explain world stormy-world -n anvil-demo\n");
  return withDatabaseFlags(withClusterFlags(command)).action((kind: string, name: string, flags: ExplainFlags) =>
    failClearly(() => explain(kind, name, flags)),
  );
}

async function explain(kindName: string, name: string, flags: ExplainFlags): Promise<void> {
  const kind = findByName(kindName);
  const { client, close, namespace } = await connectTo(flags);
  try {
    const key = kind.namespaced ? { namespace: flags.namespace ?? namespace, name } : { name };
    const object = (await client.get(kind, key).catch((error: unknown) => {
      if (isNotFound(error))
        throw new Failure(`there is no ${kind.kind} ${name}${kind.namespaced ? ` in namespace ${key.namespace}` : ""}`);
      throw error;
    })) as ExplainedObject;
    const story: Story = {
      kind: kind.kind,
      name,
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      phase: phaseOf(object),
      message: object.status?.message ?? "",
      conditions: object.status?.conditions ?? [],
      events: await eventsOf(client, object),
      ...(kind === (WorldInstance as Kind) && {
        resolution: await resolutionOf(client, object as unknown as WorldInstance),
      }),
      ...(await versionsOf(client, kind, object)),
      audit: await auditRowsOf(flags, kind, object),
    };
    process.stdout.write(format(story, flags.output));
  } finally {
    await close();
  }
}

interface ExplainedObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly overallPhase?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
  };
}

interface Story {
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

interface AuditLine {
  readonly time: string;
  readonly actor: string;
  readonly verb: string;
  readonly result: string;
}

/** Kinds without a phase say with Ready how they are. */
function phaseOf({ status }: ExplainedObject): string {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return (
    status?.phase ?? status?.overallPhase ?? (ready ? (ready.status === "True" ? "Ready" : ready.reason) : "Unknown")
  );
}

function findByName(name: string): Kind {
  const wanted = name.toLowerCase();
  const found = kinds.find(({ kind, plural, singular, shortNames }) =>
    [kind.toLowerCase(), plural, singular, ...shortNames].includes(wanted),
  );
  if (found) return found;
  throw new Failure(
    `capstan explain knows no kind ${name}; it knows ${kinds
      .map(({ singular }) => singular)
      .sort()
      .join(", ")}`,
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
  flags: ExplainFlags,
  { kind }: Kind,
  { metadata: { namespace, name, uid } }: KubeObject,
): Promise<readonly AuditLine[]> {
  const trail = await openTrail(flags);
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

async function openTrail({ databaseUrl, dataDir }: ExplainFlags): Promise<Database | undefined> {
  const file = join(resolve(dataDir ?? ".capstan"), "capstan.db");
  if (databaseUrl === undefined && !existsSync(file)) return undefined;
  const database = await openDatabase(systemEnv, databaseUrl ?? file);
  if (await hasTrail(database)) return database;
  await database.close();
  return undefined;
}

function format(story: Story, output: ExplainFlags["output"]): string {
  if (output === "json") return `${JSON.stringify(story, null, 2)}\n`;
  if (output === "yaml") return stringifyYaml(story);
  const lines = [`${story.kind} ${story.namespace ? `${story.namespace}/` : ""}${story.name}: ${story.phase}`];
  if (story.message) lines.push(`  ${story.message}`);
  for (const { type, status, reason, message } of story.conditions)
    lines.push(`  ${type}=${status} (${reason}) ${message}`);
  if (story.resolution) lines.push("", "Requirements:", ...story.resolution.requirements.flatMap(formatRequirement));
  if (story.versions) lines.push("", "Versions:", ...formatVersions(story.versions, story.proven ?? false));
  if (story.audit.length > 0) lines.push("", "Who did what:", ...story.audit.map(formatAuditLine));
  if (story.events.length > 0) lines.push("", "What happened:", ...story.events.map(formatEvent));
  return `${lines.join("\n")}\n`;
}

function formatRequirement(requirement: RequirementReport): string[] {
  const { consumer, capabilityId, versionConstraint, scope, dependencyMode, providers, reason, remedy, refused } =
    requirement;
  const result =
    providers.length > 0 ? providers.map(({ module, version }) => `${module} ${version}`).join(", ") : "nothing";
  return [
    `  ${consumer} needs ${capabilityId} ${versionConstraint} in scope ${scope} (${dependencyMode}): ${result}`,
    ...refused.map(({ module, version, objection }) => `    not ${module} ${version}: it ${objection}`),
    ...(reason ? [`    why: ${reason}`] : []),
    ...(remedy ? [`    to mend it: ${remedy}`] : []),
  ];
}

function formatVersions(report: ServerReport | PluginReport, proven: boolean): string[] {
  const { current = "none", chosen = "none", newest = "none known", message, unblockedBy } = report;
  return [
    `  now ${current}, chosen ${chosen}, newest ${newest}${proven ? "; it is proven that nothing better fits" : "; not proven: the time ran out"}`,
    ...(message ? [`  why: ${message}`] : []),
    ...unblockedBy.map(({ changes, reaches }) => `  to mend it: ${changes.join(" and ")} reaches ${reaches}`),
  ];
}

const formatAuditLine = ({ time, actor, verb, result }: AuditLine): string =>
  `  ${time}  ${actor}  ${verb}: ${result}`.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");

const formatEvent = ({ time, type, reason, message, count }: ObjectEvent): string =>
  `  ${time}  ${type.padEnd(7)}  ${reason}${count > 1 ? ` (${count} times)` : ""}: ${message}`;
