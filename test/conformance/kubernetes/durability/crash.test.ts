import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { crashAgainAndAgain } from "./crash.ts";
import { killCreatesUnderQuota } from "./quota.ts";

describe("kill -9 under load", () => {
  it("loses nothing that was acknowledged, ten times", { timeout: 120_000 }, async (t) => {
    const seed = process.pid;
    const { acknowledged } = await crashAgainAndAgain(10, seed);
    t.diagnostic(`seed ${seed}: ${acknowledged} objects written and found`);
    assert.ok(acknowledged > 50, `only ${acknowledged} objects were written`);
  });

  it("counts right what a quota counts, and admits no more than it allows", { timeout: 120_000 }, async (t) => {
    const seed = process.pid;
    const { admitted, refused } = await killCreatesUnderQuota(4, seed);
    t.diagnostic(`seed ${seed}: ${admitted} admitted, ${refused} refused`);
    assert.ok(admitted > 40 && refused > 0, `${admitted} admitted, ${refused} refused`);
  });
});
