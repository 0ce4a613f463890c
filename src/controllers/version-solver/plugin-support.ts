import { compareMinecraftVersions, parseMinecraftVersion } from "../../versions/minecraft.ts";
import { projectOfPlugin } from "./fleet-problem.ts";
import { allowedByAll } from "./own-limits.ts";
import type { FleetAnswer } from "./solve-fleet.ts";
import { formatSource } from "./sources.ts";

const maxSupportedVersions = 50;

/** What the versions that a plugin's own settings allow support, newest first, in the words of its repository. */
export function supportedBy(plugin: string, answer: FleetAnswer): readonly string[] {
  const override = answer.plugins.get(plugin)?.member.plugin.spec.compatibilityOverride;
  if (override?.enabled) return override.minecraftVersions ?? [];
  const choices = choicesOf(plugin, answer);
  if (choices?.kind !== "Candidates") return [];
  const allowed = allowedByAll(choices.limits);
  const supported = new Set<string>();
  for (const [index, { minecraftVersions }] of choices.candidates.entries())
    if (allowed?.has(index + 1) ?? true) for (const version of minecraftVersions) supported.add(version);
  return [...supported]
    .map(parseMinecraftVersion)
    .sort((a, b) => compareMinecraftVersions(b, a))
    .slice(0, maxSupportedVersions)
    .map(({ text }) => text);
}

/**
 * The values of a server's variable that at least one version which the plugin's own settings allow can run on; undefined
 * when the plugin has no say there.
 */
export function supportedValues(plugin: string, server: string, answer: FleetAnswer): ReadonlySet<number> | undefined {
  const choices = choicesOf(plugin, answer);
  if (choices?.kind !== "Candidates") return undefined;
  const source = formatSource({ kind: "Support", plugin });
  const table = answer.model.problem.relations.find(
    (relation) => relation.right === `server/${server}` && relation.source === source,
  )?.allowed;
  if (!table) return undefined;
  const allowed = allowedByAll(choices.limits);
  const values = new Set<number>();
  // Versions that support the same share one row.
  const seen = new Set<readonly number[]>();
  for (const [value, row] of table.entries()) {
    if (value === 0 || !(allowed?.has(value) ?? true) || seen.has(row)) continue;
    seen.add(row);
    for (const candidate of row) values.add(candidate);
  }
  return values;
}

function choicesOf(plugin: string, { model }: FleetAnswer) {
  const project = projectOfPlugin(model.fleet, plugin);
  return project && model.projects.get(project.variable);
}
