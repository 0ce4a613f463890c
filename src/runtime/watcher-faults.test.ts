import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { eventually } from "../testing/eventually.ts";
import type { RequestInfo } from "../testing/faults.ts";
import {
  breakAfter,
  encodeEvent,
  endAfter,
  holdEvents,
  mapEvents,
  type StreamEvent,
  silentAfter,
} from "../testing/stream-faults.ts";
import { createWorld, type World } from "../testing/world.ts";
import type { Change } from "./change.ts";
import { createInformer, type Informer, type InformerSettings } from "./informer.ts";
import { silentLogger } from "./log.ts";
import type { WatcherScope } from "./watcher.ts";

interface Thing extends KubeObject {
  readonly spec?: { readonly value: number; readonly text?: string };
}
const Thing: KindRef<Thing> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

interface Follower {
  readonly informer: Informer<Thing>;
  readonly changes: Change<Thing>[];
  stop(): Promise<void>;
}

async function follow(
  world: World,
  watcher: InformerSettings["watcher"] = {},
  scope: WatcherScope = {},
): Promise<Follower> {
  const informer = createInformer(Thing, scope, { env: world.env, client: world.client, log: silentLogger, watcher });
  const changes: Change<Thing>[] = [];
  informer.cache.subscribe((change) => changes.push(change));
  const abort = new AbortController();
  const run = informer.run(abort.signal);
  await world.env.flush();
  return {
    informer,
    changes,
    async stop() {
      abort.abort();
      await run;
    },
  };
}

const put = (world: World, name: string, value = 0, labels?: Record<string, string>): Promise<Thing> =>
  world.direct.apply(
    Thing,
    { metadata: { name, namespace: "ns", ...(labels && { labels }) }, spec: { value } },
    { force: true },
  );
const remove = (world: World, name: string): Promise<unknown> => world.direct.delete(Thing, { name, namespace: "ns" });

const isWatch = ({ isWatch }: RequestInfo): boolean => isWatch;
const isList = ({ method, isWatch, path }: RequestInfo): boolean =>
  method === "GET" && !isWatch && path.endsWith("/things");
const versionOf = (event: StreamEvent): number => Number(event.object.metadata.resourceVersion);

const serverState = (world: World): unknown[] =>
  world
    .all(Thing)
    .map(({ metadata, spec }) => ({ name: metadata.name, uid: metadata.uid, version: metadata.resourceVersion, spec }));
