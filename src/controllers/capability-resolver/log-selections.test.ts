import assert from "node:assert/strict";
import { test } from "node:test";
import { type Logger, silentLogger } from "../../runtime/log.ts";
import { evaluate } from "./evaluate.ts";
import { game, manifest, provides, requires, world } from "./example-world.ts";
import { logSelections } from "./log-selections.ts";
import { resolveGame } from "./resolution.ts";

test("a binding that is about to change is logged with the fields of the specification", () => {
  const manifests = [
    manifest("clock", [provides("time.source", "1.0.0")]),
    manifest("newer-clock", [provides("time.source", "1.4.0")]),
    manifest("physics", [], [requires("time.source")]),
  ];
  const definition = game(manifests.map(({ metadata }) => metadata.name));
  const resolution = resolveGame(definition, (name) => manifests.find(({ metadata }) => metadata.name === name));
  const decision = evaluate({ world: world(), game: { definition, resolution }, bindings: [] });
  assert.ok(decision.kind === "Resolve");
  const lines: unknown[] = [];
  const log: Logger = { ...silentLogger, info: (message, fields) => lines.push([message, fields]) };
  logSelections(world(), decision, log);
  assert.deepEqual(lines, [
    [
      "provider chosen",
      {
        world: "anvil-sample-world",
        namespace: "anvil-demo",
        game: "anvil-sample",
        consumerModule: "physics",
        capabilityId: "time.source",
        scope: "world",
        multiplicity: "1",
        candidateCount: 2,
        chosenProvider: "newer-clock",
        chosenVersion: "1.4.0",
      },
    ],
  ]);
});
