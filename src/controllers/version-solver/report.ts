import type { Env } from "../../env/env.ts";
import { createFleetExplainer, type FleetExplainer, type Hold } from "./explain-fleet.ts";
import { type FindRemedies, type Remedy, remedyFinder } from "./remedies.ts";
import { compare, type ServerCandidate, tagOf } from "./server-choices.ts";
import { type FleetAnswer, type PluginAnswer, type ServerAnswer, solveFleet } from "./solve-fleet.ts";
import { pluginVerdict, serverVerdict } from "./verdict.ts";
import type { Objects } from "./what-if.ts";

/** What `capstan solve` prints: plain data about one namespace. */
export interface FleetReport {
  readonly namespace: string;
  /** Whether it is certain that nothing better exists. */
  readonly proven: boolean;
  readonly servers: readonly ServerReport[];
  readonly plugins: readonly PluginReport[];
}

export interface ServerReport {
  readonly name: string;
  readonly strategy: string;
  readonly current?: string;
  readonly currentBuild?: number;
  readonly chosen?: string;
  readonly chosenBuild?: number;
  /** The newest that its own settings allow. */
  readonly newest?: string;
  readonly newestBuild?: number;
  readonly blocked: boolean;
  readonly message: string;
  readonly blockedBy?: Hold["blocker"];
  readonly unblockedBy: readonly Remedy[];
}

export interface PluginReport {
  readonly name: string;
  readonly strategy: string;
  readonly current?: string;
  readonly chosen?: string;
  readonly newest?: string;
  readonly blocked: boolean;
  readonly servers: readonly { readonly name: string; readonly compatible: boolean; readonly fit: string }[];
  readonly message: string;
  readonly unblockedBy: readonly Remedy[];
}

export interface ReportOptions {
  readonly env: Env;
  readonly now: Date;
  readonly timeLimitMs?: number;
}

/** Undefined when the time ran out before any answer was found. */
export async function reportFleet(
  namespace: string,
  objects: Objects,
  options: ReportOptions,
): Promise<FleetReport | undefined> {
  const solveObjects = (changed: Objects): Promise<FleetAnswer | undefined> =>
    solveFleet({ ...changed, now: options.now }, options);
  const answer = await solveObjects(objects);
  if (!answer) return undefined;
  const explainer = createFleetExplainer(answer, options);
  try {
    const remedies = remedyFinder(objects, {
      solve: solveObjects,
      explainer: (other) => createFleetExplainer(other, options),
    });
    const servers: ServerReport[] = [];
    for (const server of answer.servers.values()) servers.push(await reportServer(server, answer, explainer, remedies));
    const plugins: PluginReport[] = [];
    for (const plugin of answer.plugins.values()) plugins.push(await reportPlugin(plugin, answer, explainer, remedies));
    return { namespace, proven: answer.proven, servers, plugins };
  } finally {
    explainer.dispose();
  }
}

async function reportServer(
  server: ServerAnswer,
  answer: FleetAnswer,
  explainer: FleetExplainer,
  remedies: FindRemedies,
): Promise<ServerReport> {
  const { name, current, chosen, newest } = server;
  const hold = chosen ? await explainer.server(name) : undefined;
  const verdict = serverVerdict(server, answer, hold);
  const unblockedBy =
    hold?.by === "Others" && chosen
      ? await remedies(hold, {
          isBetter: ({ servers }) => isNewer(servers.get(name)?.chosen, chosen),
          reached: ({ servers }) => textOf(servers.get(name)?.chosen),
          hold: (other) => other.server(name),
        })
      : [];
  const spec = answer.model.fleet.servers.find(({ metadata }) => metadata.name === name)?.spec;
  return {
    name,
    strategy: spec?.updateStrategy ?? "",
    ...versionAndBuild("current", current),
    ...versionAndBuild("chosen", chosen),
    ...versionAndBuild("newest", newest),
    blocked: verdict.blocked.blocked,
    message: verdict.blocked.blocked ? (verdict.blocked.reason ?? "") : verdict.summary,
    ...(hold?.blocker && { blockedBy: hold.blocker }),
    unblockedBy,
  };
}

function versionAndBuild<K extends "current" | "chosen" | "newest">(
  key: K,
  candidate: ServerCandidate | undefined,
): { readonly [P in K]?: string } & { readonly [P in `${K}Build`]?: number } {
  if (!candidate) return {} as { readonly [P in K]?: string } & { readonly [P in `${K}Build`]?: number };
  const { version, build } = candidate;
  return { [key]: version.text, ...(build !== undefined && { [`${key}Build`]: build }) } as {
    readonly [P in K]?: string;
  } & { readonly [P in `${K}Build`]?: number };
}

const isNewer = (a: ServerCandidate | undefined, b: ServerCandidate): boolean => a !== undefined && compare(a, b) > 0;
const textOf = (candidate: ServerCandidate | undefined): string => (candidate ? tagOf(candidate) : "");

async function reportPlugin(
  plugin: PluginAnswer,
  answer: FleetAnswer,
  explainer: FleetExplainer,
  remedies: FindRemedies,
): Promise<PluginReport> {
  const { name, installed, chosen, newest, matches, state } = plugin;
  const isAsked = state === "Chosen" || state === "NothingFits";
  const hold = isAsked ? await explainer.plugin(name) : undefined;
  const verdict = pluginVerdict(plugin, answer);
  const value = (of: FleetAnswer): number => of.assignment.get(plugin.project.variable) ?? 0;
  const unblockedBy =
    hold?.by === "Others" || (hold && state === "NothingFits")
      ? await remedies(hold, {
          isBetter: (other) => value(other) > value(answer),
          reached: ({ plugins }) => plugins.get(name)?.chosen?.version ?? "",
          hold: (other) => other.plugin(name),
        })
      : [];
  const why = hold && chosen !== newest ? `; not newer: ${hold.message}` : "";
  return {
    name,
    strategy: plugin.member.plugin.spec.updateStrategy,
    ...(installed !== undefined && { current: installed }),
    ...(chosen && { chosen: chosen.version }),
    ...(newest && { newest: newest.version }),
    blocked: verdict.compatible.status === "False",
    servers: matches.map(({ server, fit }) => ({ name: server, compatible: fit !== "Unsupported", fit })),
    message: `${verdict.summary}${why}`,
    unblockedBy,
  };
}
