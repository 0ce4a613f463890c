import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Env } from "../env/env.ts";
import { sleep } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { eventually, settle } from "../testing/eventually.ts";
import { createWorld, type World } from "../testing/world.ts";
import { type Controller, defineReconciler, index, type ReconcilerDefinition, watch } from "./controller.ts";
import { createManager, type Manager, type ManagerOptions } from "./manager.ts";
import { generationChanged } from "./predicates.ts";
import { done } from "./result.ts";
import { channel, polled } from "./source.ts";

interface Thing extends KubeObject {
  readonly spec?: { readonly value?: number; readonly uses?: string };
}
const Thing: KindRef<Thing> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};
const Tool: KindRef<Thing> = { group: "example.com", version: "v1", kind: "Tool", plural: "tools", namespaced: true };

type Reconcile = ReconcilerDefinition<Thing>["reconcile"];
const things = (reconcile: Reconcile, more: Partial<ReconcilerDefinition<Thing>> = {}): Controller =>
  defineReconciler<Thing>({ name: "things", reconciles: Thing, reconcile, ...more });

const recordInto =
  (names: string[]): Reconcile =>
  async ({ name }) => {
    names.push(name);
    return done;
  };

function managerOf(world: World, controllers: readonly Controller[], options: Partial<ManagerOptions> = {}): Manager {
  const manager = createManager({ env: world.env, client: world.client, ...options });
  for (const controller of controllers) manager.add(controller);
  return manager;
}

async function start(world: World, manager: Manager): Promise<void> {
  const started = manager.start();
  await world.env.advance(10);
  await started;
}

const put = (world: World, name: string, spec: Thing["spec"] = {}, kind = Thing): Promise<Thing> =>
  world.direct.apply(kind, { metadata: { name, namespace: "ns" }, spec });

