import type { Env } from "../../env/env.ts";
import type { Assignment } from "../../solver/problem.ts";
import { createRest, type Rest } from "../../solver/rest.ts";
import { solve } from "../../solver/solve.ts";
import type { AvailableVersion, Fit } from "./compatibility.ts";
import { dependencyCycle, missingDependencies } from "./dependencies.ts";
import { type FleetObjects, hasServers, linkFleet, type Member, type Project } from "./fleet.ts";
import { type FleetProblem, fleetProblem } from "./fleet-problem.ts";
import { installedOn, type Pin } from "./plugin-choices.ts";
import { currentOf, type ServerCandidate } from "./server-choices.ts";

/** What was chosen for a fleet. `proven` is false when the time ran out before nothing better could exist. */
export interface FleetAnswer {
  readonly proven: boolean;
  readonly servers: ReadonlyMap<string, ServerAnswer>;
  /** By the name of the Plugin; those of one project share their version. */
  readonly plugins: ReadonlyMap<string, PluginAnswer>;
  readonly model: FleetProblem;
  readonly assignment: Assignment;
}

export interface ServerAnswer {
  readonly name: string;
  readonly current?: ServerCandidate;
  /** Undefined when nothing can be chosen; `message` says why. */
  readonly chosen?: ServerCandidate;
  /** The newest that the server's own settings allow. */
  readonly newest?: ServerCandidate;
  readonly message?: string;
  /** Plugins that are waited for. */
  readonly waitsFor: readonly string[];
}

export interface PluginAnswer {
  readonly name: string;
  readonly member: Member;
  readonly project: Project;
  readonly state: PluginState;
  readonly installed?: string;
  readonly chosen?: AvailableVersion;
  readonly newest?: AvailableVersion;
  readonly pin?: Pin;
  readonly matches: readonly Match[];
  readonly missing: ReturnType<typeof missingDependencies>;
  readonly cycle?: readonly string[];
}

export type PluginState = "Chosen" | "NothingFits" | "Pending" | "Unknown" | "NoServers";

/** One server that a plugin is on. */
export interface Match {
  readonly server: string;
  /** Of the version that the plugin has or will have there, against the version that was chosen for the server. */
  readonly fit: Fit;
  readonly version?: string;
}

export interface SolveFleetOptions {
  readonly env: Env;
  readonly timeLimitMs?: number;
  readonly signal?: AbortSignal;
}

/** Undefined when not even one consistent answer was found in time. */
export async function solveFleet(objects: FleetObjects, options: SolveFleetOptions): Promise<FleetAnswer | undefined> {
  const rest = createRest(options.env, options.signal);
  const model = await fleetProblem(await linkFleet(objects, rest), rest);
  const solution = await solve(model.problem, options);
  switch (solution.kind) {
    case "OutOfTime":
      return undefined;
    case "Impossible":
      // Keeping everything as it is is always an answer, so this would be a mistake in the model.
      throw new Error(`the fleet's problem has no answer: ${solution.conflict.join(", ")}`);
    case "Solved":
      return readAnswer(model, solution.assignment, solution.proven, rest);
  }
}

async function readAnswer(
  model: FleetProblem,
  assignment: Assignment,
  proven: boolean,
  rest: Rest,
): Promise<FleetAnswer> {
  const { fleet } = model;
  const servers = new Map<string, ServerAnswer>();
  for (const server of fleet.servers) {
    const { name } = server.metadata;
    const choices = model.servers.get(name);
    const current = currentOf(server);
    const waitsFor = model.waiting.get(name) ?? [];
    const common = { name, waitsFor, ...(current && { current }) };
    if (choices?.kind !== "Candidates") {
      servers.set(name, { ...common, message: choices?.message ?? "", ...(current && { chosen: current }) });
      continue;
    }
    const value = assignment.get(`server/${name}`);
    const chosen = value === undefined ? undefined : choices.candidates[value];
    const newest = choices.candidates[choices.ceiling];
    // A first start that does not wait could begin with a version that a plugin cannot follow, and never go back.
    const isTooEarly = waitsFor.length > 0 && !current;
    servers.set(name, {
      ...common,
      ...(chosen && !isTooEarly && { chosen }),
      ...(newest && { newest }),
      ...(isTooEarly && { message: `Waits for the versions of ${waitsFor.join(", ")}` }),
    });
  }
  const chosenOf = (project: Project): AvailableVersion | undefined => {
    const choices = model.projects.get(project.variable);
    const value = assignment.get(project.variable) ?? 0;
    return choices?.kind === "Candidates" && value > 0 ? choices.candidates[value - 1] : undefined;
  };
  const plugins = new Map<string, PluginAnswer>();
  for (const project of fleet.projects)
    for (const member of project.members) {
      plugins.set(member.plugin.metadata.name, pluginAnswer(project, member, model, chosenOf, servers));
      const pause = rest();
      if (pause) await pause;
    }
  return { proven, servers, plugins, model, assignment };
}

function pluginAnswer(
  project: Project,
  member: Member,
  { projects, fleet, compatibility }: FleetProblem,
  chosenOf: (project: Project) => AvailableVersion | undefined,
  servers: ReadonlyMap<string, ServerAnswer>,
): PluginAnswer {
  const choices = projects.get(project.variable);
  const candidates = choices?.kind === "Candidates" ? choices.candidates : [];
  const chosen = chosenOf(project);
  const cycle = chosen && dependencyCycle(project, chosenOf, fleet);
  const newest = candidates.at(-1);
  const matches = member.servers.map((object): Match => {
    const { name } = object.metadata;
    const available = chosen ?? versionNamed(candidates, installedOn(member, object));
    const server = servers.get(name)?.chosen;
    // A server that waits for another plugin has no version yet that this one could fail to support.
    const fitOf = (version: AvailableVersion): Fit =>
      server ? compatibility.fitOf(member.plugin, version, server.version) : "Undecided";
    return {
      server: name,
      ...(available && { version: available.version }),
      fit: available ? fitOf(available) : "Unsupported",
    };
  });
  return {
    name: member.plugin.metadata.name,
    member,
    project,
    state: stateOf(),
    matches,
    missing: chosen ? missingDependencies(project, chosen, fleet) : [],
    ...(choices?.kind === "Candidates" && choices.installed !== undefined && { installed: choices.installed }),
    ...(choices?.kind === "Candidates" && choices.pin && { pin: choices.pin }),
    ...(chosen && { chosen }),
    ...(newest && { newest }),
    ...(cycle && { cycle }),
  };

  function stateOf(): PluginState {
    if (!hasServers(project)) return "NoServers";
    if (choices === undefined || choices.kind !== "Candidates") return choices?.kind ?? "Unknown";
    return chosen ? "Chosen" : "NothingFits";
  }
}

const versionNamed = (candidates: readonly AvailableVersion[], wanted: string | undefined) =>
  wanted === undefined ? undefined : candidates.find(({ version }) => version === wanted);
