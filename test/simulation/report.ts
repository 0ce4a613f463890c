import { calmRun, type Judgement, judgePlan } from "./explore.ts";
import { shrink } from "./shrink.ts";
import type { Story } from "./story.ts";

/** What somebody needs who has to find out why: the seed, the plan, the smallest plan that still fails, and how to see it. */
export async function report(story: Story, { seed, plan, violations }: Judgement): Promise<string> {
  if (violations.length === 0) return "";
  const calm = await calmRun(story, seed);
  const fails = async (tried: typeof plan): Promise<boolean> =>
    (await judgePlan(story, seed, tried, calm)).violations.length > 0;
  const smallest = (await fails(plan)) ? await shrink(plan, fails) : plan;
  return [
    `story ${story.name}, seed ${seed}`,
    ...violations.map((text) => `  ${text}`),
    `the plan: ${JSON.stringify(plan)}`,
    `the smallest that fails: ${JSON.stringify(smallest)}`,
    `again: node test/simulation/again.ts ${story.name} ${seed} '${JSON.stringify(smallest)}'`,
  ].join("\n");
}
