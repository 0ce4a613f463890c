// The specification's own search: each server and each plugin by itself, the newest first.
import type { Problem } from "../../src/solver/problem.ts";

export interface Linear {
  readonly servers: ReadonlyMap<string, number>;
  /** 0 where no version fits all servers. */
  readonly plugins: ReadonlyMap<string, number>;
}

export function solveLinear({ variables, limits, relations }: Problem): Linear {
  const sizes = new Map(variables.map(({ name, size }) => [name, size]));
  const allowed = new Map<string, Set<number>>();
  for (const { name, size } of variables) allowed.set(name, new Set(Array.from({ length: size }, (_, value) => value)));
  for (const limit of limits) {
    const still = new Set(limit.allowed);
    for (const value of allowed.get(limit.variable) ?? [])
      if (!still.has(value)) allowed.get(limit.variable)?.delete(value);
  }
  const ofServer = Map.groupBy(
    relations.filter(({ right }) => right.startsWith("server/")),
    ({ right }) => right,
  );
  const servers = new Map<string, number>();
  for (const [name, size] of sizes) {
    if (!name.startsWith("server/")) continue;
    const mine = ofServer.get(name) ?? [];
    for (let value = size - 1; value >= 0; value--) {
      if (!allowed.get(name)?.has(value)) continue;
      const isFollowed = mine.every(({ left, allowed: rows }) =>
        rows.some((row, version) => version > 0 && allowed.get(left)?.has(version) && row.includes(value)),
      );
      if (!isFollowed) continue;
      servers.set(name, value);
      break;
    }
  }
  const ofPlugin = Map.groupBy(
    relations.filter(({ right }) => right.startsWith("server/")),
    ({ left }) => left,
  );
  const plugins = new Map<string, number>();
  for (const [name, size] of sizes) {
    if (!name.startsWith("plugin/")) continue;
    let chosen = 0;
    for (let value = size - 1; value > 0 && chosen === 0; value--) {
      if (!allowed.get(name)?.has(value)) continue;
      if (
        (ofPlugin.get(name) ?? []).every(({ right, allowed: rows }) => rows[value]?.includes(servers.get(right) ?? -1))
      )
        chosen = value;
    }
    plugins.set(name, chosen);
  }
  return { servers, plugins };
}

/** How many dependencies between plugins the separate choices break. */
export function brokenDependencies({ relations }: Problem, { plugins }: Linear): number {
  return relations.filter(
    ({ left, right, allowed }) =>
      right.startsWith("plugin/") && !(allowed[plugins.get(left) ?? 0]?.includes(plugins.get(right) ?? 0) ?? false),
  ).length;
}
