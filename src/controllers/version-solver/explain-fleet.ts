import { createExplainer, type ExplainLimits, type Obstacle } from "../../solver/explain.ts";
import { projectOfPlugin } from "./fleet-problem.ts";
import { allowedByAll } from "./own-limits.ts";
import { supportedBy, supportedValues } from "./plugin-support.ts";
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
  server(name: string, signal?: AbortSignal): Promise<Hold | undefined>;
  plugin(name: string, signal?: AbortSignal): Promise<Hold | undefined>;
  dispose(): void;
}

export function createFleetExplainer(answer: FleetAnswer, options: ExplainLimits): FleetExplainer {
  const { model, assignment } = answer;
  const explainer = createExplainer(model.problem, assignment, options);
  const soleBlocker = soleBlockerFinder(answer);
  const causesOf = async (variable: string, signal: AbortSignal | undefined): Promise<readonly Cause[] | undefined> => {
    const explanation = await explainer.whyNotNewer(variable, signal ? { signal } : {});
    if (explanation.kind !== "Forbidden") return undefined;
    const causes = new Map<string, Cause>();
    for (const obstacle of explanation.obstacles) {
      const cause = causeOf(obstacle, answer);
      causes.set(JSON.stringify(cause), cause);
    }
    return [...causes.values()];
  };
  return {
    async server(name, signal) {
      const alone = soleBlocker(name);
      const causes = alone ? [alone] : await causesOf(`server/${name}`, signal);
      if (!causes) return undefined;
      const isOwn = causes.every((cause) => "server" in cause && cause.server === name && cause.kind !== "Ahead");
      if (isOwn) return { by: "Own", causes, message: sentences(causes, answer) };
      return { by: "Others", causes, ...blockOf(name, causes, answer) };
    },
    async plugin(name, signal) {
      const project = projectOfPlugin(model.fleet, name);
      const causes = project && (await causesOf(project.variable, signal));
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
    const newest =
      newestOfTable.get(table) ??
      table.reduce((max, row, value) => (value === 0 ? max : Math.max(max, row.at(-1) ?? -1)), -1);
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
    const supported = supportedValues(plugin, name, answer);
    const versions = supported ? newer.filter(({ values }) => !values.some((value) => supported.has(value))) : [];
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
      const text = `Plugin '${plugin}' is incompatible with Paper ${someOf(versions.map(({ text }) => text))}`;
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

interface NewerVersion {
  readonly text: string;
  /** Its builds, as values of the server's variable. */
  readonly values: readonly number[];
}

/** The newer versions that the server's own settings allow, next first. */
function newerVersions(name: string, { model, assignment }: FleetAnswer): readonly NewerVersion[] {
  const choices = model.servers.get(name);
  if (choices?.kind !== "Candidates") return [];
  const allowed = allowedByAll(choices.limits);
  const byVersion = new Map<string, number[]>();
  for (let value = (assignment.get(`server/${name}`) ?? 0) + 1; value < choices.candidates.length; value++) {
    const text = choices.candidates[value]?.version.text;
    if (text === undefined || !(allowed?.has(value) ?? true)) continue;
    const values = byVersion.get(text) ?? [];
    byVersion.set(text, values);
    values.push(value);
  }
  return [...byVersion].map(([text, values]) => ({ text, values }));
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