describe("manager", () => {
  test("controllers share one watch per kind and scope", async () => {
    const world = createWorld({ kinds: [Thing] });
    const names: string[] = [];
    const record =
      (who: string): Reconcile =>
      async ({ name }) => {
        names.push(`${who} ${name}`);
        return done;
      };
    const manager = managerOf(world, [things(record("one")), things(record("two"), { name: "two" })]);
    await start(world, manager);
    await put(world, "a");
    await settle(world.env, () => names.length);
    assert.deepEqual(names.sort(), ["one a", "two a"]);
    assert.equal(
      world.faults.count(({ isWatch }) => isWatch),
      1,
    );
    await manager.stop();
  });

  test("a controller that is added later gets the state from the cache", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    const manager = managerOf(world, [things(async () => done)]);
    await start(world, manager);
    const names: string[] = [];
    manager.add(things(recordInto(names), { name: "late" }));
    await world.env.advance(1000);
    assert.deepEqual(names, ["a"]);
    assert.equal(
      world.faults.count(({ isWatch }) => !isWatch),
      1,
      "one list for both",
    );
    await manager.stop();
  });

  test("no reconcile runs before every cache of the controller is filled", async () => {
    const world = createWorld({ kinds: [Thing, Tool] });
    await put(world, "a");
    await put(world, "hammer", {}, Tool);
    world.faults.add({
      when: ({ path }) => path.endsWith("/tools"),
      times: 1,
      fault: { kind: "Delay", delayMs: 3000 },
    });
    let seen: number | undefined;
    const manager = managerOf(world, [
      things(
        async (_, { read }) => {
          seen = read.list(Tool).length;
          return done;
        },
        { reads: [Tool] },
      ),
    ]);
    const started = manager.start();
    await world.env.advance(2900);
    assert.equal(seen, undefined);
    await world.env.advance(1000);
    await started;
    assert.equal(seen, 1);
    await manager.stop();
  });

  test("caches that do not fill in time fail the start with the kind and the reason", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({
      when: ({ path }) => path.endsWith("/things"),
      fault: { kind: "Answer", code: 403, reason: "Forbidden", message: "things is forbidden" },
    });
    const manager = managerOf(world, [things(async () => done)], { cacheSyncTimeoutMs: 5000 });
    const started = manager.start();
    const refused = assert.rejects(started, /controller things did not fill in 5000 ms: Thing \(things is forbidden\)/);
    await world.env.advance(6000);
    await refused;
    await manager.stop();
  });

  test("a kind that is installed later is waited for without holding up the others", async () => {
    const world = createWorld({ kinds: [Thing] });
    const names: string[] = [];
    const tools = defineReconciler<Thing>({
      name: "tools",
      reconciles: Tool,
      reconcile: recordInto(names),
    });
    const manager = managerOf(world, [things(recordInto(names)), tools]);
    const started = manager.start();
    await put(world, "a");
    await world.env.advance(5_000);
    await started;
    assert.deepEqual(names, ["a"]);
    assert.ok(manager.informers.some(({ health }) => health.absent));
    await world.env.advance(600_000);
    world.serve(Tool);
    await put(world, "hammer", {}, Tool);
    await eventually(world.env, () => assert.deepEqual(names, ["a", "hammer"]), { withinMs: 11_000 });
    await manager.stop();
  });

  test("only the given namespaces are watched, and reads span them", async () => {
    const world = createWorld({ kinds: [Thing] });
    for (const namespace of ["one", "two", "three"])
      await world.direct.create(Thing, { metadata: { name: "a", namespace } });
    const seen: string[] = [];
    let all = 0;
    const manager = managerOf(
      world,
      [
        things(async (key, { read }) => {
          seen.push(key.namespace ?? "");
          all = read.list(Thing).length;
          assert.ok(read.get(Thing, key));
          return done;
        }),
      ],
      { namespaces: ["one", "two"] },
    );
    await start(world, manager);
    await world.env.advance(100);
    assert.deepEqual(seen.sort(), ["one", "two"]);
    assert.equal(all, 2);
    await manager.stop();
  });

  test("concurrency is limited per controller, and by kind where the manager says so", async () => {
    for (const [options, own, expected] of [
      [{}, 2, 2],
      [{ concurrencyByKind: { "Thing.example.com": 3 } }, undefined, 3],
      [{ concurrency: 5 }, undefined, 5],
    ] as const) {
      const world = createWorld({ kinds: [Thing] });
      for (let n = 0; n < 12; n++) await put(world, `thing-${n}`);
      let running = 0;
      let most = 0;
      const work: Reconcile = async (_, { signal }) => {
        most = Math.max(most, ++running);
        await sleep(world.env, 1000, signal);
        running--;
        return done;
      };
      const manager = managerOf(world, [things(work, own === undefined ? {} : { concurrency: own })], options);
      await start(world, manager);
      await world.env.advance(20_000);
      assert.equal(most, expected);
      const stopped = manager.stop();
      await world.env.advance(100);
      await stopped;
    }
  });

  test("a reconcile that takes too long is aborted, counted and retried; its key is never worked on twice at once", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "deaf");
    await put(world, "polite");
    let deafRunning = 0;
    const calls: string[] = [];
    const manager = managerOf(world, [
      things(
        async ({ name }, { signal }) => {
          calls.push(name);
          if (name === "polite") {
            if (calls.filter((call) => call === "polite").length === 1) await sleep(world.env, 1_000_000, signal);
            return done;
          }
          assert.equal(++deafRunning, 1);
          await sleep(world.env, 120_000);
          deafRunning--;
          return done;
        },
        { reconcileTimeoutMs: 10_000, concurrency: 1 },
      ),
    ]);
    await start(world, manager);
    await world.env.advance(10_100);
    assert.ok(manager.metrics.expose().includes('controller_runtime_reconcile_timeouts_total{controller="things"} '));
    await world.env.advance(100_000);
    assert.ok(calls.filter((name) => name === "polite").length >= 2, "the worker does not wait for the deaf one");
    assert.equal(calls.filter((name) => name === "deaf").length, 1);
    await world.env.advance(60_000);
    assert.equal(calls.filter((name) => name === "deaf").length, 2, "retried when it has really ended");
    const stopped = manager.stop();
    await world.env.advance(200_000);
    await stopped;
  });

  test("a stop lets running reconciles finish, takes no new keys, and cancels after 30 s", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "quick");
    await put(world, "slow");
    const story: string[] = [];
    const manager = managerOf(world, [
      things(async ({ name }, { signal }) => {
        story.push(`begin ${name}`);
        await sleep(world.env, name === "quick" ? 5_000 : 100_000, signal).catch(() => story.push(`cancelled ${name}`));
        if (!signal.aborted) story.push(`end ${name}`);
        return done;
      }),
    ]);
    await start(world, manager);
    let stopped = false;
    const stop = manager.stop().then(() => (stopped = true));
    await put(world, "too-late");
    await world.env.advance(29_000);
    assert.deepEqual(story, ["begin quick", "begin slow", "end quick"]);
    assert.equal(stopped, false);
    await world.env.advance(2_000);
    await stop;
    assert.deepEqual(story, ["begin quick", "begin slow", "end quick", "cancelled slow"]);
    assert.equal(await manager.stopped, undefined);
  });

  test("a mapping function that throws is contained, counted and tried again", async () => {
    const world = createWorld({ kinds: [Thing, Tool] });
    const names: string[] = [];
    let calls = 0;
    const controller = things(recordInto(names), {
      watches: [
        watch(Tool, {
          map: ({ spec }) => {
            if (++calls < 3) throw new TypeError("cannot read properties of undefined");
            return [{ namespace: "ns", name: spec?.uses ?? "" }];
          },
        }),
      ],
    });
    const manager = managerOf(world, [controller]);
    await start(world, manager);
    await put(world, "hammer", { uses: "nail" }, Tool);
    await world.env.advance(5_000);
    assert.deepEqual(names, ["nail"]);
    assert.ok(manager.metrics.expose().includes('capstan_handler_errors_total{controller="things"} 2\n'));
    await manager.stop();
  });

  test("mapped watches see old and new owners, predicates filter, indexes find", async () => {
    const world = createWorld({ kinds: [Thing, Tool] });
    const names: string[] = [];
    const found: number[] = [];
    const controller = things(
      async ({ name }, { read }) => {
        names.push(name);
        found.push(read.byIndex(Tool, "uses", name).length);
        return done;
      },
      {
        watches: [
          watch(Tool, {
            predicates: [generationChanged],
            map: ({ spec }) => [{ namespace: "ns", name: spec?.uses ?? "" }],
          }),
        ],
        indexes: [index(Tool, "uses", ({ spec }) => (spec?.uses ? [spec.uses] : []))],
      },
    );
    const manager = managerOf(world, [controller]);
    await start(world, manager);
    await put(world, "hammer", { uses: "old" }, Tool);
    await world.env.advance(100);
    await world.direct.patch(
      Tool,
      { namespace: "ns", name: "hammer" },
      { type: "merge", value: { metadata: { labels: { a: "b" } } } },
    );
    await world.env.advance(100);
    await put(world, "hammer", { uses: "new" }, Tool);
    await world.env.advance(100);
    assert.deepEqual(names, ["old", "new", "old"]);
    assert.deepEqual(found, [1, 1, 0]);
    await manager.stop();
  });

  test("channels and polled sources bring keys from outside", async () => {
    const world = createWorld({ kinds: [Thing] });
    const names: string[] = [];
    const outside = channel();
    outside.send({ name: "early" });
    const polls = polled(
      1000,
      async () => [{ name: "polled" }],
      (error) => assert.fail(String(error)),
    );
    const manager = managerOf(world, [things(recordInto(names), { sources: [outside, polls] })]);
    await start(world, manager);
    outside.send({ name: "later" }, { afterMs: 500 });
    await world.env.advance(400);
    assert.deepEqual(names.sort(), ["early", "polled"]);
    await world.env.advance(700);
    assert.deepEqual(names.sort(), ["early", "later", "polled", "polled"]);
    await manager.stop();
  });

  test("reading a kind that was not declared says what to do", async () => {
    const world = createWorld({ kinds: [Thing, Tool] });
    await put(world, "a");
    let message = "";
    const manager = managerOf(world, [
      things(async (_, { read }) => {
        try {
          read.list(Tool);
        } catch (error) {
          message = error instanceof Error ? error.message : "";
        }
        return done;
      }),
    ]);
    await start(world, manager);
    await world.env.advance(10);
    assert.equal(message, "controller things reads Tool, but declares it neither in owns, watches nor reads");
    await manager.stop();
  });
});

