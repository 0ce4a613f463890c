import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import type { Plugin } from "../../api/plugin.ts";
import { systemEnv } from "../../env/system.ts";
import { installed, plugin, server } from "./example-fleet.ts";
import { createFleetExplainer } from "./explain-fleet.ts";
import { solveFleet } from "./solve-fleet.ts";
import { applyWhatIf, remedyOf } from "./what-if.ts";

/** Small fleets, solved by trying everything with the rules written down once more, as plainly as possible. */

const now = new Date("2026-01-15T00:00:00Z");
const paper = ["1.19", "1.20", "1.21", "1.22"];
const pluginVersions = ["1", "2", "3"];
const serverNames = ["a", "b", "c"];
const pluginNames = ["p", "q", "r"];

interface Small {
  readonly servers: readonly PaperMCServer[];
  readonly plugins: readonly Plugin[];
}

const anyFleet: fc.Arbitrary<Small> = fc.infiniteStream(fc.nat(99)).map((chance) => {
  const roll = (): number => chance.next().value as number;
  const pick = <T>(list: readonly T[]): T => list[roll() % list.length] as T;
  const some = <T>(list: readonly T[], percent: number): T[] => list.filter(() => roll() < percent);
  const plugins = pluginNames.slice(0, 1 + (roll() % 3)).map((name) => {
    const versions = Object.fromEntries(
      pluginVersions.map((version) => [
        version,
        {
          minecraftVersions: roll() < 10 ? [] : some(paper, 55).concat(roll() < 5 ? ["1.18"] : []),
          releasedAt: roll() < 20 ? "2026-01-14T00:00:00Z" : "2025-01-01T00:00:00Z",
          ...(roll() < 25 && {
            dependencies: [{ project: pick(pluginNames), required: true, version: pick(pluginVersions) }],
          }),
        },
      ]),
    );
    const on = some(serverNames, 70);
    const spec: Partial<Plugin["spec"]> = {
      ...(roll() < 20 && { updateStrategy: "pin" as const, version: pick(pluginVersions) }),
      ...(roll() < 20 && { updateDelay: "168h" }),
      ...(roll() < 10 && { compatibilityOverride: { enabled: true, minecraftVersions: some(paper, 60) } }),
    };
    return plugin(name, { versions, on: on.length > 0 ? on : ["a"], spec });
  });
  const servers = serverNames.slice(0, 1 + (roll() % 3)).map((name) => {
    const current = roll() < 75 ? pick(paper) : undefined;
    const has = plugins.filter(() => roll() < 30).map(({ metadata }) => installed(metadata.name, pick(pluginVersions)));
    const strategy = roll();
    const listed = [...new Set(some(paper, 90).concat("1.20"))];
    return server(name, {
      paper: listed,
      ...(current !== undefined && { current }),
      plugins: has,
      spec: {
        ...(strategy < 12 && { updateStrategy: "pin" as const, version: pick(listed) }),
        ...(strategy > 87 && { updateStrategy: "latest" as const }),
      },
    });
  });
  return { servers, plugins };
});

test("random fleets: the answer is the one that trying everything finds", async () => {
  await fc.assert(
    fc.asyncProperty(anyFleet, async (fleet) => {
      const answer = await solveFleet({ ...fleet, now }, { env: systemEnv });
      assert.ok(answer?.proven);
      const expected = tryEverything(fleet);
      const found = {
        servers: Object.fromEntries(
          [...answer.servers.values()].map((one) => [one.name, one.chosen?.version.text ?? "-"]),
        ),
        plugins: Object.fromEntries([...answer.plugins.values()].map((one) => [one.name, one.chosen?.version ?? "-"])),
      };
      assert.deepEqual(found, expected);
    }),
    { numRuns: 150 },
  );
});

test("random fleets: without the causes that a person can remove, what was blocked becomes newer", async () => {
  let explained = 0;
  await fc.assert(
    fc.asyncProperty(anyFleet, async (fleet) => {
      const answer = await solveFleet({ ...fleet, now }, { env: systemEnv });
      assert.ok(answer);
      const explainer = createFleetExplainer(answer, { env: systemEnv });
      for (const { metadata } of fleet.servers) {
        const hold = await explainer.server(metadata.name);
        if (hold?.by !== "Others") continue;
        const remedies = hold.causes.map(remedyOf);
        assert.ok(hold.causes.length > 0);
        // Only sets that consist of removable things can be checked by removing them all.
        if (remedies.some((remedy) => remedy === undefined)) continue;
        explained++;
        let objects: Small = fleet;
        for (const remedy of remedies) {
          const applied = remedy && applyWhatIf(objects, remedy);
          if (applied?.ok) objects = applied.value;
        }
        const freed = await solveFleet({ ...objects, now }, { env: systemEnv });
        const value = (of: typeof answer): number => of.assignment.get(`server/${metadata.name}`) ?? -1;
        // With every plugin gone nothing is left that could hold it; one that was only unpinned still can.
        if (freed && objects.plugins.length === 0) assert.ok(value(freed) > value(answer), JSON.stringify(hold.causes));
      }
      explainer.dispose();
    }),
    { numRuns: 150 },
  );
  assert.ok(explained > 10, `${explained} holds were checked`);
});

