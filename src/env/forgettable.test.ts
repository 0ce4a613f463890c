import assert from "node:assert/strict";
import { test } from "node:test";
import { forgetEverything, forgettable } from "./forgettable.ts";

test("it is made once, and again only after it was forgotten", () => {
  let times = 0;
  const ask = forgettable(() => ({ times: ++times }));
  assert.equal(times, 0, "nobody has asked yet");
  const first = ask();
  assert.equal(ask(), first);
  forgetEverything();
  assert.equal(first.times, 1, "whoever has it goes on with it");
  assert.equal(ask().times, 2);
});

test("what is undefined is kept like anything else", () => {
  let times = 0;
  const ask = forgettable(() => void times++);
  ask();
  ask();
  assert.equal(times, 1);
});