describe("caches", () => {
  test("what is cached of a kind can be narrowed: by selector, by transform, to metadata", async () => {
    const world = createWorld({ kinds: [Thing, Tool] });
    const label = (name: string, app: string, kind = Thing): Promise<unknown> =>
      world.direct.apply(kind, { metadata: { name, namespace: "ns", labels: { app } }, spec: { value: 1, uses: "x" } });
    await label("a", "web");
    await label("b", "db");
    await label("hammer", "web", Tool);
    const seen: unknown[] = [];
    const controller = things(
      async (key, { read }) => {
        seen.push(read.get(Thing, key)?.spec, read.list(Tool)[0]);
        return done;
      },
      { reads: [watch(Tool, { scope: { metadataOnly: true } })] },
    );
    const manager = managerOf(world, [controller], {
      caches: {
        "Thing.example.com": {
          scope: { labelSelector: "app=web" },
          transform: ({ apiVersion, kind, metadata, ...rest }) => {
            const { spec } = rest as Pick<Thing, "spec">;
            return { apiVersion, kind, metadata, spec: { value: spec?.value } } as KubeObject;
          },
        },
      },
    });
    await start(world, manager);
    await world.env.advance(100);
    const tool = seen[1] as Thing;
    assert.equal(seen.length, 2, "only one thing matches");
    assert.deepEqual(seen[0], { value: 1 });
    assert.deepEqual(
      [tool.kind, tool.apiVersion, tool.metadata.name, tool.spec],
      ["Tool", "example.com/v1", "hammer", undefined],
    );
    const text = manager.metrics.expose();
    assert.ok(
      text.includes('capstan_cache_objects{group="example.com",kind="Thing",namespace="",selector="app=web"} 1\n'),
    );
    assert.ok(
      text.includes(
        'capstan_watch_silence_seconds{group="example.com",kind="Tool",namespace="",selector="metadata"} 0',
      ),
    );
    await manager.stop();
  });

  test("a busy object is reconciled no more often than its rate allows, and its last state is seen", async () => {
    const world = createWorld({ kinds: [Thing] });
    const values: (number | undefined)[] = [];
    const controller = things(
      async (key, { read }) => {
        values.push(read.get(Thing, key)?.spec?.value);
        return done;
      },
      { objectRate: { times: 2, withinMs: 10_000 } },
    );
    const manager = managerOf(world, [controller]);
    await start(world, manager);
    for (let value = 0; value < 100; value++) {
      await put(world, "a", { value });
      await world.env.advance(100);
    }
    await world.env.advance(20_000);
    assert.ok(values.length <= 5, `${values.length} reconciles`);
    assert.equal(values.at(-1), 99);
    await manager.stop();
  });
});

