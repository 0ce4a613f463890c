/** The demo with everything going on, at ten times the pace: what it keeps must not grow. `npm run bench -- soak` runs it for hours. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { soak } from "../../bench/soak/run.ts";
import { trendsOf } from "../../bench/soak/trend.ts";

const minutes = 3;
const pace = 10;

test("a demo in which things come, change, fail and go keeps no more at the end than at the beginning", {
  skip: process.platform === "linux" ? false : "/proc is where it is measured",
  timeout: 1_200_000,
}, async (context) => {
  const { samples, done, events } = await soak({ minutes, pace });
  const trends = trendsOf(samples);
  for (const { measure, first, last } of trends)
    context.diagnostic(`${measure}: ${first.toFixed(1)} in the first quarter, ${last.toFixed(1)} in the last`);
  context.diagnostic(`${events} Events are kept`);
  for (const [name, count] of Object.entries(done)) assert.ok(count > 3, `${name}: ${count} times`);
  assert.deepEqual(
    trends.filter(({ grows }) => grows),
    [],
  );
});
