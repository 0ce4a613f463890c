import assert from "node:assert/strict";
import { test } from "node:test";
import { manualEnv } from "../../testing/manual-env.ts";
import { createPatience } from "./patience.ts";

test("a server that answers slowly is waited for, and one that falls silent is not", async () => {
  const env = manualEnv();
  const { signal, heard } = createPatience(env, 20_000);
  for (let answers = 0; answers < 5; answers++) {
    await env.advance(15_000);
    heard();
  }
  assert.equal(signal.aborted, false);
  await env.advance(20_001);
  assert.equal(signal.aborted, true);
});

test("nobody is left waiting when all is answered", () => {
  const env = manualEnv();
  const patience = createPatience(env, 20_000);
  patience.heard();
  patience.end();
  assert.equal(env.pendingTimers, 0);
});
