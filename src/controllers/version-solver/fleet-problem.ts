import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Limit, Problem, Relation, Variable } from "../../solver/problem.ts";
import type { Rest } from "../../solver/rest.ts";
import { type Compatibility, createCompatibility } from "./compatibility.ts";
import { dependencyRelations } from "./dependencies.ts";
import { type Fleet, hasServers, type Member, type Project } from "./fleet.ts";
import { type PluginChoices, pluginChoices } from "./plugin-choices.ts";
import { type ServerChoices, serverChoices } from "./server-choices.ts";
import { formatSource } from "./sources.ts";
import { createSupportTables } from "./support-table.ts";

/** A fleet as a problem for the solver, with all that is needed to read the answer. */
export interface FleetProblem {
  readonly problem: Problem;
  readonly fleet: Fleet;
  readonly servers: ReadonlyMap<string, ServerChoices>;
  readonly projects: ReadonlyMap<string, PluginChoices>;
  /** By server: the plugins whose versions nobody has been asked for yet. It does not move before they are known. */
  readonly waiting: ReadonlyMap<string, readonly string[]>;
  readonly compatibility: Compatibility;
}

type Candidates<C> = Extract<C, { readonly kind: "Candidates" }>;

/**
 * Servers by name as new as possible, then plugins by name. First of all every plugin gets a version that fits all of its
 * servers if there is one; without one, what is installed stays, and its servers go no further than that supports.
 */
export async function fleetProblem(fleet: Fleet, rest: Rest): Promise<FleetProblem> {
  const compatibility = createCompatibility();
  const tables = createSupportTables(rest);
  const servers = new Map<string, ServerChoices>();
  for (const server of fleet.servers) {
    servers.set(server.metadata.name, serverChoices(server, fleet.now));
    const pause = rest();
    if (pause) await pause;
  }
  const projects = new Map<string, PluginChoices>();
  for (const project of fleet.projects) {
    projects.set(project.variable, await pluginChoices(project, fleet.now, rest));
    const pause = rest();
    if (pause) await pause;
  }
  const waiting = waitingServers(fleet, projects);
  const variables: Variable[] = [];
  const limits: Limit[] = [];
  const relations: Relation[] = [];
  const wishes: Limit[] = [];

  for (const [name, choices] of servers) {
    if (choices.kind !== "Candidates") continue;
    const variable = `server/${name}`;
    variables.push({ name: variable, size: choices.candidates.length });
    for (const { reason, allowed } of choices.limits)
      limits.push({ source: formatSource({ kind: `Server${reason}`, server: name }), variable, allowed });
  }
  for (const project of fleet.projects) {
    const choices = projects.get(project.variable);
    if (choices?.kind !== "Candidates" || !hasServers(project)) continue;
    const { variable, members } = project;
    const size = choices.candidates.length + 1;
    variables.push({ name: variable, size });
    for (const { reason, plugin, allowed } of choices.limits)
      limits.push({ source: formatSource({ kind: `Plugin${reason}`, plugin }), variable, allowed });
    wishes.push({
      source: formatSource({ kind: "Support", plugin: members[0]?.plugin.metadata.name ?? "" }),
      variable,
      allowed: Array.from({ length: size - 1 }, (_, index) => index + 1),
    });
    for (const member of members) {
      const { plugin } = member;
      const source = formatSource({ kind: "Support", plugin: plugin.metadata.name });
      for (const server of member.servers) {
        const right = servers.get(server.metadata.name);
        if (right?.kind !== "Candidates") continue;
        if (server.spec.updateStrategy === "latest")
          limits.push(aheadLimit(member, server, right, await tables.rows(plugin, choices, right), variable));
        else
          relations.push({
            source,
            left: variable,
            right: `server/${server.metadata.name}`,
            allowed: await tables.table(member, choices, server, right),
          });
      }
    }
    const pause = rest();
    if (pause) await pause;
    relations.push(...dependencyRelations(project, choices, fleet, projects));
  }
  for (const [name, plugins] of waiting) {
    const choices = servers.get(name);
    if (choices?.kind !== "Candidates" || choices.current === undefined) continue;
    for (const plugin of plugins)
      limits.push({
        source: formatSource({ kind: "Support", plugin }),
        variable: `server/${name}`,
        allowed: [choices.current],
      });
  }
  return {
    problem: { variables, limits, relations, wishes, order: variables.map(({ name }) => name) },
    fleet,
    servers,
    projects,
    waiting,
    compatibility,
  };
}

/** Only servers that follow their plugins wait for them. */
function waitingServers(
  fleet: Fleet,
  projects: ReadonlyMap<string, PluginChoices>,
): ReadonlyMap<string, readonly string[]> {
  const waiting = new Map<string, string[]>();
  for (const { variable, members } of fleet.projects) {
    if (projects.get(variable)?.kind !== "Pending") continue;
    for (const { plugin, servers } of members)
      for (const { metadata, spec } of servers)
        if (spec.updateStrategy === "auto")
          waiting.set(metadata.name, [...(waiting.get(metadata.name) ?? []), plugin.metadata.name]);
  }
  return waiting;
}

/** A server on `latest` asks no plugin, so its version is settled before, and the plugin has to fit that one. */
function aheadLimit(
  { plugin }: Member,
  server: PaperMCServer,
  { ceiling }: Candidates<ServerChoices>,
  rows: readonly (readonly number[])[],
  variable: string,
): Limit {
  return {
    source: formatSource({ kind: "Ahead", plugin: plugin.metadata.name, server: server.metadata.name }),
    variable,
    allowed: [0, ...rows.flatMap((row, index) => (row.includes(ceiling) ? [index + 1] : []))],
  };
}

export const projectOfPlugin = (fleet: Fleet, plugin: string): Project | undefined =>
  fleet.projects.find(({ members }) => members.some((member) => member.plugin.metadata.name === plugin));
