import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { labelSelectorRequirements, matchesLabels } from "../../kube/label-selector.ts";
import type { Rest } from "../../solver/rest.ts";

/** All that is asked about: the objects of one namespace, and when. */
export interface FleetObjects {
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly now: Date;
}

/** The servers and plugins of one namespace, and who belongs to whom. */
export interface Fleet {
  readonly servers: readonly PaperMCServer[];
  /** Plugins of one project are one choice: a server cannot load two versions of it. */
  readonly projects: readonly Project[];
  /** Those that a dependency may mean by a name: by slug or by the Plugin's own name, since dependencies name no repository. */
  projectsNamed(name: string): readonly Project[];
  readonly now: Date;
}

export interface Project {
  /** After its first member by name: `plugin/essentialsx`. */
  readonly variable: string;
  readonly members: readonly Member[];
}

export interface Member {
  readonly plugin: Plugin;
  readonly servers: readonly PaperMCServer[];
  /** What is wrong with its selector; it matches nothing then, and nobody else is disturbed. */
  readonly selectorProblem?: string;
}

/** What is being deleted is not part of it any more. */
export async function linkFleet({ servers, plugins, now }: FleetObjects, rest: Rest): Promise<Fleet> {
  const present = byName(servers.filter(({ metadata }) => metadata.deletionTimestamp === undefined));
  const membersOf = new Map<string, Member[]>();
  for (const plugin of byName(plugins)) {
    if (plugin.metadata.deletionTimestamp !== undefined) continue;
    const id = projectId(plugin);
    const members = membersOf.get(id) ?? [];
    membersOf.set(id, members);
    members.push(memberOf(plugin, present));
    const pause = rest();
    if (pause) await pause;
  }
  const projects = [...membersOf.values()].map((members) => ({
    variable: `plugin/${members[0]?.plugin.metadata.name ?? ""}`,
    members,
  }));
  const named = byEachName(projects);
  return { servers: present, projects, projectsNamed: (name) => named.get(slugOf(name)) ?? [], now };
}

/** Selectors reach only their own namespace, so fleets never span two. */
export function namespacesOf(objects: readonly (PaperMCServer | Plugin)[]): readonly string[] {
  return [...new Set(objects.map(({ metadata }) => metadata.namespace ?? ""))].sort();
}

export const serversOf = ({ members }: Project): readonly PaperMCServer[] =>
  byName([...new Set(members.flatMap(({ servers }) => servers))]);

export const hasServers = ({ members }: Project): boolean => members.some(({ servers }) => servers.length > 0);

export const followsNewest = ({ spec }: Plugin | PaperMCServer): boolean =>
  spec.updateStrategy === "latest" || spec.updateStrategy === "auto";

/** Two Plugins are of one project when they come from the same place. */
export function projectId({ spec: { source } }: Plugin): string {
  if (source.type === "url") return `url ${source.url ?? ""}`;
  return `${source.type} ${slugOf(source.project ?? "")}`;
}

/** `EssentialsX/Essentials` and `essentials` are the same project. */
export const slugOf = (project: string): string =>
  project
    .slice(project.lastIndexOf("/") + 1)
    .trim()
    .toLowerCase();

function byEachName(projects: readonly Project[]): ReadonlyMap<string, readonly Project[]> {
  const named = new Map<string, Project[]>();
  for (const project of projects) {
    const names = project.members.flatMap(({ plugin: { metadata, spec } }) => [
      slugOf(spec.source.project ?? ""),
      metadata.name.toLowerCase(),
    ]);
    for (const name of new Set(names.filter((one) => one !== "")))
      named.set(name, [...(named.get(name) ?? []), project]);
  }
  return named;
}

function memberOf(plugin: Plugin, servers: readonly PaperMCServer[]): Member {
  const selector = labelSelectorRequirements(plugin.spec.instanceSelector);
  if (!selector.ok) return { plugin, servers: [], selectorProblem: selector.message };
  return { plugin, servers: servers.filter(({ metadata }) => matchesLabels(selector.value, metadata.labels)) };
}

export const byName = <T extends { readonly metadata: { readonly name: string } }>(
  objects: readonly T[],
): readonly T[] =>
  [...objects].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0));
