import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import { game, manifest, provides, requires } from "./example-world.ts";
import { judgeGame } from "./game-status.ts";

const clock = manifest("clock", [provides("time.source")]);

const cases: readonly {
  readonly name: string;
  readonly modules: Parameters<typeof game>[0];
  readonly manifests: readonly ModuleManifest[];
  readonly verdict: string;
  readonly states: readonly string[];
}[] = [
  {
    name: "every module is there",
    modules: ["clock"],
    manifests: [clock],
    verdict: "Valid ModulesLoaded: Every required module of the game was found",
    states: ["clock Found"],
  },
  {
    name: "required modules are missing: they are named, sorted",
    modules: ["zeta", "clock", "alpha"],
    manifests: [clock],
    verdict: "Error ModuleManifestNotFound: ModuleManifestNotFound: alpha, zeta",
    states: ["zeta Missing", "clock Found", "alpha Missing"],
  },
  {
    name: "an optional module is missing: the game is valid, the module is told",
    modules: ["clock", { name: "extra", required: false }],
    manifests: [clock],
    verdict: "Valid ModulesLoaded: Every required module of the game was found",
    states: ["clock Found", "extra Missing"],
  },
  {
    name: "a constraint cannot be read",
    modules: ["clock", "weather"],
    manifests: [clock, manifest("weather", [], [requires("time.source", ">=oops")])],
    verdict: "Error ModuleManifestInvalid: ModuleManifestInvalid: weather",
    states: ["clock Found", "weather Invalid"],
  },
  {
    name: "a requirement is stated twice",
    modules: ["clock", "weather"],
    manifests: [clock, manifest("weather", [], [requires("time.source"), requires("time.source", ">=1")])],
    verdict: "Error ModuleManifestInvalid: ModuleManifestInvalid: weather",
    states: ["clock Found", "weather Invalid"],
  },
];

for (const { name, modules, manifests, verdict, states } of cases) {
  test(`status of a game: ${name}`, () => {
    const definition = game(modules);
    const found = definition.spec.modules.map((module) =>
      manifests.find(({ metadata }) => metadata.name === module.name),
    );
    const { phase, reason, message, modules: judged } = judgeGame({ game: definition, manifests: found });
    assert.equal(`${phase} ${reason}: ${message}`, verdict);
    assert.deepEqual(
      judged.map((module) => `${module.name} ${module.status}`),
      states,
    );
  });
}
