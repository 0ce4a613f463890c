import assert from "node:assert/strict";
import { test } from "node:test";
import type { CapabilityBinding } from "../../api/capability-binding.ts";
import { annotations } from "../../api/well-known.ts";
import { game, manifest, provides, requires, world } from "./example-world.ts";
import { reportWorld } from "./report.ts";

const consumer = manifest("consumer", [], [requires("time.source", "^1.0.0")]);
const manifests = [
  consumer,
  manifest("newest", [provides("time.source", "2.0.0")]),
  manifest("good", [provides("time.source", "1.4.0")]),
  manifest("late", [provides("time.source", "1.4.0")]),
  manifest("old", [provides("time.source", "1.0.0")]),
  manifest("session", [provides("time.source", "1.9.0", { scope: "session" })]),
];
const catalogue = {
  game: () => game(manifests.map(({ metadata }) => metadata.name)),
  manifest: (_: string, name: string) => manifests.find(({ metadata }) => metadata.name === name),
};

test("every candidate is either taken or has a rule that says why not", () => {
  const [requirement] = reportWorld(world(), catalogue).report.requirements;
  assert.deepEqual(requirement?.providers, [{ module: "good", version: "1.4.0" }]);
  assert.deepEqual(
    requirement?.refused.map(({ module, rule, objection }) => `${module}: ${rule}: ${objection}`),
    [
      "newest: version: has version 2.0.0, which does not satisfy ^1.0.0",
      "session: scope: offers scope session, not world",
      "late: preference: fits, but good comes first by name",
      "old: preference: fits, but good has version 1.4.0",
    ],
  );
});

test("a frozen world is reported with what it keeps, and what waits for a thaw", () => {
  const frozen = world("anvil-sample-world", {}, { [annotations.freezeBindings]: "true" });
  const { plan } = reportWorld(frozen, {
    ...catalogue,
    game: () => game(["consumer", "old"]),
  });
  const [requirement] = reportWorld(frozen, catalogue, plan.apply as readonly CapabilityBinding[]).report.requirements;
  assert.deepEqual(requirement?.providers, [{ module: "old", version: "1.0.0" }]);
  const waiting = requirement?.refused.find(({ module }) => module === "good");
  assert.equal(waiting?.rule, "frozen");
});

test("the reason of an unresolved requirement is what the nearest candidate lacks", () => {
  const needy = manifest("consumer", [], [requires("time.source", "*", { features: { required: ["rewind"] } })]);
  const offers = manifest("clock", [provides("time.source", "9.0.0", { scope: "session" }), provides("time.source")]);
  const { report } = reportWorld(world(), {
    game: () => game(["consumer", "clock"]),
    manifest: (_, name) => (name === "consumer" ? needy : offers),
  });
  assert.equal(
    report.message,
    "consumer requires time.source (no compatible provider found: clock lacks the required features rewind, and 1 more refused)",
  );
});