const cacheState = ({ informer }: Follower): unknown[] =>
  informer.cache
    .list()
    .map(({ metadata, spec }) => ({ name: metadata.name, uid: metadata.uid, version: metadata.resourceVersion, spec }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
const assertEqualToServer = (world: World, follower: Follower): void =>
  assert.deepEqual(cacheState(follower), serverState(world));

const story = ({ changes }: Follower): string[] => changes.map(({ kind, object }) => `${kind} ${object.metadata.name}`);

describe("faults of reading", () => {
  test("F1: a stale list of a lagging replica is refused until the replica has caught up", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    await put(world, "b");
    const past = world.store.version;
    const follower = await follow(world);
    await remove(world, "a");
    await world.env.flush();
    world.faults.add({ when: isList, times: 2, fault: { kind: "Elsewhere", handler: world.replicaAt(past) } });
    world.faults.add({ when: isWatch, times: 1, fault: { kind: "Answer", code: 410, reason: "Expired" } });
    await world.env.advance(600_000);
    await eventually(world.env, () => assertEqualToServer(world, follower));
    assert.deepEqual(story(follower), ["Added a", "Added b", "Deleted a"], "the deleted object never comes back");
    assert.equal(follower.informer.health.counts.timeTravels, 2);
    assert.equal(
      world.faults.count((request) => isList(request) && request.query.get("resourceVersion") === "0"),
      0,
    );
    await follower.stop();
  });

  test("F1: a server that was restored from a backup is believed once it insists", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a", 1);
    const backup = world.store.version;
    await put(world, "a", 2);
    await put(world, "b");
    const follower = await follow(world, { watchList: true });
    world.store.rollBackTo(backup);
    world.faults.add({ when: isWatch, times: 1, fault: { kind: "Answer", code: 410, reason: "Expired" } });
    await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 900_000, stepMs: 1000 });
    assert.equal(follower.informer.cache.get({ namespace: "ns", name: "a" })?.spec?.value, 1);
    await follower.stop();
  });

  test("F2: a watch that resumes at a replica from the past does not travel in time", async () => {
    const world = createWorld({ kinds: [Thing] });
    const old = await put(world, "a", 1);
    const follower = await follow(world);
    await remove(world, "a");
    await put(world, "b");
    await world.env.flush();
    const replay = encodeEvent({ type: "MODIFIED", object: old });
    world.faults.add({
      when: isWatch,
      times: 1,
      fault: {
        kind: "Stream",
        change: async function* (body) {
          yield replay;
          yield* body;
        },
      },
    });
    await world.env.advance(700_000);
    await eventually(world.env, () => assertEqualToServer(world, follower));
    assert.deepEqual(story(follower), ["Added a", "Deleted a", "Added b"]);
    assert.equal(follower.informer.health.counts.timeTravels, 1);
    assert.ok(follower.informer.health.counts.lists >= 2, "the suspicion leads to a fresh list");
    await follower.stop();
  });

  test("F4: what happened unobserved is made up for by the next list", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "stays", 1);
    await put(world, "goes", 1);
    world.faults.add({ when: isWatch, times: 1, fault: mapEvents(() => []) });
    const follower = await follow(world);
    await put(world, "brief");
    await remove(world, "brief");
    await put(world, "stays", 2);
    await put(world, "stays", 3);
    await remove(world, "goes");
    world.store.compact();
    await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 900_000, stepMs: 1000 });
    assert.deepEqual(story(follower), ["Added goes", "Added stays", "Updated stays", "Deleted goes"]);
    assert.ok(follower.changes.some((change) => change.kind === "Deleted" && change.finalStateUnknown));
    await follower.stop();
  });

  for (const how of ["watch", "list"] as const) {
    test(`F5: deleted and made again under the same name, seen by a ${how}: the old object is told to be gone`, async () => {
      const world = createWorld({ kinds: [Thing] });
      const first = await put(world, "a");
      if (how === "list") world.faults.add({ when: isWatch, times: 1, fault: mapEvents(() => []) });
      // As a MODIFIED without the deletion in between, which is what a coalescing proxy would send.
      else
        world.faults.add({
          when: isWatch,
          times: 1,
          fault: mapEvents((event) => (event.type === "DELETED" ? [] : [{ ...event, type: "MODIFIED" }])),
        });
      const follower = await follow(world);
      await remove(world, "a");
      const second = await put(world, "a");
      if (how === "list") world.store.compact();
      await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 900_000, stepMs: 1000 });
      assert.deepEqual(
        follower.changes.map(({ kind, object }) => [kind, object.metadata.uid]),
        [
          ["Added", first.metadata.uid],
          ["Deleted", first.metadata.uid],
          ["Added", second.metadata.uid],
        ],
      );
      await follower.stop();
    });
  }

  test("F6: a list whose continue token expires in the middle starts again and misses nothing", async () => {
    const world = createWorld({ kinds: [Thing] });
    for (let index = 0; index < 25; index++) await put(world, `thing-${String(index).padStart(2, "0")}`);
    world.faults.add({
      when: (request) => isList(request) && request.query.has("continue"),
      times: 1,
      fault: { kind: "Answer", code: 410, reason: "Expired", message: "The provided continue parameter is too old" },
    });
    const follower = await follow(world, { pageSize: 10 });
    await eventually(world.env, () => assertEqualToServer(world, follower));
    assert.equal(new Set(story(follower)).size, 25);
    assert.equal(follower.changes.length, 25, "nothing is told twice");
    await follower.stop();
  });

  test("F7: an object that leaves the selector leaves the cache, and comes back with it", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a", 1, { app: "web" });
    await put(world, "other", 1, { app: "db" });
    const follower = await follow(world, {}, { labelSelector: "app=web" });
    await put(world, "a", 2, { app: "db" });
    await world.env.flush();
    assert.equal(follower.informer.cache.size, 0);
    await put(world, "a", 3, { app: "web" });
    await world.env.flush();
    assert.deepEqual(story(follower), ["Added a", "Deleted a", "Added a"]);
    assert.equal(follower.informer.cache.list()[0]?.spec?.value, 3);
    await follower.stop();
  });
});

