import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreEventKind } from "../../src/runtime/events.ts";
import { type Activity, activities, prepare, type Stage } from "./activity.ts";
import { type Demo, startDemo } from "./demo.ts";
import { openStage } from "./stage.ts";
import type { Sample } from "./trend.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** 2: everything happens twice as often. */
  readonly pace: number;
  readonly onSample?: (sample: Sample) => void;
  /** Where to write what the heap holds before the first look and after the last. */
  readonly snapshotFolder?: string;
}

export interface Soaked {
  readonly samples: readonly Sample[];
  /** How often each activity was done. */
  readonly done: Readonly<Record<string, number>>;
  readonly events: number;
}

const sampleCount = 60;
/**
 * Before anything is looked at: Events go after a while, and after another while nobody remembers that they were there; and
 * memories that have a bound fill. What usually happens in an hour does that.
 */
const warmUpSeconds = 3_600;
/** A page is left open for a while, closed, and opened again. */
const lookMs = 45_000;

/** Runs the demo with everything going on; samples begin after the warming up. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { pace } = options;
  const keptSeconds = 300 / pace;
  const demo = await startDemo(keptSeconds);
  const { stage, close } = await openStage(demo, lookMs / pace);
  const stopping = new AbortController();
  const done: Record<string, number> = {};
  try {
    await prepare(stage);
    const running = activities.map((activity) => repeat(activity, stage, pace, stopping.signal, done));
    // What fails is known at once, not after an hour.
    const failed = Promise.all(running).then(() => undefined);
    const samples = await Promise.race([takeSamples(demo, options), failed.then(() => [] as readonly Sample[])]);
    const { items } = await stage.client.list(CoreEventKind);
    stopping.abort();
    await failed;
    return { samples, done, events: items.length };
  } finally {
    stopping.abort();
    await close();
    await demo.stop();
  }
}

async function takeSamples(
  demo: Demo,
  { minutes, pace, onSample, snapshotFolder }: SoakOptions,
): Promise<readonly Sample[]> {
  const snapshot = async (name: string): Promise<void> => {
    if (snapshotFolder !== undefined) await demo.writeHeapSnapshot(join(snapshotFolder, `${name}.heapsnapshot`));
  };
  const samples: Sample[] = [];
  await pause((warmUpSeconds / pace) * 1_000);
  await snapshot("first");
  const startedAt = performance.now();
  while (samples.length < sampleCount) {
    await pause((minutes * 60_000) / sampleCount);
    const sample = await demo.sample((performance.now() - startedAt) / 60_000);
    samples.push(sample);
    onSample?.(sample);
  }
  await snapshot("last");
  return samples;
}

async function repeat(
  { name, everyMs, run }: Activity,
  stage: Stage,
  pace: number,
  signal: AbortSignal,
  done: Record<string, number>,
): Promise<void> {
  let failures: unknown[] = [];
  for (let turn = 0; !signal.aborted; turn++) {
    try {
      await run(stage, turn, signal);
      failures = [];
    } catch (error) {
      // A connection may break while a busy machine collects garbage; what fails again and again is a fault.
      failures.push(error);
      if (failures.length > maxFailuresInARow && !signal.aborted)
        throw new AggregateError(failures, `${name}, turn ${turn}: failed ${failures.length} times in a row`);
    }
    done[name] = turn + 1;
    await pause(everyMs / pace, signal);
  }
}

const maxFailuresInARow = 3;

const pause = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  sleep(delayMs, undefined, signal && { signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
  });
