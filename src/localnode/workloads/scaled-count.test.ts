import assert from "node:assert/strict";
import { test } from "node:test";
import { rollingLimits, scaledCount } from "./scaled-count.ts";

const counts: readonly [string, number | string | undefined, number, "up" | "down", number][] = [
  ["a number is itself", 3, 10, "up", 3],
  ["a share of ten", "25%", 10, "up", 3],
  ["a share of ten, rounded down", "25%", 10, "down", 2],
  ["all", "100%", 7, "down", 7],
  ["nothing of something", "0%", 7, "up", 0],
  ["some of nothing", "50%", 0, "up", 0],
  ["nothing given", undefined, 7, "up", 0],
];

for (const [name, value, total, round, expected] of counts) {
  test(`scaled count: ${name}`, () => assert.equal(scaledCount(value, total, round), expected));
}

test("a rolling update can always move", () => {
  assert.deepEqual(rollingLimits({ maxSurge: 0, maxUnavailable: "10%" }, 5), { maxSurge: 0, maxUnavailable: 1 });
  assert.deepEqual(rollingLimits({ maxSurge: "25%", maxUnavailable: "25%" }, 3), { maxSurge: 1, maxUnavailable: 0 });
});
