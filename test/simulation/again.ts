// Plays one seed again: node test/simulation/again.ts STORY SEED [PLAN as JSON]. Without a plan, the seed's own.
import { calmRun, judgePlan, judgeSeed } from "./explore.ts";
import type { Plan } from "./plan.ts";
import { report } from "./report.ts";
import { stories } from "./stories/stories.ts";

const [name, seedText, planText] = process.argv.slice(2);
const story = stories.find((each) => each.name === name);
const seed = Number(seedText);
if (story === undefined || !Number.isSafeInteger(seed)) {
  console.error(`usage: node test/simulation/again.ts ${stories.map((each) => each.name).join("|")} SEED [PLAN]`);
  process.exit(1);
}
console.log("the user:");
for (const { atMs, what } of story.script((await import("../../src/testing/seeded.ts")).seededRandom(seed)))
  console.log(`  ${String(atMs).padStart(7)} ms  ${what}`);
if (planText === undefined) {
  const judged = await judgeSeed(story, seed);
  console.log(`the plan: ${JSON.stringify(judged.plan)}`);
  console.log((await report(story, judged)) || "nothing is wrong");
  process.exitCode = judged.violations.length > 0 ? 1 : 0;
} else {
  const { violations, digest } = await judgePlan(story, seed, JSON.parse(planText) as Plan, await calmRun(story, seed));
  console.log(violations.length > 0 ? violations.join("\n") : "nothing is wrong");
  console.log(`trace ${digest}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
