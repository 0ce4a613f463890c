// The resolver's pure code: 10,000 worlds of games with 20 modules of 5 requirements each. Everything is compared within
// this run against a straightforward transcription of the specification's pseudocode, which resolves every world anew.
import { mkdirSync, writeFileSync } from "node:fs";
import type { CapabilityBinding } from "../src/api/capability-binding.ts";
import type { GameDefinition } from "../src/api/game-definition.ts";
import type { ModuleManifest } from "../src/api/module-manifest.ts";
import type { WorldInstance } from "../src/api/world-instance.ts";
import { bindingName } from "../src/controllers/capability-resolver/binding-name.ts";
import {
  desiredBinding,
  identityOf,
  pairingsOfResolution,
} from "../src/controllers/capability-resolver/desired-bindings.ts";
import { evaluate } from "../src/controllers/capability-resolver/evaluate.ts";
import {
  manifest,
  provides,
  requires,
  game as toGame,
  world as toWorld,
} from "../src/controllers/capability-resolver/example-world.ts";
import { resolveGame } from "../src/controllers/capability-resolver/resolution.ts";
import { createResolutionMemo } from "../src/controllers/capability-resolver/resolution-memo.ts";
import { compareSemVer, parseSemVer } from "../src/versions/semver.ts";
import { parseConstraint, satisfies } from "../src/versions/semver-constraint.ts";

const gameCount = 100;
const worldsPerGame = 100;
const modulesPerGame = 20;
const requirementsPerModule = 5;

export async function run(): Promise<void> {
  const rows = [...incremental(), ...growth()];
  for (const row of rows) console.log(`${row.name.padEnd(62)} ${row.value}`);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/resolver.json", `${JSON.stringify(rows, null, 2)}\n`);
}

interface Row {
  readonly name: string;
  readonly value: string;
}

/** One manifest changes: who has to look again, and what it costs. */
function incremental(): Row[] {
  const fleet = createFleet();
  const resolve = createResolutionMemo();
  const lookUp = (name: string): ModuleManifest | undefined => fleet.manifests.get(name);
  const stored = new Map<string, readonly CapabilityBinding[]>();
  for (const { game, worlds } of fleet.games) {
    const resolution = resolve(game, lookUp);
    for (const world of worlds) {
      const bindings = [...pairingsOfResolution(resolution).all].map((pairing) =>
        desiredBinding(world, game.metadata.name, pairing, bindingName(identityOf(world.metadata.name, pairing))),
      );
      stored.set(world.metadata.name, bindings as readonly CapabilityBinding[]);
    }
  }
  const changedGame = fleet.games[7];
  const changedName = changedGame?.game.spec.modules[3]?.name ?? "";
  const before = fleet.manifests.get(changedName);
  if (!changedGame || !before) throw new Error("the fleet has no such module");

  let resolved = 0;
  let evaluated = 0;
  const change = (version: string): void => {
    const [first, ...others] = before.spec.provides;
    if (!first) throw new Error("the module provides nothing");
    fleet.manifests.set(changedName, {
      ...before,
      spec: { ...before.spec, provides: [{ ...first, version }, ...others] },
    });
  };

  const ours = timed(20, (round) => {
    change(`1.${round}.0`);
    for (const { game, worlds } of fleet.gamesOf(changedName)) {
      resolved++;
      for (const world of worlds) {
        evaluated++;
        const definition = { definition: game, resolution: resolve(game, lookUp) };
        evaluate({ world, game: definition, bindings: stored.get(world.metadata.name) ?? [] });
      }
    }
  });
  const theirs = timed(5, (round) => {
    change(`1.${round}.0`);
    for (const { game, worlds } of fleet.games) {
      if (!game.spec.modules.some(({ name }) => name === changedName)) continue;
      for (const world of worlds) transcription(world, game, fleet.manifests, stored.get(world.metadata.name) ?? []);
    }
  });
  return [
    {
      name: "worlds, modules, requirements in the fleet",
      value: `${gameCount * worldsPerGame}, ${fleet.manifests.size}, ${gameCount * modulesPerGame * requirementsPerModule}`,
    },
    { name: "one manifest changed: games resolved, worlds evaluated", value: `${resolved / 21}, ${evaluated / 21}` },
    { name: "one manifest changed, ours", value: `${ours.toFixed(2)} ms` },
    { name: "one manifest changed, transcription of the pseudocode", value: `${theirs.toFixed(2)} ms` },
    { name: "ratio (limit: at least 10)", value: `${(theirs / ours).toFixed(1)}x` },
  ];
}

