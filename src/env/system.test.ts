import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEnv, wakefulEnv } from "./system.ts";
import { collectEverywhere } from "./threads.ts";

const envs = { systemEnv, wakefulEnv };
for (const [name, env] of Object.entries(envs)) {
  test(`${name}: a timer that was cancelled leaves nothing behind, however long it would have run`, async () => {
    const setAndCancel = async (first: number): Promise<void> => {
      for (let index = 0; index < timers; index++) env.setTimer(first + index, () => undefined)();
      await new Promise<void>((resolve) => wakefulEnv.setTimer(1, resolve));
    };
    await setAndCancel(7_200_000);
    const before = heapUsed();
    for (let round = 1; round <= rounds; round++) await setAndCancel(7_200_000 + round * timers);
    const bytesEach = (heapUsed() - before) / (timers * rounds);
    assert.ok(bytesEach < 30, `${bytesEach} bytes each`);
  });

  test(`${name}: a timer fires once, and one that was cancelled does not`, async () => {
    const fired: string[] = [];
    const cancel = env.setTimer(1, () => fired.push("cancelled"));
    cancel();
    await new Promise<void>((resolve) => {
      env.setTimer(5, () => fired.push("first"));
      wakefulEnv.setTimer(30, resolve);
    });
    cancel();
    assert.deepEqual(fired, ["first"]);
  });
}

const timers = 5_000;
const rounds = 10;

function heapUsed(): number {
  collectEverywhere();
  return process.memoryUsage().heapUsed;
}
