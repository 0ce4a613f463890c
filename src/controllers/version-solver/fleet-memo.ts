import { createHash } from "node:crypto";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { createRest, type Rest } from "../../solver/rest.ts";
import { createFleetExplainer, type FleetExplainer } from "./explain-fleet.ts";
import type { FleetObjects } from "./fleet.ts";
import { type FleetAnswer, type SolveFleetOptions, solveFleet } from "./solve-fleet.ts";
import { eligibilityAt } from "./update-delay.ts";

/** Every object of a fleet asks the same question, so it is solved once for all of them, until something changes. */
export interface FleetMemo {
  solve(namespace: string, objects: FleetObjects): Promise<Solved>;
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
    async solve(namespace, objects) {
      const key = await keyOf(objects, createRest(options.env, options.signal));
      const found = known.get(namespace);
      if (found?.key === key) return found.solved;
      forget(namespace);
      const solved = timed(() => solveFleet(objects, options)).then((answer) => ({
        answer,
        explainer: answer && createFleetExplainer(answer, options),
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

/** All that the answer depends on. Time counts only where something has become old enough by it. */
async function keyOf({ servers, plugins, now }: FleetObjects, rest: Rest): Promise<string> {
  const parts = [String(eligibilityAt([...servers, ...plugins], now).lastMs)];
  for (const server of servers) {
    parts.push(serverDigest(server));
    const pause = rest();
    if (pause) await pause;
  }
  for (const plugin of plugins) {
    parts.push(pluginDigest(plugin));
    const pause = rest();
    if (pause) await pause;
  }
  return parts.join();
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
      [status?.currentVersion, status?.currentBuild, status?.availableVersions, status?.repositoryStatus],
      status?.plugins?.map(({ pluginRef, currentVersion }) => [pluginRef.name, currentVersion]),
    ];
  });

export const pluginDigest = (plugin: Plugin): string =>
  digestOf(plugin, () => {
    const { metadata, spec, status } = plugin;
    return [metadata.name, metadata.deletionTimestamp, spec, status?.availableVersions, status?.repositoryStatus];
  });
