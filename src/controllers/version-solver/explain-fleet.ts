import { createExplainer, type ExplainLimits, type Obstacle } from "../../solver/explain.ts";
import { compareMinecraftVersions, parseMinecraftVersion } from "../../versions/minecraft.ts";
import { fits } from "./compatibility.ts";
import { projectOfPlugin } from "./fleet-problem.ts";
import type { ServerCandidate } from "./server-choices.ts";
import { tagOf } from "./server-choices.ts";
import type { FleetAnswer } from "./solve-fleet.ts";
import { parseSource, type Source } from "./sources.ts";

/** Why something is not newer: causes that together forbid it, none of which could be left out. */
export interface Hold {
  /** `Own`: its own settings alone; `Others`: other objects, too. */
  readonly by: "Own" | "Others";
  readonly causes: readonly Cause[];
  /** One sentence. */
  readonly message: string;
  /** The plugin that stands in the way of the next newer version, and what it supports. */
  readonly blocker?: Blocker;
}

export type Cause =
  | Source
  /** A server or plugin that comes first by name, and is as new as it is. */
  | { readonly kind: "ComesFirst"; readonly object: string; readonly version: string };

export interface Blocker {
  readonly plugin: string;
  readonly version: string;
  readonly supportedVersions: readonly string[];
}

export interface FleetExplainer {
  /** Undefined when the server has the newest version that is known, or when the time ran out. */
  server(name: string): Promise<Hold | undefined>;
  plugin(name: string): Promise<Hold | undefined>;
  dispose(): void;
}

export function createFleetExplainer(answer: FleetAnswer, options: ExplainLimits): FleetExplainer {
  const { model, assignment } = answer;
  const explainer = createExplainer(model.problem, assignment, options);
  const soleBlocker = soleBlockerFinder(answer);
  const causesOf = async (variable: string): Promise<readonly Cause[] | undefined> => {
    const explanation = await explainer.whyNotNewer(variable);
    if (explanation.kind !== "Forbidden") return undefined;
    const causes = new Map<string, Cause>();
    for (const obstacle of explanation.obstacles) {
      const cause = causeOf(obstacle, answer);
      causes.set(JSON.stringify(cause), cause);
    }
    return [...causes.values()];
  };
  return {
    async server(name) {
      const alone = soleBlocker(name);
      const causes = alone ? [alone] : await causesOf(`server/${name}`);
      if (!causes) return undefined;
      const isOwn = causes.every((cause) => "server" in cause && cause.server === name && cause.kind !== "Ahead");
      if (isOwn) return { by: "Own", causes, message: sentences(causes, answer) };
      return { by: "Others", causes, ...blockOf(name, causes, answer) };
    },
    async plugin(name) {
      const project = projectOfPlugin(model.fleet, name);
      const causes = project && (await causesOf(project.variable));
      if (!causes) return undefined;
      const members = new Set(project.members.map(({ plugin }) => plugin.metadata.name));
      const isOwn = causes.every((cause) => "plugin" in cause && members.has(cause.plugin) && cause.kind !== "Ahead");
      return { by: isOwn ? "Own" : "Others", causes, message: sentences(causes, answer) };
    },
    dispose: () => explainer.dispose(),
  };
}

/**
 * Mostly one plugin by itself supports nothing newer, which is seen without a search: no version of it, allowed or not,
 * runs on any newer candidate, allowed or not. A single cause cannot be made smaller.
 */
function soleBlockerFinder({ model, assignment }: FleetAnswer): (server: string) => Cause | undefined {
  let relations: Map<string, (typeof model.problem.relations)[number][]> | undefined;
  const newestOfTable = new WeakMap<readonly (readonly number[])[], number>();
  const newestSupported = (table: readonly (readonly number[])[]): number => {
    const newest = newestOfTable.get(table) ?? Math.max(-1, ...table.slice(1).map((row) => row.at(-1) ?? -1));
    newestOfTable.set(table, newest);
    return newest;
  };
  return (server) => {
    relations ??= Map.groupBy(model.problem.relations, ({ right }) => right);
    const variable = `server/${server}`;
    const value = assignment.get(variable);
    const choices = model.servers.get(server);
    if (value === undefined || choices?.kind !== "Candidates" || value >= choices.candidates.length - 1)
      return undefined;
    for (const { source, left, allowed } of relations.get(variable) ?? []) {
      const isChosen = (assignment.get(left) ?? 0) > 0;
      if (isChosen && newestSupported(allowed) <= value) return parseSource(source);
    }
    return undefined;
  };
}

function causeOf(obstacle: Obstacle, answer: FleetAnswer): Cause {
  if (obstacle.kind !== "Choice") return parseSource(obstacle.source);
  const { variable } = obstacle;
  const name = variable.slice(variable.indexOf("/") + 1);
  const version = variable.startsWith("server/")
    ? answer.servers.get(name)?.chosen?.version.text
    : answer.plugins.get(name)?.chosen?.version;
  return { kind: "ComesFirst", object: variable, version: version ?? "" };
}

