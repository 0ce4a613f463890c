import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { choiceGaps } from "./minecraft-gaps/choices.ts";
import { installationGaps } from "./minecraft-gaps/installation.ts";
import { toldGaps } from "./minecraft-gaps/told.ts";
import { updateGaps } from "./minecraft-gaps/updates.ts";

/** What the original Minecraft operator leaves open, each closed and shown here. */
const gaps = [...choiceGaps, ...installationGaps, ...toldGaps, ...updateGaps];

describe("a gap of the original operator is closed", { concurrency: 4 }, () => {
  for (const { number, says, prove } of gaps) it(`${number}: ${says}`, (context) => prove(context));

  it("each of them once", () => {
    const numbers = [...Array.from({ length: 26 }, (_, index) => `B${index + 1}`), "B8b"];
    assert.deepEqual(gaps.map(({ number }) => number).sort(), numbers.sort());
  });
});
