import type { Relation } from "../../solver/problem.ts";
import { comparePluginVersions } from "../../versions/plugin-version.ts";
import { parseSemVer } from "../../versions/semver.ts";
import { parseConstraint, satisfies } from "../../versions/semver-constraint.ts";
import type { AvailableVersion } from "./compatibility.ts";
import { type Fleet, hasServers, type Project, serversOf } from "./fleet.ts";
import type { PluginChoices } from "./plugin-choices.ts";
import { formatSource } from "./sources.ts";

/** Plugins need each other: what the repository says of that, as relations between their versions. */
export function dependencyRelations(
  project: Project,
  { candidates }: Extract<PluginChoices, { readonly kind: "Candidates" }>,
  fleet: Fleet,
  choicesOf: ReadonlyMap<string, PluginChoices>,
): readonly Relation[] {
  const plugin = project.members[0]?.plugin.metadata.name ?? "";
  const wanted = new Set(candidates.flatMap((candidate) => required(candidate).map(({ project: name }) => name)));
  return [...wanted].sort().flatMap((name): readonly Relation[] => {
    const [other] = fleet.projectsNamed(name);
    const choices = other && choicesOf.get(other.variable);
    // What is not there cannot be chosen; that is told apart from versions that do not fit, and blocks nothing.
    if (!other || other === project || choices?.kind !== "Candidates" || !hasServers(other)) return [];
    const anything = Array.from({ length: choices.candidates.length + 1 }, (_, value) => value);
    return [
      {
        source: formatSource({ kind: "Needs", plugin, project: name }),
        left: project.variable,
        right: other.variable,
        allowed: [
          anything,
          ...candidates.map((candidate) => {
            const needs = required(candidate).filter(({ project: needed }) => needed === name);
            if (needs.length === 0) return anything;
            return choices.candidates.flatMap(({ version }, index) =>
              needs.every((need) => need.version === undefined || satisfiesNeed(version, need.version))
                ? [index + 1]
                : [],
            );
          }),
        ],
      },
    ];
  });
}

/** Required projects for which no Plugin exists on all the servers where this one is installed. */
export function missingDependencies(
  project: Project,
  chosen: AvailableVersion,
  fleet: Fleet,
): readonly { readonly project: string; readonly servers: readonly string[] }[] {
  return required(chosen).flatMap(({ project: name }) => {
    const others = fleet.projectsNamed(name);
    if (others.includes(project)) return [];
    const covered = new Set(others.flatMap((other) => serversOf(other)));
    const servers = serversOf(project).filter((server) => !covered.has(server));
    return servers.length > 0 ? [{ project: name, servers: servers.map(({ metadata }) => metadata.name) }] : [];
  });
}

/** The way from a project back to itself through what the chosen versions require, as plugin names; undefined without one. */
export function dependencyCycle(
  project: Project,
  chosenOf: (project: Project) => AvailableVersion | undefined,
  fleet: Fleet,
): readonly string[] | undefined {
  const seen = new Set<Project>();
  const walk = (from: Project, path: readonly string[]): readonly string[] | undefined => {
    const chosen = chosenOf(from);
    for (const { project: name } of chosen ? required(chosen) : []) {
      const [next] = fleet.projectsNamed(name);
      if (!next) continue;
      const nextName = next.members[0]?.plugin.metadata.name ?? "";
      if (next === project) return [...path, nextName];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...path, nextName]);
      if (found) return found;
    }
    return undefined;
  };
  return walk(project, [project.members[0]?.plugin.metadata.name ?? ""]);
}

const required = ({ dependencies = [] }: AvailableVersion) => dependencies.filter((dependency) => dependency.required);

/** An exact version as its author writes it, or a range. */
function satisfiesNeed(version: string, wanted: string): boolean {
  if (comparePluginVersions(version, wanted) === 0) return true;
  const [constraint, parsed] = [parseConstraint(wanted), parseSemVer(version)];
  const isRange = /[<>=^~*|,]|\.x\b/.test(wanted);
  return isRange && constraint.ok && parsed.ok && satisfies(parsed.version, constraint.constraint);
}
