import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeSeed } from "./explore.ts";
import { report } from "./report.ts";
import { stories } from "./stories/stories.ts";

/** A few seeds of every story; the machine tier has thousands. The same ones every time, so there is nothing flaky in it. */
const seedsOfEach = 3;

for (const story of stories)
  test(`the ${story.name} end as if nothing had gone wrong, whatever went wrong, and a seed always does the same`, async () => {
    for (let seed = 1; seed <= seedsOfEach; seed++) {
      const judged = await judgeSeed(story, seed);
      assert.deepEqual(judged.violations, [], await report(story, judged));
    }
  });
