import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleManifest, Requirement } from "../../api/module-manifest.ts";
import { game, manifest, provides, requires } from "./example-world.ts";
import { judgeModule, type ModuleUse } from "./module-status.ts";
import { resolveGame } from "./resolution.ts";

const clock = manifest("clock", [provides("time.source")]);

const cases: readonly {
  readonly name: string;
  readonly needs: readonly Requirement[];
  /** The worlds of a game with a clock, and those of one without. */
  readonly worlds: readonly [withClock: readonly string[], without: readonly string[]];
  readonly verdict: string;
  readonly unresolved?: readonly string[];
}[] = [
  {
    name: "no world uses it",
    needs: [requires("time.source")],
    worlds: [[], []],
    verdict: "Pending NotUsed: No world uses this module yet",
  },
  {
    name: "it is bound in every world",
    needs: [requires("time.source")],
    worlds: [["a", "b"], []],
    verdict: "Resolved AllResolved: 2 worlds use this module; every required requirement is bound",
  },
  {
    name: "one world cannot bind it, and that world is named",
    needs: [requires("time.source")],
    worlds: [["a"], ["c", "b"]],
    verdict:
      "Error UnresolvedRequired: 3 worlds use this module; not bound: time.source (no module of the game provides time.source)",
    unresolved: ["time.source in b, c"],
  },
  {
    name: "an optional requirement is listed but blocks nothing",
    needs: [requires("time.source", "*", { dependencyMode: "optional" })],
    worlds: [[], ["a"]],
    verdict: "Resolved AllResolved: 1 world uses this module; every required requirement is bound",
    unresolved: ["time.source in a"],
  },
  {
    name: "an unreadable constraint blocks although it is optional, and comes before an unmet requirement",
    needs: [requires("nobody.has"), requires("time.source", "?", { dependencyMode: "optional" })],
    worlds: [["a"], []],
    verdict:
      'Error InvalidSemverConstraint: 1 world uses this module; not bound: nobody.has (no module of the game provides nobody.has); time.source (versionConstraint, column 1: expected a version such as "1.2.3", found "?")',
    unresolved: ["nobody.has in a", "time.source in a"],
  },
  {
    name: "a requirement stated twice names both places",
    needs: [requires("time.source"), requires("time.source")],
    worlds: [["a"], []],
    verdict:
      "Error DuplicateRequirement: 1 world uses this module; not bound: time.source (stands at spec.requires[0] and spec.requires[1])",
    unresolved: ["time.source in a"],
  },
];

for (const { name, needs, worlds, verdict, unresolved } of cases) {
  test(`status of a module: ${name}`, () => {
    const module = manifest("physics", [], needs);
    const uses = [use([clock, module], worlds[0]), use([module], worlds[1])];
    const judged = judgeModule({ module, uses });
    assert.equal(`${judged.phase} ${judged.reason}: ${judged.message}`, verdict);
    assert.deepEqual(
      judged.unresolved.map(({ capabilityId, worlds: names }) => `${capabilityId} in ${names?.join(", ")}`),
      unresolved ?? [],
    );
  });
}

function use(manifests: readonly ModuleManifest[], worlds: readonly string[]): ModuleUse {
  const definition = game(manifests.map(({ metadata }) => metadata.name));
  const resolution = resolveGame(definition, (name) => manifests.find(({ metadata }) => metadata.name === name));
  return { resolution, worlds };
}
