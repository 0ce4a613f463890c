import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { manualEnv } from "../testing/manual-env.ts";
import { MetricsRegistry } from "./metrics.ts";
import { lowPriority, WorkQueue } from "./queue.ts";

const taken = (queue: WorkQueue): string[] => {
  const keys: string[] = [];
  for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) keys.push(item.key);
  return keys;
};

describe("work queue", () => {
  test("a key that waits twice is handed out once", () => {
    const queue = new WorkQueue({ env: manualEnv(), name: "q" });
    assert.deepEqual(
      ["a", "b", "a"].map((key) => queue.add(key)),
      ["Added", "Added", "Merged"],
    );
    assert.deepEqual(taken(queue), ["a", "b"]);
  });

  test("a key in work is handed out again only after done", () => {
    const queue = new WorkQueue({ env: manualEnv(), name: "q" });
    queue.add("a");
    queue.tryGet();
    queue.add("a");
    assert.equal(queue.tryGet(), undefined);
    queue.done("a");
    assert.equal(queue.tryGet()?.key, "a");
  });

  test("higher priority first, then in order of arrival; the initial list comes last", () => {
    const queue = new WorkQueue({ env: manualEnv(), name: "q" });
    queue.add("listed-1", { priority: lowPriority });
    queue.add("listed-2", { priority: lowPriority });
    queue.add("changed-1");
    queue.add("urgent", { priority: 10 });
    queue.add("changed-2");
    assert.deepEqual(taken(queue), ["urgent", "changed-1", "changed-2", "listed-1", "listed-2"]);
  });

  test("a key of the initial list that changes moves up", () => {
    const queue = new WorkQueue({ env: manualEnv(), name: "q" });
    queue.add("listed-1", { priority: lowPriority });
    queue.add("listed-2", { priority: lowPriority });
    queue.add("listed-2");
    assert.deepEqual(taken(queue), ["listed-2", "listed-1"]);
  });

  test("the shorter delay wins on re-add", async () => {
    const env = manualEnv();
    const queue = new WorkQueue({ env, name: "q" });
    queue.add("a", { afterMs: 1000 });
    queue.add("a", { afterMs: 100 });
    queue.add("a", { afterMs: 5000 });
    await env.advance(99);
    assert.equal(queue.tryGet(), undefined);
    await env.advance(1);
    assert.equal(queue.tryGet()?.key, "a");
    queue.done("a");
    await env.advance(10_000);
    assert.equal(queue.tryGet(), undefined);
  });

  test("back-off doubles from 5 ms to 1000 s and starts anew after forget", async () => {
    const env = manualEnv();
    const queue = new WorkQueue({ env, name: "q", retryBucket: null });
    for (const expectedMs of [5, 10, 20, 40, 80]) {
      queue.addRateLimited("a");
      await env.advance(expectedMs - 1);
      assert.equal(queue.tryGet(), undefined, `too early before ${expectedMs} ms`);
      await env.advance(1);
      assert.equal(queue.tryGet()?.key, "a");
      queue.done("a");
    }
    for (let attempt = 0; attempt < 15; attempt++) {
      queue.addRateLimited("a");
      await env.advance(1_000_000);
      assert.equal(queue.tryGet()?.key, "a", "never longer than 1000 s");
      queue.done("a");
    }
    assert.equal(queue.failures("a"), 20);
    queue.forget("a");
    queue.addRateLimited("a");
    await env.advance(4);
    assert.equal(queue.readyLength, 0);
    await env.advance(1);
    assert.equal(queue.readyLength, 1);
  });

  test("the overall bucket lets 100 retries through at once and then 10 a second", async () => {
    const env = manualEnv();
    const queue = new WorkQueue({ env, name: "q" });
    for (let index = 0; index < 120; index++) queue.addRateLimited(`key-${index}`);
    await env.advance(5);
    assert.equal(queue.readyLength, 100);
    await env.advance(1000 - 5);
    assert.equal(queue.readyLength, 110);
    await env.advance(1000);
    assert.equal(queue.readyLength, 120);
  });

  test("long delays that are overtaken again and again leave nothing behind", async () => {
    const env = manualEnv();
    const queue = new WorkQueue({ env, name: "q" });
    for (let index = 0; index < 20_000; index++) {
      queue.add("a", { afterMs: 36_000_000 });
      queue.add("a");
      assert.equal(queue.tryGet()?.key, "a");
      queue.done("a");
    }
    assert.ok(queue.size <= 2048, `${queue.size} entries for one key`);
    assert.equal(queue.length, 0);
  });

  test("a full queue refuses, counts and asks to be fed again when there is room", () => {
    let fed = 0;
    const metrics = new MetricsRegistry();
    const queue = new WorkQueue({ env: manualEnv(), name: "q", metrics, maxLength: 4, onRoom: () => fed++ });
    const results = ["a", "b", "c", "d", "e"].map((key) => queue.add(key));
    assert.equal(results.at(-1), "Full");
    assert.match(metrics.expose(), /capstan_workqueue_full_total\{name="q",controller="q"\} 1/);
    queue.tryGet();
    assert.equal(fed, 0);
    queue.tryGet();
    assert.equal(fed, 1);
  });

  test("waiting getters are served in order, and get nothing after shut-down or abort", async () => {
    const env = manualEnv();
    const queue = new WorkQueue({ env, name: "q" });
    const abort = new AbortController();
    const aborted = queue.get(abort.signal);
    const first = queue.get();
    const second = queue.get();
    const third = queue.get();
    abort.abort();
    queue.add("a");
    queue.add("b");
    queue.shutDown();
    assert.deepEqual(
      (await Promise.all([aborted, first, second, third])).map((item) => item?.key),
      [undefined, "a", "b", undefined],
    );
    assert.equal(queue.add("c"), "ShutDown");
  });

  test("metrics carry the names and labels that dashboards use", async () => {
    const env = manualEnv();
    const metrics = new MetricsRegistry();
    const queue = new WorkQueue({ env, name: "widgets", metrics });
    const empty = 'workqueue_depth{name="widgets",controller="widgets",priority="0"} 0\n';
    assert.ok(metrics.expose().includes(empty), "an empty queue is zero, not unknown");
    queue.add("a", { priority: lowPriority });
    queue.add("b");
    await env.advance(2000);
    queue.tryGet();
    await env.advance(3000);
    const text = metrics.expose();
    for (const line of [
      'workqueue_depth{name="widgets",controller="widgets",priority="-100"} 1',
      'workqueue_adds_total{name="widgets",controller="widgets"} 2',
      'workqueue_queue_duration_seconds_sum{name="widgets",controller="widgets"} 2',
      'workqueue_unfinished_work_seconds{name="widgets",controller="widgets"} 3',
      'workqueue_longest_running_processor_seconds{name="widgets",controller="widgets"} 3',
      'workqueue_retries_total{name="widgets",controller="widgets"} 0',
    ]) {
      assert.ok(text.includes(`${line}\n`), `missing: ${line}\n${text}`);
    }
    queue.done("b");
    assert.match(metrics.expose(), /workqueue_work_duration_seconds_sum\{[^}]*\} 3\n/);
  });
});

