import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { crashAgainAndAgain } from "./crash.ts";

describe("kill -9 under load", () => {
  it("loses nothing that was acknowledged, ten times", { timeout: 120_000 }, async (t) => {
    const seed = process.pid;
    const { acknowledged } = await crashAgainAndAgain(10, seed);
    t.diagnostic(`seed ${seed}: ${acknowledged} objects written and found`);
    assert.ok(acknowledged > 50, `only ${acknowledged} objects were written`);
  });
});