/** For each plugin among the causes the newer versions of Paper that none of its allowed versions supports. */
function blockOf(name: string, causes: readonly Cause[], answer: FleetAnswer): Pick<Hold, "message" | "blocker"> {
  const newer = newerVersions(name, answer);
  const plugins = [...new Set(causes.flatMap((cause) => ("plugin" in cause ? [cause.plugin] : [])))].sort();
  const direct = plugins.flatMap((plugin) => {
    const versions = newer.filter((version) => !supportsAtAll(plugin, version, answer));
    return versions.length > 0 ? [{ plugin, versions }] : [];
  });
  const [next] = newer;
  const first = direct.find(({ versions }) => next !== undefined && versions.includes(next)) ?? direct[0];
  const others = causes.filter(
    (cause) => !(cause.kind === "Support" && direct.some(({ plugin }) => plugin === cause.plugin)),
  );
  const own = others.filter((cause) => cause.kind !== "Support" || direct.length === 0);
  const message = [
    ...direct.map(({ plugin, versions }, index) => {
      const text = `Plugin '${plugin}' is incompatible with Paper ${someOf(versions.map(({ version }) => version.text))}`;
      return index === 0 ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
    }),
    ...own.map((cause) => sentence(cause, answer)),
  ].join("; ");
  if (!first) return { message };
  const chosen = answer.plugins.get(first.plugin);
  return {
    message,
    blocker: {
      plugin: first.plugin,
      version: chosen?.chosen?.version ?? chosen?.installed ?? chosen?.newest?.version ?? "",
      supportedVersions: supportedBy(first.plugin, answer),
    },
  };
}

/** One candidate for each newer version that the server's own settings allow, next first. */
function newerVersions(name: string, { model, assignment }: FleetAnswer): readonly ServerCandidate[] {
  const choices = model.servers.get(name);
  if (choices?.kind !== "Candidates") return [];
  const value = assignment.get(`server/${name}`) ?? 0;
  const byVersion = new Map<string, ServerCandidate>();
  for (const [index, candidate] of choices.candidates.entries())
    if (index > value && choices.limits.every(({ allowed }) => allowed.includes(index)))
      byVersion.set(candidate.version.text, candidate);
  return [...byVersion.values()];
}

function supportsAtAll(plugin: string, { version }: ServerCandidate, { model, plugins }: FleetAnswer): boolean {
  const member = plugins.get(plugin)?.member;
  const project = projectOfPlugin(model.fleet, plugin);
  const choices = project && model.projects.get(project.variable);
  if (!member || choices?.kind !== "Candidates") return true;
  return choices.candidates.some(
    (available, index) =>
      choices.limits.every(({ allowed }) => allowed.includes(index + 1)) &&
      fits(model.compatibility.fitOf(member.plugin, available, version)),
  );
}

const maxSupportedVersions = 50;

function supportedBy(plugin: string, { plugins, model }: FleetAnswer): readonly string[] {
  const member = plugins.get(plugin)?.member;
  const override = member?.plugin.spec.compatibilityOverride;
  if (override?.enabled) return override.minecraftVersions ?? [];
  const project = projectOfPlugin(model.fleet, plugin);
  const choices = project && model.projects.get(project.variable);
  if (choices?.kind !== "Candidates") return [];
  const supported = choices.candidates.flatMap(({ minecraftVersions }, index) =>
    choices.limits.every(({ allowed }) => allowed.includes(index + 1)) ? minecraftVersions : [],
  );
  return [...new Set(supported)]
    .sort((a, b) => compareMinecraftVersions(parseMinecraftVersion(b), parseMinecraftVersion(a)))
    .slice(0, maxSupportedVersions);
}

const sentences = (causes: readonly Cause[], answer: FleetAnswer): string =>
  causes.map((cause) => sentence(cause, answer)).join("; ");

function sentence(cause: Cause, answer: FleetAnswer): string {
  switch (cause.kind) {
    case "Support":
      return `plugin '${cause.plugin}' supports ${someOf(supportedBy(cause.plugin, answer)) || "only what it runs on"}`;
    case "Needs":
      return `plugin '${cause.plugin}' needs ${cause.project}`;
    case "PluginPin":
      return `plugin '${cause.plugin}' is pinned to ${answer.plugins.get(cause.plugin)?.pin?.version ?? ""}`;
    case "PluginDelay":
      return `plugin '${cause.plugin}' waits ${answer.plugins.get(cause.plugin)?.member.plugin.spec.updateDelay} before it takes a release`;
    case "PluginFloor":
      return `plugin '${cause.plugin}' does not go below ${answer.plugins.get(cause.plugin)?.installed ?? ""}`;
    case "ServerPin":
      return `server '${cause.server}' is pinned to ${specOf(cause.server, answer)?.version ?? ""}`;
    case "ServerDelay":
      return `server '${cause.server}' waits ${specOf(cause.server, answer)?.updateDelay} before it takes a release`;
    case "ServerFloor": {
      const current = answer.servers.get(cause.server)?.current;
      return `server '${cause.server}' does not go below ${current ? tagOf(current) : ""}`;
    }
    case "Ahead":
      return `server '${cause.server}' takes ${answer.servers.get(cause.server)?.chosen?.version.text ?? "the newest version"} without asking plugin '${cause.plugin}'`;
    case "ComesFirst":
      return `${cause.object} comes first, with ${cause.version}`;
  }
}

const specOf = (server: string, { model }: FleetAnswer) =>
  model.fleet.servers.find(({ metadata }) => metadata.name === server)?.spec;

const shownAtMost = 4;

/** `1.20.6, 1.21.1 and 3 more`. */
function someOf(texts: readonly string[]): string {
  if (texts.length <= shownAtMost) return texts.join(", ");
  return `${texts.slice(0, shownAtMost).join(", ")} and ${texts.length - shownAtMost} more`;
}
