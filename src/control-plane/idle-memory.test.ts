import assert from "node:assert/strict";
import { test } from "node:test";
import type { Env } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import { type MemoryProbe, returnIdleMemory } from "./idle-memory.ts";

const megabyte = 1024 * 1024;

/** A program whose heap and processor time are what a test says, with one timer. */
function world() {
  let nowMs = 0;
  let timer: (() => void) | undefined;
  const state = { heapMegabytes: 40, processorMs: 0, collections: 0 };
  const env: Env = {
    ...systemEnv,
    monotonicMs: () => nowMs,
    setTimer(_delayMs, callback) {
      timer = callback;
      return () => {
        timer = undefined;
      };
    },
  };
  const probe: MemoryProbe = {
    heapBytes: () => state.heapMegabytes * megabyte,
    processorMs: () => state.processorMs,
    collect() {
      state.collections++;
      state.heapMegabytes = 30;
    },
  };
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second += 10) {
      nowMs += 10_000;
      timer?.();
    }
  };
  return { env, probe, state, pass, isOver: () => timer === undefined };
}

test("garbage is collected once when the program is idle, and not again without new garbage", () => {
  const { env, probe, state, pass } = world();
  returnIdleMemory(env, probe);
  pass(10);
  assert.equal(state.collections, 1);
  pass(3600);
  assert.equal(state.collections, 1);
});

test("a busy program is left alone until it is idle", () => {
  const { env, probe, state, pass } = world();
  returnIdleMemory(env, probe);
  for (let i = 0; i < 10; i++) {
    state.processorMs += 2000;
    pass(10);
  }
  assert.equal(state.collections, 0);
  pass(10);
  assert.equal(state.collections, 1);
});

test("new garbage is collected again after a rest", () => {
  const { env, probe, state, pass } = world();
  returnIdleMemory(env, probe);
  pass(10);
  state.heapMegabytes = 100;
  pass(50);
  assert.equal(state.collections, 1);
  pass(20);
  assert.equal(state.collections, 2);
});

test("it ends", () => {
  const { env, probe, isOver } = world();
  returnIdleMemory(env, probe)();
  assert.ok(isOver());
});

test("a real collection gives real memory back", () => {
  let look: (() => void) | undefined;
  const env: Env = {
    ...systemEnv,
    setTimer(_delayMs, callback) {
      look = callback;
      return () => {};
    },
  };
  let garbage: unknown[] = [];
  for (let i = 0; i < 800_000; i++) garbage.push({ i });
  returnIdleMemory(env);
  const before = process.memoryUsage().heapTotal;
  garbage = [];
  look?.();
  assert.ok(process.memoryUsage().heapTotal < before, `${before} stayed ${process.memoryUsage().heapTotal}`);
  assert.equal(garbage.length, 0);
});
