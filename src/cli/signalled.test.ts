import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { manualEnv } from "../testing/manual-env.ts";
import { signalled } from "./signalled.ts";

function startedProcess() {
  const env = manualEnv();
  const emitter = new EventEmitter();
  const exits: number[] = [];
  const asked = signalled(
    { on: (signal, listener) => emitter.on(signal, listener), exit: (code) => void exits.push(code) },
    env,
  );
  return { env, emitter, exits, asked };
}

test("one Ctrl-C that arrives twice, from the terminal and from whoever started us, is one wish to stop", async () => {
  const { env, emitter, exits, asked } = startedProcess();
  emitter.emit("SIGINT");
  await asked;
  emitter.emit("SIGINT");
  await env.advance(900);
  emitter.emit("SIGTERM");
  assert.deepEqual(exits, []);
});

test("asked again later, it ends at once", async () => {
  const { env, emitter, exits, asked } = startedProcess();
  emitter.emit("SIGTERM");
  await asked;
  await env.advance(1_001);
  emitter.emit("SIGINT");
  assert.deepEqual(exits, [130]);
});
