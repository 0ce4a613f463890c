import type { Client } from "../../src/client/client.ts";
import { seededRandom } from "../../src/testing/seeded.ts";
import { type EndState, endState } from "./end-state.ts";
import { describeWrite, isOfInterest, type Journal } from "./journal.ts";
import { LiveObjects } from "./live-objects.ts";
import { letGo } from "./meddle.ts";
import type { Mutation } from "./mutation.ts";
import { faultsUntilMs, type Plan } from "./plan.ts";
import { applyPlan } from "./play-faults.ts";
import { foreignAnnotation, isPlane, restingProperties, watchProperties } from "./properties.ts";
import { type SimulatedApi, startSimulatedApi } from "./simulated-api.ts";
import { Stage } from "./stage.ts";
import type { Step, Story } from "./story.ts";

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
  /** Writes of the first replica: its crash points. */
  readonly writes: number;
  readonly crashes: number;
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
    if (story.setUp) await api.finish(story.setUp(api.clientOf("installer")));
    stage.start();
    await play(api, stage, options.script ?? story.script(seededRandom(seed)), plan, options);
    violations.push(...(await rest(api, stage)));
    const checker = api.clientOf("checker");
    violations.push(...(await api.finish(restingProperties(story, checker))));
    const state = await api.finish(endState(story, checker));
    const wanted = await api.finish(wantedOf(story, checker, api.journal));
    violations.push(...(await restartQuietly(api, stage)));
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
  const moments = [...script.map((step) => ({ atMs: step.atMs, run: () => step.run(stage.user) })), ...faults];
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

/** A plane that never stops writing would keep the simulation for hours. */
async function advance(api: SimulatedApi, durationMs: number): Promise<void> {
  for (let leftMs = durationMs; leftMs > 0; leftMs -= sliceMs) {
    await api.env.advance(Math.min(sliceMs, leftMs));
    const { length } = api.journal.writes;
    if (length > maxWrites) throw new Overrun(`${length} writes in one run`);
  }
}

class Overrun extends Error {}
const sliceMs = 2_000;
const maxWrites = 1_500;

/** P1: after the last fault the plane comes to rest, and then nothing is written for longer than it lists again. */
async function rest(api: SimulatedApi, stage: Stage): Promise<readonly string[]> {
  const deadlineMs = api.env.monotonicMs() + restWithinMs;
  for (let last = -1; ; ) {
    const { writes } = api.journal;
    const quietSince = writes.findLastIndex((write) => isOfInterest(write) && isPlane(write.who));
    if (quietSince === last) return [];
    if (api.env.monotonicMs() > deadlineMs) {
      const latest = writes.slice(-5).map(describeWrite).join("; ");
      return [`P1 no rest within ${restWithinMs / 60_000} minutes; the last writes: ${latest}`];
    }
    last = quietSince;
    for (const process of stage.plane) process.wire.heal();
    const before = reconcilesOf(stage);
    await advance(api, quietMs);
    const reconciles = reconcilesOf(stage) - before;
    if (reconciles > maxReconcilesAtRest) return [`P20 ${reconciles} reconciles in ${quietMs / 60_000} quiet minutes`];
  }
}

/** P2: processes that begin anew find everything as they would make it. */
async function restartQuietly(api: SimulatedApi, stage: Stage): Promise<readonly string[]> {
  const before = api.journal.writes.length;
  for (const process of stage.plane) process.kill();
  await advance(api, 60_000);
  const more = api.journal.writes.slice(before).filter((write) => isOfInterest(write) && isPlane(write.who));
  return more.map((write) => `P2 a new process writes what was there already (${describeWrite(write)})`);
}

const reconcilesOf = (stage: Stage): number =>
  stage.plane.flatMap(({ manager }) => manager.controllers).reduce((sum, { reconciles }) => sum + reconciles, 0);

/** Every object is looked at again after each list, and some ask for it; nobody polls. */
const maxReconcilesAtRest = 300;
const restWithinMs = 3_600_000;
const quietMs = 180_000;

/** What the user's objects say at the end, as steps that ask for exactly that. */
async function wantedOf(story: Story, client: Client, { writes }: Journal): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const asked = new Set(writes.filter(({ who }) => who === "user").map(({ resource, name }) => `${resource}/${name}`));
  for (const kind of story.wants ?? [])
    for (const object of (await client.list(kind, { namespace: "default" })).items) {
      const { name, namespace, labels, annotations } = object.metadata;
      if (!asked.has(`${kind.plural}/${name}`)) continue;
      const metadata = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
      const { status: _, ...rest } = object as typeof object & { readonly status?: unknown };
      steps.push({
        atMs: 2_000 + steps.length,
        what: `create ${kind.kind} ${name}`,
        isFirst: annotations?.[foreignAnnotation] === "true",
        run: (user) => user.create(kind, { ...rest, metadata } as never),
      });
    }
  return steps;
}
