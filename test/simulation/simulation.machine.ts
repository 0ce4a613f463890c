import assert from "node:assert/strict";
import { test } from "node:test";
import { calmRun, type Judgement, judgePlan, judgeSeed } from "./explore.ts";
import type { Plan } from "./plan.ts";
import { report } from "./report.ts";
import { actions } from "./stories/actions.ts";
import { servers } from "./stories/servers.ts";
import { services } from "./stories/services.ts";
import { stories } from "./stories/stories.ts";
import type { Story } from "./story.ts";

/** How long each part explores. What it finds is found again by its seed; only how far it comes depends on the machine. */
const exploreMs = 6_000;
const crashMs = 15_000;
/** Where the seeds begin: another number explores other worlds. */
const firstSeed = Number(process.env["SIMULATION_SEED"] ?? "1000");

/** Seeds that have found something once: windows shortened by a slow clock, a mirror and a repository that were given up, a fight. */
const telling: readonly (readonly [Story, number])[] = [
  [actions, 2004],
  [services, 24],
  [services, 49],
  [servers, 20],
  [servers, 32],
  [servers, 67],
];

for (const [story, seed] of telling)
  test(`${story.name} ${seed}, which found something once, finds nothing`, async () => {
    const judged = await judgeSeed(story, seed);
    assert.deepEqual(judged.violations, [], await report(story, judged));
  });

for (const story of stories) {
  test(`seed after seed of the ${story.name}`, async (context) => {
    const startedAt = performance.now();
    let [seeds, runs, crashes] = [0, 0, 0];
    const failed: Judgement[] = [];
    for (let seed = firstSeed; performance.now() - startedAt < exploreMs; seed++) {
      const judged = await judgeSeed(story, seed);
      seeds++;
      runs += judged.runs;
      crashes += judged.crashes;
      if (judged.violations.length > 0) failed.push(judged);
      if (failed.length >= 3) break;
    }
    const minutes = (performance.now() - startedAt) / 60_000;
    context.diagnostic(
      `${story.name}: ${seeds} seeds, ${runs} runs, ${Math.round(runs / minutes)} runs per minute, ${crashes} crashes`,
    );
    const texts: string[] = [];
    for (const judged of failed) texts.push(await report(story, judged));
    assert.equal(failed.length, 0, `\n${texts.join("\n\n")}`);
  });

  test(`a crash at every write of the ${story.name}, before and after it`, async (context) => {
    const seed = 1;
    const calm = await calmRun(story, seed);
    const writes = calm.planeWrites;
    const startedAt = performance.now();
    const covered = new Set<string>();
    for (const plan of crashPlans(writes)) {
      if (performance.now() - startedAt > crashMs) break;
      const { violations, crashes } = await judgePlan(story, seed, plan, calm);
      const again = `again: node test/simulation/again.ts ${story.name} ${seed} '${JSON.stringify(plan)}'`;
      assert.deepEqual(violations, [], again);
      for (const point of crashes) covered.add(point);
    }
    context.diagnostic(`${story.name}: ${covered.size} of ${2 * writes} crash points covered`);
    assert.ok(covered.size > 0);
  });
}

/**
 * Every n-th write of the plane is its leader's last, for every beginning: few runs reach all points, and most of them reach
 * theirs with a crash behind them. The far ones come first, so that no part of the run is left out when time is up.
 */
function crashPlans(writes: number): readonly Plan[] {
  const starts = Array.from({ length: crashEvery }, (_, index) => 1 + ((index * 3) % crashEvery));
  return (["after", "before"] as const).flatMap((point) =>
    starts.map((start) =>
      Array.from({ length: Math.ceil((writes - start + 1) / crashEvery) }, (_, index) => {
        const atWrite = start + index * crashEvery;
        return { kind: "Crash", who: "any", atWrite, point } as const;
      }),
    ),
  );
}

const crashEvery = 10;
