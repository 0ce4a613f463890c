import { seededRandom } from "../../src/testing/seeded.ts";
import { differences } from "./end-state.ts";
import type { Mutation } from "./mutation.ts";
import { drawPlan, type Plan } from "./plan.ts";
import { type RunResult, run } from "./run.ts";
import type { Story } from "./story.ts";

/** One seed, judged: what the plane does under its plan, compared with what it does when nothing goes wrong. */
export interface Judgement {
  readonly seed: number;
  readonly story: string;
  readonly plan: Plan;
  readonly violations: readonly string[];
  readonly runs: number;
  readonly crashes: number;
}

/** The run without faults, which every plan of the seed is compared with. */
export const calmRun = (story: Story, seed: number): Promise<RunResult> => run({ story, seed, plan: [] });

export async function judgeSeed(story: Story, seed: number): Promise<Judgement> {
  const calm = await calmRun(story, seed);
  const plan = drawPlan(seededRandom(seed * 7_919 + 13), calm.writes, story.outside !== undefined);
  const first = await judgePlan(story, seed, plan, calm);
  const second = await run({ story, seed, plan });
  const replay = second.digest === first.digest ? [] : ["the same seed and plan made two different runs"];
  const direct = await judgeDirect(story, seed, calm);
  const violations = [
    ...calm.violations.map((text) => `without faults: ${text}`),
    ...first.violations,
    ...replay,
    ...direct,
  ];
  return { seed, story: story.name, plan, violations, runs: 3 + (story.wants ? 1 : 0), crashes: first.crashes.length };
}

/** P4: whatever went wrong on the way, the end is the same. */
export async function judgePlan(
  story: Story,
  seed: number,
  plan: Plan,
  calm: RunResult,
  mutation?: Mutation,
): Promise<{ readonly violations: readonly string[]; readonly digest: string; readonly crashes: readonly string[] }> {
  const result = await run({ story, seed, plan, ...(mutation && { mutation }) });
  const ends = story.isHistory ? [] : differences(calm.state, result.state).map((text) => `P4 ${text}`);
  const isWatched = !plan.some(({ kind }) => ["Meddle", "Intruder", "Webhook", "Quota"].includes(kind));
  const deletes = isWatched && !story.isHistory ? [...result.deletes].filter((name) => isKept(name, calm)) : [];
  const lost = deletes.map((name) => `P4 ${name} was deleted, which no calm run does`);
  return { violations: [...result.violations, ...ends, ...lost], digest: result.digest, crashes: result.crashes };
}

/** Made once and kept, as long as nothing goes wrong. */
const isKept = (deleted: string, { deletes, state }: RunResult): boolean =>
  !deletes.has(deleted) && [...state.keys()].some((name) => name.endsWith(`/${deleted.split("/")[1]}`));

/** P3, P5: the same wishes in another order and without the detours lead to the same end. */
async function judgeDirect(story: Story, seed: number, calm: RunResult): Promise<readonly string[]> {
  if (story.wants === undefined) return [];
  const random = seededRandom(seed + 5);
  const shuffled = calm.wanted
    .map((step) => ({ step, place: step.isFirst ? -1 : random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ step }, index) => ({ ...step, atMs: 2_000 + index * 100 }));
  const direct = await run({ story, seed, plan: [], script: shuffled });
  return [...direct.violations, ...differences(calm.state, direct.state).map((text) => `P5 ${text}`)];
}