describe("manager with leader election", () => {
  const election = (identity: string): Partial<ManagerOptions> => ({
    instance: identity,
    leaderElection: { name: "capstan", namespace: "system", identity },
  });

  test("a standby has warm caches and takes over without a list", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    const names: string[] = [];
    const record =
      (who: string): Reconcile =>
      async ({ name }) => {
        names.push(`${who} ${name}`);
        return done;
      };
    const first = managerOf(world, [things(record("first"))], election("first"));
    await start(world, first);
    const second = managerOf(
      world,
      [things(record("second")), things(record("everywhere"), { name: "everywhere", needsLeadership: false })],
      election("second"),
    );
    await start(world, second);
    await world.env.advance(20_000);
    assert.deepEqual(names, ["first a", "everywhere a"]);
    assert.ok(
      second.controllers.every(({ synced }) => synced),
      "warm",
    );
    assert.equal(second.controllers[0]?.queue.length, 1, "the queue is already full");
    const lists = world.faults.count(({ path, isWatch }) => path.endsWith("/things") && !isWatch);
    const stopped = first.stop();
    await world.env.advance(5_000);
    await stopped;
    assert.ok(second.isLeader);
    assert.ok(names.includes("second a"));
    assert.equal(
      world.faults.count(({ path, isWatch }) => path.endsWith("/things") && !isWatch),
      lists,
    );
    await second.stop();
  });

  test("the lease is released only after the workers have ended", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    const story: string[] = [];
    const first = managerOf(
      world,
      [
        things(async (_, { signal }) => {
          await sleep(world.env, 10_000, signal);
          story.push("work ended");
          return done;
        }),
      ],
      election("first"),
    );
    await start(world, first);
    world.faults.add({
      when: ({ path, isWrite }) => {
        if (isWrite && path.includes("/leases/")) story.push("lease written");
        return false;
      },
      fault: { kind: "Unreachable" },
    });
    const stopped = first.stop();
    await world.env.advance(12_000);
    await stopped;
    assert.equal(story.at(-1), "lease written");
    assert.equal(story.at(-2), "work ended");
  });

  test("a lost lease cancels the workers, and the manager says why it stopped", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    let cancelled = false;
    const manager = managerOf(
      world,
      [
        things(async (_, { signal }) => {
          await sleep(world.env, 1_000_000, signal).catch(() => {
            cancelled = true;
          });
          return done;
        }),
      ],
      election("first"),
    );
    await start(world, manager);
    world.faults.add({ when: ({ path }) => path.includes("/leases"), fault: { kind: "Unreachable" } });
    await world.env.advance(13_000);
    assert.ok(cancelled);
    await world.env.advance(5_000);
    assert.match((await manager.stopped)?.message ?? "", /lease could not be renewed for 10000 ms/);
  });

  test("a process that was frozen for longer than its lease writes nothing when it wakes up", async () => {
    const world = createWorld({ kinds: [Thing] });
    let frozenMs = 0;
    const env: Env = { ...world.env, monotonicMs: () => world.env.monotonicMs() + frozenMs };
    await put(world, "a");
    let error: unknown;
    const manager = createManager({ env, client: world.client, ...election("first") });
    manager.add(
      things(async (_, { write }) => {
        await sleep(env, 1_000);
        try {
          await write.patch(Thing, { namespace: "ns", name: "a" }, { type: "merge", value: { spec: { value: 1 } } });
        } catch (caught) {
          error = caught;
        }
        return done;
      }),
    );
    const started = manager.start();
    await world.env.advance(10);
    await started;
    // The process is stopped for a minute: its clock goes on, its timers have not fired yet.
    frozenMs = 60_000;
    await world.env.advance(1_000);
    assert.equal((error as Error | undefined)?.name, "LeadershipLost");
    assert.equal(world.all(Thing)[0]?.spec?.value, undefined);
    const stopped = manager.stop();
    await world.env.advance(100_000);
    await stopped;
  });
});
