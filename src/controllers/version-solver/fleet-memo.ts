import { createHash } from "node:crypto";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { createFleetExplainer, type FleetExplainer } from "./explain-fleet.ts";
import { linkFleet } from "./fleet.ts";
import { type FleetAnswer, type SolveFleetOptions, solveFleet } from "./solve-fleet.ts";

/** Every object of a fleet asks the same question, so it is solved once for all of them, until something changes. */
export interface FleetMemo {
  solve(namespace: string, servers: readonly PaperMCServer[], plugins: readonly Plugin[], now: Date): Promise<Solved>;
}

export interface Solved {
  readonly answer: FleetAnswer | undefined;
  readonly explainer: FleetExplainer | undefined;
}

const maxNamespaces = 1_000;

export function createFleetMemo(
  options: SolveFleetOptions,
  timed: (solve: () => Promise<FleetAnswer | undefined>) => Promise<FleetAnswer | undefined>,
): FleetMemo {
  const known = new Map<string, { readonly key: string; readonly solved: Promise<Solved> }>();
  const forget = (namespace: string): void => {
    const old = known.get(namespace);
    known.delete(namespace);
    void old?.solved.then(
      ({ explainer }) => explainer?.dispose(),
      () => undefined,
    );
  };
  return {
    solve(namespace, servers, plugins, now) {
      const key = keyOf(servers, plugins, now);
      const found = known.get(namespace);
      if (found?.key === key) return found.solved;
      forget(namespace);
      const solved = timed(() => solveFleet(linkFleet(servers, plugins, now), options)).then((answer) => ({
        answer,
        explainer: answer && createFleetExplainer(answer, { env: options.env }),
      }));
      known.set(namespace, { key, solved });
      // A failure is not an answer: the next one to ask tries again.
      solved.catch(() => forget(namespace));
      const [oldest] = known.keys();
      if (known.size > maxNamespaces && oldest !== undefined) forget(oldest);
      return solved;
    },
  };
}

/** All that the answer depends on. Time counts in minutes, and only where somebody waits for it. */
function keyOf(servers: readonly PaperMCServer[], plugins: readonly Plugin[], now: Date): string {
  const waits = [...servers, ...plugins].some(({ spec }) => spec.updateDelay !== undefined);
  const minute = waits ? Math.floor(now.getTime() / 60_000) : 0;
  return [minute, ...servers.map(serverDigest), ...plugins.map(pluginDigest)].join();
}

const digests = new WeakMap<object, string>();
function digestOf(object: object, facts: () => unknown): string {
  const digest = digests.get(object) ?? createHash("sha1").update(JSON.stringify(facts())).digest("base64");
  digests.set(object, digest);
  return digest;
}

/** Changes exactly when something changes that an answer depends on. */
export const serverDigest = (server: PaperMCServer): string =>
  digestOf(server, () => {
    const { metadata, spec, status } = server;
    const { updateStrategy, version, build, updateDelay } = spec;
    return [
      metadata.name,
      metadata.labels,
      metadata.deletionTimestamp,
      [updateStrategy, version, build, updateDelay],
      [status?.currentVersion, status?.currentBuild, status?.availableVersions],
      status?.plugins?.map(({ pluginRef, currentVersion }) => [pluginRef.name, currentVersion]),
    ];
  });

export const pluginDigest = (plugin: Plugin): string =>
  digestOf(plugin, () => {
    const { metadata, spec, status } = plugin;
    return [metadata.name, metadata.deletionTimestamp, spec, status?.availableVersions, status?.repositoryStatus];
  });
