import assert from "node:assert/strict";
import { test } from "node:test";
import { manualEnv } from "../testing/manual-env.ts";
import { showProgress } from "./progress.ts";

test("who waits at a terminal is told every second, and the line is gone at the end", async () => {
  const env = manualEnv();
  const written: string[] = [];
  const progress = showProgress(env, { isTTY: true, write: (text) => written.push(text) }, "solving");
  await env.advance(2_000);
  progress.end();
  progress.end();
  await env.advance(5_000);
  assert.deepEqual(written, ["\r\u001b[Ksolving: 1 s", "\r\u001b[Ksolving: 2 s", "\r\u001b[K"]);
});

test("what is quick says nothing, and neither does a pipe", async () => {
  const env = manualEnv();
  const written: string[] = [];
  showProgress(env, { isTTY: true, write: (text) => written.push(text) }, "solving").end();
  showProgress(env, { write: (text) => written.push(text) }, "solving");
  await env.advance(5_000);
  assert.deepEqual(written, []);
});
