/** Nothing of what came and went stays in the heap of the whole demo. The soak shows hours; this shows a mistake in a minute. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { prepare } from "./activity.ts";
import { type Demo, startDemo } from "./demo.ts";
import { allLeave, comeAndGo, objectBytes } from "./passing.ts";
import { openStage } from "./stage.ts";

const turns = 60;
/** Events, and the API's memory of changes, go after so many seconds. */
const keptSeconds = 3;
const lookMs = 1_000;
/**
 * With each turn come a world, an action and a ConfigMap, and something is remembered of them for a while: digests of events
 * and applies, uids, a service that may come back within the hour. That is a few kilobytes; one object kept whole is more.
 */
const maxBytesPerTurn = objectBytes / 2;

test("what came and went leaves nothing in the heap", { timeout: 400_000 }, async (context) => {
  const demo = await startDemo(keptSeconds);
  context.after(() => demo.stop());
  const { stage, close } = await openStage(demo, lookMs);
  context.after(close);
  await prepare(stage);
  const bytesAfter = async (from: number): Promise<number> => {
    await comeAndGo(stage, from, turns, context.signal);
    await allLeave(stage, from + turns);
    return settledBytes(demo);
  };
  // The first ones also bring code and caches into the heap, which stay.
  const warm = await bytesAfter(0);
  const first = await bytesAfter(turns);
  const second = await bytesAfter(2 * turns);
  const perTurn = [first - warm, second - first].map((bytes) => Math.round(bytes / turns));
  context.diagnostic(`bytes left of each turn: ${perTurn.join(", ")}`);
  // A leak is there both times; what else moves the heap, like code that the engine has just made faster, is not.
  assert.ok(Math.min(...perTurn) < maxBytesPerTurn, `bytes left of each turn: ${perTurn.join(", ")}`);
});

/** The least of several looks: what is still under way goes within seconds. */
async function settledBytes(demo: Demo): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < looks; look++) {
    await sleep(keptSeconds * 1_000);
    least = Math.min(least, await demo.liveBytes());
  }
  return least;
}

const looks = 4;