// The model: for each key at most one waiting entry (priority, ready time) and at most one in work.
type Step =
  | { readonly do: "add"; readonly key: string; readonly priority: number; readonly afterMs: number }
  | { readonly do: "get" }
  | { readonly do: "done"; readonly pick: number }
  | { readonly do: "advance"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    key: fc.constantFrom("a", "b", "c", "d", "e"),
    priority: fc.constantFrom(-100, 0, 0, 7),
    afterMs: fc.constantFrom(0, 0, 0, 10, 25),
  }),
  fc.record({ do: fc.constant("get" as const) }),
  fc.record({ do: fc.constant("done" as const), pick: fc.nat(4) }),
  fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(5, 10, 30) }),
);

test("property: the queue behaves like its model, and no key is lost or doubled", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const env = manualEnv();
      const queue = new WorkQueue({ env, name: "q" });
      const model = new Map<string, { priority: number; readyAtMs: number }>();
      const working: string[] = [];
      for (const next of steps) {
        if (next.do === "add") {
          queue.add(next.key, next);
          const readyAtMs = env.monotonicMs() + next.afterMs;
          const waits = model.get(next.key);
          model.set(next.key, {
            priority: Math.max(waits?.priority ?? Number.NEGATIVE_INFINITY, next.priority),
            readyAtMs: Math.min(waits?.readyAtMs ?? Number.POSITIVE_INFINITY, readyAtMs),
          });
        } else if (next.do === "get") {
          const ready = [...model].filter(
            ([key, item]) => item.readyAtMs <= env.monotonicMs() && !working.includes(key),
          );
          const best = ready.reduce((max, [, item]) => Math.max(max, item.priority), Number.NEGATIVE_INFINITY);
          const got = queue.tryGet();
          if (ready.length === 0) assert.equal(got, undefined);
          else {
            assert.ok(got !== undefined, "a ready key was not handed out");
            assert.equal(got.priority, best);
            assert.ok(ready.some(([key, item]) => key === got.key && item.priority === best));
            model.delete(got.key);
            working.push(got.key);
          }
        } else if (next.do === "done") {
          const [key] = working.splice(next.pick, 1);
          if (key !== undefined) queue.done(key);
        } else await env.advance(next.ms);
        assert.equal(queue.length, model.size);
        assert.equal(queue.processingLength, working.length);
      }
      for (const key of working.splice(0)) queue.done(key);
      await env.advance(100);
      assert.deepEqual(taken(queue).sort(), [...model.keys()].sort());
    }),
    { numRuns: Number(process.env["CAPSTAN_PROPERTY_RUNS"] ?? 200) },
  );
});
