import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sleep } from "../env/env.ts";
import { consistently, eventually, settle } from "./eventually.ts";
import { manualEnv } from "./manual-env.ts";

describe("manual clock", () => {
  test("fires timers in order of time, then of setting, and lets what they wake run first", async () => {
    const env = manualEnv();
    const story: string[] = [];
    const at = (ms: number, name: string): (() => void) =>
      env.setTimer(ms, () => story.push(`${name}@${env.monotonicMs()}`));
    at(20, "later");
    at(10, "first");
    at(10, "second");
    at(15, "cancelled")();
    void sleep(env, 10).then(() => at(5, "nested"));
    await env.advance(30);
    assert.deepEqual(story, ["first@10", "second@10", "nested@15", "later@20"]);
    assert.equal(env.monotonicMs(), 30);
    assert.equal(env.pendingTimers, 0);
  });

  test("the wall clock moves with it, and can be set apart", async () => {
    const env = manualEnv({ start: new Date("2026-05-01T00:00:00Z") });
    await env.advance(1500);
    assert.equal(env.now().toISOString(), "2026-05-01T00:00:01.500Z");
    env.setWallClock(new Date("2020-01-01T00:00:00Z"));
    await env.advance(1000);
    assert.equal(env.now().toISOString(), "2020-01-01T00:00:01.000Z");
    assert.equal(env.monotonicMs(), 2500);
  });

  test("the same seed gives the same chance and the same ids", () => {
    const [one, same, other] = [manualEnv({ seed: 7 }), manualEnv({ seed: 7 }), manualEnv({ seed: 8 })];
    assert.equal(one.random(), same.random());
    const id = one.uuid();
    assert.equal(id, same.uuid());
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.notEqual(id, other.uuid());
  });

  test("a loop that never ends without time passing is stopped", async () => {
    const env = manualEnv();
    const again = (): void => void env.setTimer(0, again);
    again();
    await assert.rejects(env.flush(), /hot loop/);
  });
});

describe("waiting for things", () => {
  test("eventually moves the clock until the check holds, and fails with its last error", async () => {
    const env = manualEnv();
    let value = 0;
    env.setTimer(5000, () => value++);
    await eventually(env, () => assert.equal(value, 1));
    assert.equal(env.monotonicMs(), 5000);
    await assert.rejects(
      eventually(env, () => assert.equal(value, 2, "still one"), { withinMs: 1000 }),
      /still one/,
    );
  });

  test("consistently fails as soon as the check does not hold", async () => {
    const env = manualEnv();
    let value = 0;
    env.setTimer(500, () => value++);
    await consistently(env, () => assert.equal(value, 0), { forMs: 400 });
    await assert.rejects(consistently(env, () => assert.equal(value, 0), { forMs: 400 }));
  });

  test("settle waits for quiet, and gives up on what never is", async () => {
    const env = manualEnv();
    let value = 0;
    for (const atMs of [100, 4000, 8000]) env.setTimer(atMs, () => value++);
    assert.equal(await settle(env, () => value), 3);
    await assert.rejects(
      settle(env, () => env.monotonicMs(), { withinMs: 1000 }),
      /not quiet within 1000 ms/,
    );
  });
});