function tryEverything({ servers, plugins }: Small): {
  servers: Record<string, string>;
  plugins: Record<string, string>;
} {
  const own = servers.map((one) => ownVersions(one));
  const values = plugins.map((one) => ownPluginVersions(one, servers));
  let best: { score: number[]; servers: string[]; plugins: string[] } | undefined;
  for (const versions of product(own)) {
    for (const picks of product(values)) {
      if (!isAllowed(servers, plugins, versions, picks)) continue;
      const score = [
        ...picks.map((pick, index) => (isPlaced(plugins[index] as Plugin, servers) ? Number(pick !== "-") : 0)),
        ...versions.map((version, index) => (own[index] as string[]).indexOf(version)),
        ...picks.map((pick) => pluginVersions.indexOf(pick)),
      ];
      if (!best || isBetter(score, best.score)) best = { score, servers: versions, plugins: picks };
    }
  }
  assert.ok(best, "keeping everything as it is is always possible");
  const found = best;
  return {
    servers: Object.fromEntries(servers.map(({ metadata }, index) => [metadata.name, found.servers[index] ?? "-"])),
    plugins: Object.fromEntries(plugins.map(({ metadata }, index) => [metadata.name, found.plugins[index] ?? "-"])),
  };
}

const rank = (version: string): number => paper.indexOf(version);

/** From oldest to newest; a server on latest takes the newest, whatever the plugins say. */
function ownVersions({ spec, status }: PaperMCServer): string[] {
  const current = status?.currentVersion;
  const listed = (status?.availableVersions ?? []).map(({ version }) => version);
  const pinned = spec.updateStrategy === "pin" ? [spec.version ?? ""] : listed;
  const allowed = [...new Set([...pinned, ...(current === undefined ? [] : [current])])]
    .filter((version) => current === undefined || rank(version) >= rank(current))
    .sort((one, other) => rank(one) - rank(other));
  return spec.updateStrategy === "latest" ? allowed.slice(-1) : allowed;
}

const isOn = ({ spec }: Plugin, { metadata }: PaperMCServer): boolean =>
  spec.instanceSelector.matchExpressions?.[0]?.values?.includes(metadata.name) ?? true;
const isPlaced = (one: Plugin, servers: readonly PaperMCServer[]): boolean => servers.some((other) => isOn(one, other));

const has = (one: Plugin, on: PaperMCServer): string | undefined =>
  on.status?.plugins?.find(({ pluginRef }) => pluginRef.name === one.metadata.name)?.currentVersion;

function ownPluginVersions(one: Plugin, servers: readonly PaperMCServer[]): string[] {
  const { spec, status } = one;
  if (!isPlaced(one, servers)) return ["-"];
  const there = servers.filter((other) => isOn(one, other)).flatMap((other) => has(one, other) ?? []);
  const floor = there.sort().at(-1);
  const allowed = (status?.availableVersions ?? []).filter(({ version, releasedAt }) => {
    if (spec.updateStrategy === "pin") return version === spec.version;
    if (floor !== undefined && version < floor) return false;
    return spec.updateDelay === undefined || version === floor || releasedAt < "2026-01-08";
  });
  return ["-", ...allowed.map(({ version }) => version).sort()];
}

function supports({ spec, status }: Plugin, version: string, on: string): boolean {
  if (spec.compatibilityOverride?.enabled) {
    const list = spec.compatibilityOverride.minecraftVersions ?? [];
    return list.length === 0 || list.includes(on);
  }
  const list = status?.availableVersions?.find((entry) => entry.version === version)?.minecraftVersions ?? [];
  return list.length === 0 || list.includes(on);
}

function isAllowed(
  servers: readonly PaperMCServer[],
  plugins: readonly Plugin[],
  versions: readonly string[],
  picks: readonly string[],
): boolean {
  return plugins.every((one, index) => {
    const pick = picks[index] ?? "-";
    const placed = servers.every((other, at) => {
      if (!isOn(one, other)) return true;
      const on = versions[at] ?? "";
      if (pick !== "-") return supports(one, pick, on);
      if (other.spec.updateStrategy === "latest" || other.status?.currentVersion === undefined) return true;
      const there = has(one, other);
      return on === other.status.currentVersion || (there !== undefined && supports(one, there, on));
    });
    const needs = one.status?.availableVersions?.find(({ version }) => version === pick)?.dependencies ?? [];
    return (
      placed &&
      needs.every((need) => {
        const at = plugins.findIndex(({ metadata }) => metadata.name === need.project);
        const other = plugins[at];
        if (!other || at === index || !isPlaced(other, servers)) return true;
        return picks[at] === need.version;
      })
    );
  });
}

function product(lists: readonly (readonly string[])[]): string[][] {
  return lists.reduce<string[][]>((done, list) => done.flatMap((one) => list.map((value) => [...one, value])), [[]]);
}

function isBetter(one: readonly number[], other: readonly number[]): boolean {
  const index = one.findIndex((value, at) => value !== other[at]);
  return index >= 0 && (one[index] ?? 0) > (other[index] ?? 0);
}
