import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { KubeObject } from "../kube/object.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { expireEvents } from "./event-expiry.ts";
import { createMemoryLog } from "./storage/commit-log.ts";
import { createSqliteLog } from "./storage/sqlite-log.ts";
import { Store } from "./storage/store.ts";

const minuteMs = 60_000;
const ttlMs = 60 * minuteMs;
const event = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Event", metadata: { name, namespace: "n" } });
const names = (store: Store): readonly string[] =>
  store
    .collection("events")
    .range()
    .map(({ key }) => key);

test("an Event goes an hour after it was last written, and nothing else does", async (context) => {
  const env = manualEnv();
  const store = new Store(env, createMemoryLog());
  context.after(() => store.close());
  context.after(expireEvents(env, store, ttlMs));
  await store.write("events", "n/once", undefined, event("once"));
  await store.write("events", "n/again", undefined, event("again"));
  await store.write("pods", "n/pod", undefined, event("pod"));
  await env.advance(30 * minuteMs);
  await store.write("events", "n/again", store.latest("events", "n/again"), event("again"));
  await env.advance(29 * minuteMs);
  assert.deepEqual(names(store), ["n/again", "n/once"]);
  await env.advance(2 * minuteMs);
  assert.deepEqual(names(store), ["n/again"]);
  await env.advance(30 * minuteMs);
  assert.deepEqual(names(store), []);
  assert.equal(store.collection("pods").size, 1);
});

test("watchers are told, as of every deletion", async (context) => {
  const env = manualEnv();
  const store = new Store(env, createMemoryLog());
  context.after(() => store.close());
  context.after(expireEvents(env, store, ttlMs));
  await store.write("events", "n/a", undefined, event("a"));
  await env.advance(ttlMs + minuteMs);
  const log = store.events("events");
  const last = log.at(log.end - 1);
  assert.ok(last && last !== "dropped");
  assert.equal(last.kind, "Deleted");
});

test("its age goes on while the server is not running", async (context) => {
  const env = manualEnv();
  const file = join(temporaryFolder(context), "api.db");
  const before = new Store(env, createSqliteLog(file));
  await before.write("events", "n/a", undefined, event("a"));
  await before.close();
  await env.advance(ttlMs - minuteMs);
  const after = new Store(env, createSqliteLog(file));
  context.after(() => after.close());
  context.after(expireEvents(env, after, ttlMs));
  assert.deepEqual(names(after), ["n/a"]);
  await env.advance(2 * minuteMs);
  // The disk takes real time, whatever the clock says.
  while (names(after).length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-expiry-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
