import assert from "node:assert/strict";
import { test } from "node:test";
import { calmRun, type Judgement, judgePlan, judgeSeed } from "./explore.ts";
import { report } from "./report.ts";
import { stories } from "./stories/stories.ts";

/** How long each part explores. What it finds is found again by its seed; only how far it comes depends on the machine. */
const exploreMs = 12_000;
const crashMs = 10_000;
/** Where the seeds begin: another number explores other worlds. */
const firstSeed = Number(process.env["SIMULATION_SEED"] ?? "1000");

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
    const points = Array.from({ length: calm.writes }, (_, index) => index + 1).flatMap((atWrite) =>
      (["before", "after"] as const).map((point) => ({ kind: "Crash", who: "a", atWrite, point }) as const),
    );
    const startedAt = performance.now();
    let covered = 0;
    // In an order that leaves no part of the run out when time is up.
    for (const point of points.toSorted((one, other) => spread(one.atWrite) - spread(other.atWrite))) {
      if (performance.now() - startedAt > crashMs) break;
      const { violations, crashes } = await judgePlan(story, seed, [point], calm);
      assert.deepEqual(
        violations,
        [],
        `again: node test/simulation/again.ts ${story.name} ${seed} '${JSON.stringify([point])}'`,
      );
      covered += crashes;
    }
    context.diagnostic(`${story.name}: ${covered} of ${points.length} crash points covered`);
    assert.ok(covered > 0);
  });
}

/** Multiples of the golden ratio come near every number soon. */
const spread = (index: number): number => (index * 0.618_033_988_749_895) % 1;