describe("faults of the watch", () => {
  const drops = { "clean end": endAfter, reset: breakAfter, "half-open silence": silentAfter };
  for (const [name, drop] of Object.entries(drops)) {
    test(`F8: the stream drops by ${name} at every event: nothing is lost or told twice`, async () => {
      const events = 5;
      for (let at = 0; at <= events; at++) {
        const world = createWorld({ kinds: [Thing] });
        world.faults.add({ when: isWatch, times: 1, fault: drop(at) });
        const follower = await follow(world);
        for (let index = 0; index < events; index++) await put(world, `thing-${index}`);
        await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 900_000, stepMs: 1000 });
        assert.deepEqual(
          story(follower),
          Array.from({ length: events }, (_, index) => `Added thing-${index}`),
          `drop at ${at}`,
        );
        assert.equal(follower.informer.health.counts.lists, 1, "a broken stream needs no new list");
        await follower.stop();
      }
    });
  }

  for (const [name, fault] of [
    ["as an answer", { kind: "Answer", code: 410, reason: "Gone" }],
    ["as the first event", mapEvents((event, index) => (index === 0 ? [gone()] : [event]))],
    ["in mid-stream", mapEvents((event, index) => (index === 2 ? [gone()] : [event]))],
  ] as const) {
    test(`F9: 410 ${name} leads to a fresh list`, async () => {
      const world = createWorld({ kinds: [Thing] });
      world.faults.add({ when: isWatch, times: 1, fault });
      const follower = await follow(world);
      for (let index = 0; index < 5; index++) await put(world, `thing-${index}`);
      await eventually(world.env, () => assertEqualToServer(world, follower));
      assert.equal(follower.informer.health.counts.expired, 1);
      assert.equal(follower.informer.health.counts.lists, 2);
      await follower.stop();
    });
  }

  test("F10: a duplicate event is told once", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({
      when: isWatch,
      fault: mapEvents((event) => (event.type === "BOOKMARK" ? [event] : [event, event])),
    });
    const follower = await follow(world);
    await put(world, "a", 1);
    await put(world, "a", 2);
    await remove(world, "a");
    await world.env.flush();
    assert.deepEqual(story(follower), ["Added a", "Updated a", "Deleted a"]);
    await follower.stop();
  });

  test("F11: events of different objects in the wrong order all arrive, and a list checks them", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({ when: isWatch, times: 1, fault: swapPairs() });
    const follower = await follow(world);
    for (const name of ["a", "b", "c", "d"]) await put(world, name);
    await eventually(world.env, () => assertEqualToServer(world, follower));
    assert.deepEqual([...story(follower)].sort(), ["Added a", "Added b", "Added c", "Added d"]);
    assert.ok(follower.informer.health.counts.stale > 0, "the disorder is noticed");
    await eventually(world.env, () => assert.equal(follower.informer.health.counts.lists, 2), {
      withinMs: 400_000,
      stepMs: 1000,
    });
    await follower.stop();
  });

  test("F12: events of one object in the wrong order never take it back", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({ when: isWatch, times: 1, fault: swapPairs() });
    const follower = await follow(world);
    await put(world, "a", 1);
    await put(world, "a", 2);
    await put(world, "b", 1);
    await remove(world, "b");
    await world.env.flush();
    assert.equal(follower.informer.cache.get({ namespace: "ns", name: "a" })?.spec?.value, 2);
    assert.equal(
      follower.informer.cache.get({ namespace: "ns", name: "b" }),
      undefined,
      "an addition after the deletion is old news",
    );
    const values = follower.changes
      .filter(({ object }) => object.metadata.name === "a")
      .map(({ object }) => object.spec?.value);
    assert.deepEqual(values, [2]);
    await eventually(world.env, () => assertEqualToServer(world, follower));
    await follower.stop();
  });

  test("F13: an event that is lost before a bookmark is found by the periodic list", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({
      when: isWatch,
      fault: mapEvents((event) => (event.object.metadata.name === "lost" ? [] : [event])),
    });
    const follower = await follow(world, { relistEveryMs: 1_800_000 });
    await put(world, "lost");
    await put(world, "seen");
    await world.env.advance(120_000);
    assert.equal(follower.informer.cache.size, 1);
    await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 2_400_000, stepMs: 10_000 });
    await follower.stop();
  });

  test("F14: without bookmarks a quiet watch is renewed, and a forgotten position is listed again", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({ when: isWatch, fault: mapEvents((event) => (event.type === "BOOKMARK" ? [] : [event])) });
    await put(world, "a");
    const follower = await follow(world, { idleTimeoutMs: 120_000 });
    await world.env.advance(600_000);
    assert.ok(follower.informer.health.counts.watches >= 4, "silence is not trusted");
    assert.equal(follower.informer.health.counts.lists, 1);
    for (let index = 0; index < 10; index++)
      await world.direct
        .create(Other, { metadata: { name: `other-${index}`, namespace: "ns" } })
        .catch(() => undefined);
    await put(world, "b");
    world.store.compact();
    await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 600_000, stepMs: 1000 });
    await follower.stop();
  });

  test("F14: a watch goes on from its last bookmark, though the server has forgotten everything before it", async () => {
    const world = createWorld({ kinds: [Thing, Other] });
    await put(world, "a");
    const follower = await follow(world);
    for (let index = 0; index < 10; index++)
      await world.direct.create(Other, { metadata: { name: `other-${index}`, namespace: "ns" } });
    await world.env.advance(180_000);
    world.store.compact();
    await world.env.advance(3_000_000);
    const { lists, watches, expired } = follower.informer.health.counts;
    assert.ok(watches > 2, `${watches} watches`);
    assert.deepEqual({ lists, expired }, { lists: 1, expired: 0 });
    await follower.stop();
  });

  test("F14: late bookmarks never move the position back", async () => {
    const world = createWorld({ kinds: [Thing] });
    const late = {
      type: "BOOKMARK",
      object: { apiVersion: "example.com/v1", kind: "Thing", metadata: { resourceVersion: "1" } },
    };
    world.faults.add({ when: isWatch, times: 1, fault: mapEvents((event) => [event, late]) });
    const follower = await follow(world);
    await put(world, "a");
    await put(world, "b");
    await world.env.flush();
    assert.equal(follower.informer.health.resourceVersion, String(world.store.version));
    await follower.stop();
  });

  test("F15: events that come minutes late are all taken in, in order", async () => {
    const world = createWorld({ kinds: [Thing] });
    const held = holdEvents();
    world.faults.add({ when: isWatch, times: 1, fault: held.fault });
    const follower = await follow(world, { idleTimeoutMs: 3_600_000 });
    for (let value = 0; value < 50; value++) await put(world, "a", value);
    await world.env.advance(240_000);
    assert.equal(follower.changes.length, 0);
    held.release();
    await world.env.flush();
    assertEqualToServer(world, follower);
    assert.equal(follower.changes.length, 50);
    await follower.stop();
  });

  for (const [name, broken] of [
    ["a malformed frame", () => [Buffer.from("{not json\n")]],
    ["a partial line at the end", (line: Uint8Array) => [line.subarray(0, line.length / 2)]],
    ["an event without a type", () => [Buffer.from('{"object":{}}\n')]],
    [
      "an object without a name",
      () => [
        Buffer.from(
          '{"type":"ADDED","object":{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"resourceVersion":"9"}}}\n',
        ),
      ],
    ],
    ["HTML of a proxy", () => [Buffer.from("<html>502 Bad Gateway</html>\n")]],
  ] as const) {
    test(`F16: ${name} breaks the stream but loses nothing`, async () => {
      const world = createWorld({ kinds: [Thing] });
      world.faults.add({
        when: isWatch,
        times: 1,
        fault: {
          kind: "Stream",
          change: async function* (body) {
            let index = 0;
            for await (const chunk of body) {
              if (index++ !== 1) yield chunk;
              else {
                yield* broken(chunk);
                return;
              }
            }
          },
        },
      });
      const follower = await follow(world);
      for (const item of ["a", "b", "c"]) await put(world, item);
      await eventually(world.env, () => assertEqualToServer(world, follower));
      assert.deepEqual(story(follower), ["Added a", "Added b", "Added c"]);
      assert.equal(follower.informer.health.counts.malformed, 1);
      await follower.stop();
    });
  }

  test("F16: characters split between chunks and an object of 1.5 MB arrive whole", async () => {
    const world = createWorld({ kinds: [Thing] });
    world.faults.add({
      when: isWatch,
      times: 1,
      fault: {
        kind: "Stream",
        change: async function* (body) {
          for await (const chunk of body)
            for (let at = 0; at < chunk.length; at += 70_001) yield chunk.subarray(at, at + 70_001);
        },
      },
    });
    const follower = await follow(world);
    const text = "Großer Käse 🧀 ".repeat(80_000);
    await world.direct.create(Thing, { metadata: { name: "big", namespace: "ns" }, spec: { value: 1, text } });
    await eventually(world.env, () => assert.equal(follower.informer.cache.list()[0]?.spec?.text, text));
    await follower.stop();
  });

  test("F17: a streamed list that never says its end falls back to pages", async () => {
    const world = createWorld({ kinds: [Thing] });
    await put(world, "a");
    world.faults.add({
      when: (request) => request.query.get("sendInitialEvents") === "true",
      fault: mapEvents((event) => (event.type === "BOOKMARK" ? [] : [event])),
    });
    const follower = await follow(world, { watchList: true, idleTimeoutMs: 60_000 });
    assert.equal(follower.informer.cache.synced, false, "half a list is not a state");
    await eventually(world.env, () => assert.ok(follower.informer.cache.synced), { withinMs: 900_000, stepMs: 1000 });
    assertEqualToServer(world, follower);
    assert.equal(world.faults.count(isList), 1);
    await follower.stop();
  });

  for (const code of [400, 422, 500]) {
    test(`F17: a server that answers ${code} to a streamed list is asked for pages`, async () => {
      const world = createWorld({ kinds: [Thing] });
      await put(world, "a");
      world.faults.add({
        when: (request) => request.query.get("sendInitialEvents") === "true",
        fault: { kind: "Answer", code },
      });
      const follower = await follow(world, { watchList: true });
      await eventually(world.env, () => assertEqualToServer(world, follower));
      assert.ok(follower.informer.cache.synced);
      await follower.stop();
    });
  }

  for (const [name, strange] of [
    [
      "an unknown kind",
      { apiVersion: "example.com/v1", kind: "Other", metadata: { name: "x", resourceVersion: "99" } },
    ],
    [
      "an old version of the kind",
      { apiVersion: "example.com/v1alpha1", kind: "Thing", metadata: { name: "x", resourceVersion: "99" } },
    ],
  ] as const) {
    test(`F18: an event for ${name} is not taken into the cache`, async () => {
      const world = createWorld({ kinds: [Thing] });
      world.faults.add({
        when: isWatch,
        times: 1,
        fault: mapEvents((event) => [event, { type: "ADDED", object: strange }]),
      });
      const follower = await follow(world);
      await put(world, "a");
      await put(world, "b");
      await eventually(world.env, () => assertEqualToServer(world, follower));
      assert.deepEqual(story(follower), ["Added a", "Added b"]);
      await follower.stop();
    });
  }

  test("the watch goes on after any number of errors, with a growing delay, and its health says so", async () => {
    const world = createWorld({ kinds: [Thing] });
    const follower = await follow(world);
    const recover = world.faults.add({
      when: ({ path }) => path.endsWith("/things"),
      fault: { kind: "Answer", code: 500 },
    });
    await world.env.advance(3_600_000);
    const { health } = follower.informer;
    assert.ok(health.consecutiveFailures > 50, `still trying after ${health.consecutiveFailures} failures`);
    assert.ok(health.counts.faults < 1000, "not in a hot loop");
    assert.ok(world.env.monotonicMs() - health.lastActivityAtMs > 3_000_000, "a probe can see the silence");
    recover();
    await put(world, "a");
    await eventually(world.env, () => assertEqualToServer(world, follower), { withinMs: 61_000, stepMs: 1000 });
    assert.equal(health.consecutiveFailures, 0);
    await follower.stop();
  });
});

const Other: KindRef = { group: "example.com", version: "v1", kind: "Other", plural: "others", namespaced: true };

const gone = (): StreamEvent => ({
  type: "ERROR",
  object: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Expired",
    code: 410,
    message: "too old resource version",
  } as StreamEvent["object"],
});

/** Every two events change places. */
function swapPairs(): ReturnType<typeof mapEvents> {
  let kept: StreamEvent | undefined;
  return mapEvents((event) => {
    if (event.type === "BOOKMARK") return [event];
    if (kept === undefined) {
      kept = event;
      return [];
    }
    const pair = [event, kept].sort((a, b) => versionOf(b) - versionOf(a));
    kept = undefined;
    return pair;
  });
}