/** Microseconds for each requirement as a game grows: near linear means that this number hardly moves. */
function growth(): Row[] {
  return [10, 100, 1_000].map((count) => {
    const modules = makeModules("growth", count);
    const byName = new Map(modules.map((module) => [module.metadata.name, module]));
    const game = toGame([...byName.keys()]);
    const rounds = Math.max(3, Math.round(2_000 / count));
    const elapsed = timed(rounds, () => {
      resolveGame(game, (name) => byName.get(name));
    });
    return {
      name: `µs for each requirement, ${count} modules`,
      value: ((elapsed * 1_000) / (count * requirementsPerModule)).toFixed(2),
    };
  });
}

interface Fleet {
  readonly games: readonly { readonly game: GameDefinition; readonly worlds: readonly WorldInstance[] }[];
  readonly manifests: Map<string, ModuleManifest>;
  gamesOf(module: string): Fleet["games"];
}

function createFleet(): Fleet {
  const manifests = new Map<string, ModuleManifest>();
  const games = Array.from({ length: gameCount }, (_, number) => {
    const modules = makeModules(`g${number}`, modulesPerGame);
    for (const module of modules) manifests.set(module.metadata.name, module);
    const game = toGame(
      modules.map(({ metadata }) => metadata.name),
      `game-${number}`,
    );
    const worlds = Array.from({ length: worldsPerGame }, (_, index) =>
      toWorld(`world-${number}-${index}`, { gameRef: { name: `game-${number}` } }),
    );
    return { game, worlds };
  });
  const index = new Map<string, Fleet["games"][number][]>();
  for (const entry of games) {
    for (const { name } of entry.game.spec.modules) index.set(name, [...(index.get(name) ?? []), entry]);
  }
  return { games, manifests, gamesOf: (module) => index.get(module) ?? [] };
}

function makeModules(prefix: string, count: number): ModuleManifest[] {
  const capability = (number: number): string => `${prefix}.cap${number % count}`;
  return Array.from({ length: count }, (_, number) =>
    manifest(
      `${prefix}-module-${number}`,
      [provides(capability(number), "1.4.0"), provides(capability(number + 1), "1.2.0")],
      Array.from({ length: requirementsPerModule }, (_, index) =>
        requires(capability(number + index * 3 + 1), "^1.0.0"),
      ),
    ),
  );
}

/** The specification's pseudocode, line by line, without indexes or memory between worlds. */
function transcription(
  world: WorldInstance,
  game: GameDefinition,
  manifests: ReadonlyMap<string, ModuleManifest>,
  existing: readonly CapabilityBinding[],
): number {
  const modules = game.spec.modules.flatMap(({ name }) => manifests.get(name) ?? []);
  const providers = new Map<
    string,
    { moduleManifestName: string; capabilityVersion: string; multiplicity: string }[]
  >();
  for (const module of modules) {
    for (const offer of module.spec.provides) {
      const key = `${offer.capabilityId} ${offer.scope}`;
      const list = providers.get(key) ?? [];
      list.push({
        moduleManifestName: module.metadata.name,
        capabilityVersion: offer.version,
        multiplicity: offer.multiplicity,
      });
      providers.set(key, list);
    }
  }
  let changed = 0;
  for (const consumer of modules) {
    for (const need of consumer.spec.requires) {
      const candidates = (providers.get(`${need.capabilityId} ${need.scope}`) ?? []).filter(
        (candidate) =>
          semverSatisfies(need.versionConstraint, candidate.capabilityVersion) &&
          (need.multiplicity === "1" || candidate.multiplicity === "many"),
      );
      candidates.sort(
        (a, b) =>
          newest(a.capabilityVersion, b.capabilityVersion) || (a.moduleManifestName < b.moduleManifestName ? -1 : 1),
      );
      const [chosen] = candidates;
      if (!chosen) continue;
      const name = `cb-${world.metadata.name}-${consumer.metadata.name}-${need.capabilityId}`.replaceAll(".", "-");
      const binding = {
        name,
        capabilityId: need.capabilityId,
        scope: need.scope,
        consumer: consumer.metadata.name,
        provider: chosen,
      };
      const found = existing.find(({ metadata }) => metadata.name.startsWith(name));
      if (JSON.stringify(found?.spec.provider) !== JSON.stringify(binding.provider)) changed++;
    }
  }
  return changed;
}

function semverSatisfies(constraint: string, version: string): boolean {
  const parsedConstraint = parseConstraint(constraint);
  const parsedVersion = parseSemVer(version);
  return parsedConstraint.ok && parsedVersion.ok && satisfies(parsedVersion.version, parsedConstraint.constraint);
}

function newest(a: string, b: string): number {
  const [first, second] = [parseSemVer(a), parseSemVer(b)];
  return first.ok && second.ok ? compareSemVer(second.version, first.version) : 0;
}

/** The median of some rounds, in milliseconds. */
function timed(rounds: number, work: (round: number) => void): number {
  work(0);
  const times = Array.from({ length: rounds }, (_, round) => {
    const start = performance.now();
    work(round + 1);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
