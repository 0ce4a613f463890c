import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { crashAgainAndAgain } from "./crash.ts";
import { killCreatesUnderQuota } from "./quota.ts";

describe("kill -9 under load, for long", () => {
  it("loses nothing that was acknowledged, a hundred times", { timeout: 900_000 }, async (t) => {
    const seed = process.pid;
    const { acknowledged } = await crashAgainAndAgain(100, seed);
    t.diagnostic(`seed ${seed}: ${acknowledged} objects written and found`);
    assert.ok(acknowledged > 600, `only ${acknowledged} objects were written`);
  });

  it("counts right what a quota counts, forty times", { timeout: 900_000 }, async (t) => {
    const seed = process.pid;
    const { admitted, refused } = await killCreatesUnderQuota(40, seed);
    t.diagnostic(`seed ${seed}: ${admitted} admitted, ${refused} refused`);
    assert.ok(admitted > 400 && refused > 0, `${admitted} admitted, ${refused} refused`);
  });
});
