import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../env/env.ts";
import { WholeBody } from "../http/body.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { serverClock } from "./server-clock.ts";

const hourMs = 3_600_000;

/** A server whose clock differs from ours, and how far our idea of its time is from it. */
function scene({
  aheadMs = 0,
  answersAfterMs = 10,
  date,
}: {
  aheadMs?: number;
  answersAfterMs?: number;
  date?: string;
}) {
  const env = manualEnv();
  // Apart from the wall clock of the process, which a test may step.
  const startedAt = env.now().getTime();
  const serverNow = (): Date => new Date(startedAt + env.monotonicMs() + aheadMs);
  const skews: number[] = [];
  const clock = serverClock({
    env,
    transport: async () => {
      await sleep(env, answersAfterMs);
      return { status: 200, headers: { date: date ?? serverNow().toUTCString() }, body: new WholeBody("{}") };
    },
    onSkew: (skewMs) => skews.push(skewMs),
  });
  const ask = async (): Promise<void> => {
    const answer = clock.transport({ method: "GET", target: "/", headers: {} });
    await env.advance(answersAfterMs + 1);
    await answer;
  };
  const errorMs = (): number => clock.now().getTime() - serverNow().getTime();
  return { env, clock, skews, ask, errorMs };
}

for (const [name, aheadMs] of [
  ["ahead of us", hourMs],
  ["behind us", -hourMs],
] as const)
  test(`a server that is an hour ${name} has told us so with its first answer`, async () => {
    const { ask, errorMs, skews } = scene({ aheadMs });
    assert.equal(errorMs(), -aheadMs);
    await ask();
    assert.ok(Math.abs(errorMs()) <= 1_011, `${errorMs()} ms`);
    assert.equal(skews.length, 1);
    assert.ok(Math.abs((skews[0] ?? 0) - aheadMs) <= 1_011);
  });

test("answers that agree with us move nothing, at whatever moment of a second they come", async () => {
  const { env, ask, errorMs, skews } = scene({ aheadMs: 0 });
  for (let turn = 0; turn < 40; turn++) {
    await env.advance(370);
    await ask();
    assert.equal(errorMs(), 0);
  }
  assert.deepEqual(skews, []);
});

test("a wall clock that is stepped is not followed, not even until the next answer", async () => {
  const { env, ask, errorMs } = scene({});
  await ask();
  for (const byMs of [-hourMs, hourMs, hourMs]) {
    env.setWallClock(new Date(env.now().getTime() + byMs));
    assert.equal(errorMs(), 0);
  }
});

test("an answer that was long on its way says less, and never that time goes back", async () => {
  const { ask, errorMs } = scene({ answersAfterMs: 60_000 });
  await ask();
  assert.equal(errorMs(), 0);
});

for (const date of ["", "yesterday"])
  test(`a date that is none (${JSON.stringify(date)}) is passed over`, async () => {
    const { ask, errorMs } = scene({ date });
    await ask();
    assert.equal(errorMs(), 0);
  });
