import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Pod } from "../../api/builtin/pod.ts";
import type { PodLogQuery } from "../../apiserver/subresources/log.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { LogStore } from "./log-store.ts";
import { podLogsFrom } from "./pod-logs.ts";

function open(context: TestContext, maxBytesPerFile = 10_000) {
  const folder = mkdtempSync(join(tmpdir(), "capstan-logs-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const env = manualEnv();
  const store = new LogStore({ env, folderOf: (uid, container) => join(folder, uid, container), maxBytesPerFile });
  return { env, store, files: () => readdirSync(join(folder, "u", "c", "logs")).sort() };
}

const query = (
  restartCount: number,
  extra: Partial<PodLogQuery> = {},
  state: object = { running: {} },
): PodLogQuery => {
  const status = {
    name: "c",
    ready: true,
    restartCount,
    image: "",
    imageID: "",
    state,
    lastState: restartCount > 0 ? { terminated: { exitCode: 1 } } : {},
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", uid: "u" },
    spec: { containers: [] },
    status: { containerStatuses: [status] },
  } as Pod;
  return { pod, container: "c", follow: false, previous: false, timestamps: false, ...extra };
};

async function textOf(answer: ReturnType<ReturnType<typeof podLogsFrom>>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("output becomes lines, whatever pieces it comes in", async (context) => {
  const { env, store } = open(context);
  const log = store.begin("u", "c", 0);
  for (const piece of ["on", "e\ntwo\nth", "ree"]) log.write("stdout", piece);
  const logs = podLogsFrom(env, store);
  assert.equal(await textOf(logs(query(0))), "one\ntwo\n");
  log.close();
  assert.equal(await textOf(logs(query(0))), "one\ntwo\nthree\n");
});

test("a reader may ask for the end, for what is young, and for so many bytes", async (context) => {
  const { env, store } = open(context);
  const log = store.begin("u", "c", 0);
  log.write("stdout", "old\n");
  await env.advance(60_000);
  log.write("stdout", "young\nyoungest\n");
  const logs = podLogsFrom(env, store);
  assert.equal(await textOf(logs(query(0, { tailLines: 1 }))), "youngest\n");
  assert.equal(await textOf(logs(query(0, { tailLines: 0 }))), "");
  assert.equal(await textOf(logs(query(0, { sinceSeconds: 30 }))), "young\nyoungest\n");
  assert.equal(await textOf(logs(query(0, { sinceTime: "2026-01-01T00:00:30Z" }))), "young\nyoungest\n");
  assert.equal(await textOf(logs(query(0, { limitBytes: 6 }))), "old\nyo");
  assert.equal(await textOf(logs(query(0, { tailLines: 1, timestamps: true }))), "2026-01-01T00:01:00.000Z youngest\n");
});

test("following shows what was there and what comes, and ends with the run", async (context) => {
  const { env, store } = open(context);
  const log = store.begin("u", "c", 0);
  log.write("stdout", "before\n");
  const following = textOf(podLogsFrom(env, store)(query(0, { follow: true })));
  log.write("stdout", "after\n");
  log.write("stderr", "last");
  log.close();
  assert.equal(await following, "before\nafter\nlast\n");
});

test("a reader who goes away while following leaves nothing behind", async (context) => {
  const { env, store } = open(context);
  const log = store.begin("u", "c", 0);
  log.write("stdout", "x\n");
  const gone = new AbortController();
  const following = textOf(podLogsFrom(env, store)(query(0, { follow: true, signal: gone.signal })));
  await env.flush();
  gone.abort();
  assert.equal(await following, "x\n");
});

test("the run before can be read, and one before that cannot", async (context) => {
  const { env, store, files } = open(context);
  for (const run of [0, 1, 2]) {
    const log = store.begin("u", "c", run);
    log.write("stdout", `run ${run}\n`);
    log.close();
  }
  const logs = podLogsFrom(env, store);
  assert.deepEqual(files(), ["1.log", "2.log"]);
  assert.equal(await textOf(logs(query(2))), "run 2\n");
  assert.equal(await textOf(logs(query(2, { previous: true }))), "run 1\n");
  assert.equal(
    await textOf(logs(query(2, { previous: true }, { waiting: { reason: "CrashLoopBackOff" } }))),
    "run 2\n",
  );
});

test("a log does not grow beyond its bounds", async (context) => {
  const { store, files } = open(context, 1_000);
  const log = store.begin("u", "c", 0);
  for (let line = 0; line < 1_000; line++) log.write("stdout", `line ${line}\n`);
  const lines = store.read("u", "c", 0) ?? [];
  assert.deepEqual(files(), ["0.log", "0.log.old"]);
  assert.equal(lines.at(-1)?.text, "line 999");
  assert.ok(lines.length < 100 && lines.length > 20, `${lines.length} lines are kept`);
});

test("a container that has not started has no log, and says why", async (context) => {
  const { env, store } = open(context);
  const logs = podLogsFrom(env, store);
  const waiting = { waiting: { reason: "ContainerCreating" } };
  assert.throws(() => logs(query(0, {}, waiting)), /container "c" in pod "p" is waiting to start: ContainerCreating/);
  assert.throws(() => logs(query(0, { previous: true })), /previous terminated container "c" in pod "p" not found/);
});
