import { seededRandom } from "../../src/testing/seeded.ts";
import { type EndState, endState } from "./end-state.ts";
import { LiveObjects } from "./live-objects.ts";
import { letGo } from "./meddle.ts";
import type { Mutation } from "./mutation.ts";
import { faultsUntilMs, type Plan } from "./plan.ts";
import { applyPlan } from "./play-faults.ts";
import { isPlane, restingProperties, watchProperties } from "./properties.ts";
import { advance, Overrun, rest, restartQuietly } from "./rest.ts";
import { type SimulatedApi, startSimulatedApi } from "./simulated-api.ts";
import { Stage } from "./stage.ts";
import type { Step, Story } from "./story.ts";
import { wantedOf } from "./wishes.ts";

/** One world: a seed decides what the user does, the plan what goes wrong. */
export interface RunOptions {
  readonly story: Story;
  readonly seed: number;
  readonly plan: Plan;
  readonly mutation?: Mutation;
  /** In place of the story's own. */
  readonly script?: readonly Step[];
}

export interface RunResult {
  /** Equal for equal options, always. */
  readonly digest: string;
  readonly violations: readonly string[];
  readonly state: EndState;
  /** `DELETE capabilitybindings/x` by the plane. */
  readonly deletes: ReadonlySet<string>;
  /** Writes of the first replica, and of both: the crash points. */
  readonly writes: number;
  readonly planeWrites: number;
  /** Crash points at which a process ended. */
  readonly crashes: readonly string[];
  readonly requests: number;
  /** What the user wants at the end, to be asked for directly. */
  readonly wanted: readonly Step[];
}

export async function run(options: RunOptions): Promise<RunResult> {
  const { story, seed, plan } = options;
  const api = await startSimulatedApi(seed, story.groups);
  const live = new LiveObjects();
  const violations = watchProperties(story, api, live);
  api.journal.onWrite((write) => live.apply(write));
  const stage = new Stage(api, options);
  const outcome = async (): Promise<Pick<RunResult, "state" | "wanted">> => {
    if (story.setUp) await api.finish(story.setUp(api.clientOf("installer"), api));
    stage.start();
    await play(api, stage, options.script ?? story.script(seededRandom(seed)), plan, options);
    violations.push(...(await rest(api, stage, story.quietMs)));
    const checker = api.clientOf("checker");
    violations.push(...(await api.finish(restingProperties(story, checker, api))));
    const state = await api.finish(endState(story, checker));
    const wanted = await api.finish(wantedOf(story, checker, api.journal));
    violations.push(...(await restartQuietly(api, stage, story)));
    return { state, wanted };
  };
  try {
    const ended = await outcome().catch((error: unknown) => {
      if (!(error instanceof Overrun)) throw error;
      violations.push(`P20 ${error.message}`);
      return { state: new Map(), wanted: [] };
    });
    return {
      digest: api.journal.digest,
      violations,
      ...ended,
      deletes: new Set(
        api.journal.writes
          .filter(({ who, method }) => isPlane(who) && method === "DELETE")
          .map(({ resource, name }) => `${resource}/${name}`),
      ),
      writes: stage.writesOf("plane-a"),
      planeWrites: stage.planeWrites,
      crashes: stage.crashes,
      requests: api.journal.requests,
    };
  } finally {
    stage.end();
    await api.close();
  }
}

/** The user's steps and the faults that have a time, in the order of time. */
async function play(
  api: SimulatedApi,
  stage: Stage,
  script: readonly Step[],
  plan: Plan,
  options: RunOptions,
): Promise<void> {
  const faults = applyPlan(plan, stage, options.story);
  const moments = [...script.map((step) => ({ atMs: step.atMs, run: () => step.run(stage.user, api) })), ...faults];
  const startMs = api.env.monotonicMs();
  for (const { atMs, run: act } of moments.sort((one, other) => one.atMs - other.atMs)) {
    const waitMs = startMs + atMs - api.env.monotonicMs();
    if (waitMs > 0) await advance(api, waitMs);
    await api.finish(Promise.resolve(act()));
  }
  const leftMs = startMs + faultsUntilMs + 15_000 - api.env.monotonicMs();
  if (leftMs > 0) await advance(api, leftMs);
  for (const process of stage.plane) {
    process.clock.thaw();
    process.wire.heal();
  }
  await api.finish(letGo(stage, options.story));
}
