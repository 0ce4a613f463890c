import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../src/testing/seeded.ts";
import { calmRun, judgePlan, judgeSeed } from "./explore.ts";
import { namedFaults } from "./named-faults.ts";
import { drawPlan } from "./plan.ts";
import { report } from "./report.ts";
import { run } from "./run.ts";
import { actions } from "./stories/actions.ts";
import { classes } from "./stories/classes.ts";
import { services } from "./stories/services.ts";
import { worlds } from "./stories/worlds.ts";

/**
 * Few and always the same ones, so there is nothing flaky in it; the machine tier has many. A failure prints its seed, its
 * plan, the smallest plan that fails, and the command that plays it again.
 */
test("worlds end as if nothing had gone wrong, in any order and without detours, and a seed always does the same", async () => {
  const judged = await judgeSeed(worlds, 7);
  assert.deepEqual(judged.violations, [], await report(worlds, judged));
});

for (const [story, promise] of [
  [classes, "classes of functions end as if nothing had gone wrong, and their children go before them"],
  [actions, "an action has one Job, one effect and its rows in the trail, whatever goes wrong"],
  [
    services,
    "a service that is heard is handed out by every replica, one that is silent by none, and the feed tells of it",
  ],
] as const)
  test(promise, async () => {
    const seed = 1;
    const calm = await calmRun(story, seed);
    const plan = drawPlan(seededRandom(seed), calm.writes);
    const first = await judgePlan(story, seed, plan, calm);
    assert.deepEqual([...calm.violations, ...first.violations], [], JSON.stringify(plan));
  });

test("F38 the windows of actions are not shortened by a leader whose clock is an hour slow", async () => {
  const plan = [{ kind: "ClockStep", who: "a", atMs: 72_987, byMs: -3_600_000 }] as const;
  const { violations } = await run({ story: actions, seed: 2006, plan });
  assert.deepEqual(violations, [], `again: node test/simulation/again.ts actions 2006 '${JSON.stringify(plan)}'`);
});

test("worlds withstand what happens to processes, clocks and leases", async (context) => {
  const seed = 4;
  const calm = await calmRun(worlds, seed);
  for (const [name, plan] of Object.entries(namedFaults))
    await context.test(name, async () => {
      const judged = await judgePlan(worlds, seed, plan, calm);
      assert.deepEqual(
        judged.violations,
        [],
        `again: node test/simulation/again.ts worlds ${seed} '${JSON.stringify(plan)}'`,
      );
    });
});
