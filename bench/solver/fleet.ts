// Fleets for the solver's benchmark: servers and plugins with real Paper versions, linked by labels, made from a seed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PaperMCServer } from "../../src/api/papermc-server.ts";
import type { Plugin } from "../../src/api/plugin.ts";
import { namespace, plugin, server } from "../../src/controllers/version-solver/example-fleet.ts";
import { seededRandom } from "../../src/testing/seeded.ts";
import { compareMinecraftVersions, isRelease, parseMinecraftVersion } from "../../src/versions/minecraft.ts";

export interface BenchFleet {
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
  readonly pairs: number;
}

export const versionsEach = 20;

/** The newest real releases of Paper, oldest first. */
export function paperReleases(): readonly string[] {
  const folder = process.env["CAPSTAN_CASES"] ?? "../shared/data";
  const { paper } = JSON.parse(readFileSync(join(folder, "minecraft-versions.json"), "utf8")) as {
    readonly paper: Readonly<Record<string, readonly number[]>>;
  };
  return Object.keys(paper)
    .map(parseMinecraftVersion)
    .filter(isRelease)
    .sort(compareMinecraftVersions)
    .map(({ text }) => text)
    .slice(-versionsEach);
}

/** About 38 servers for each plugin at 500 × 500, as in real fleets of networks with shared plugins. */
export function makeFleet(serverCount: number, pluginCount: number, seed: number): BenchFleet {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const releases = paperReleases();
  const groups = Math.max(4, Math.round(serverCount / 19));
  const servers = Array.from({ length: serverCount }, (_, index) =>
    server(`s${String(index).padStart(4, "0")}`, {
      paper: [...releases].reverse(),
      current: releases[below(6)] ?? "",
      labels: { group: `g${below(groups)}` },
    }),
  );
  const plugins = Array.from({ length: pluginCount }, (_, index) => {
    const on = [`g${below(groups)}`, `g${below(groups)}`];
    const isLaggard = random() < 0.15;
    const reach = isLaggard ? 6 + below(8) : releases.length;
    const versions = Object.fromEntries(
      Array.from({ length: versionsEach }, (_, at) => {
        // Newer versions support newer servers, drop old ones, and leave a release out now and then.
        const end = Math.max(
          6,
          Math.min(reach, 6 + Math.round((at * (releases.length - 5)) / versionsEach) + below(3)),
        );
        const start = Math.max(0, Math.min(releases.length - 6, at - 8 - below(4)));
        const supported = releases.slice(start, end).filter((_, place) => place === 0 || random() > 0.04);
        const needs =
          index > 0 && random() < 0.2 / 4
            ? [
                {
                  project: `p${String(below(index)).padStart(4, "0")}`,
                  required: true,
                  version: `>=1.${Math.max(0, at - 8)}.0`,
                },
              ]
            : [];
        return [`1.${at}.0`, { minecraftVersions: supported, ...(needs.length > 0 && { dependencies: needs }) }];
      }),
    );
    return plugin(`p${String(index).padStart(4, "0")}`, {
      versions,
      spec: { instanceSelector: { matchExpressions: [{ key: "group", operator: "In", values: on }] } },
    });
  });
  const inGroups = ({ metadata }: PaperMCServer, { spec }: Plugin): boolean =>
    spec.instanceSelector.matchExpressions?.[0]?.values?.includes(metadata.labels?.["group"] ?? "") ?? false;
  const pairs = plugins.reduce((sum, one) => sum + servers.filter((other) => inGroups(other, one)).length, 0);
  return { servers, plugins, pairs };
}

export { namespace };
