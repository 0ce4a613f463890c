import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { eventually } from "../testing/eventually.ts";
import type { Fault, RequestInfo } from "../testing/faults.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { breakAfter, endAfter, mapEvents, silentAfter } from "../testing/stream-faults.ts";
import { createWorld, type World } from "../testing/world.ts";
import { ObjectCache } from "./cache.ts";
import type { Change } from "./change.ts";
import { createInformer } from "./informer.ts";
import { silentLogger } from "./log.ts";
import { WorkQueue } from "./queue.ts";

interface Thing extends KubeObject {
  readonly spec?: { readonly color: string };
}
const Thing: KindRef<Thing> = {
  group: "example.com",
  version: "v1",
  kind: "Thing",
  plural: "things",
  namespaced: true,
};

const uids = 0;
const thing = (name: string, version: number, color = "red", more: Partial<Thing["metadata"]> = {}): Thing => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name, namespace: "ns", uid: `uid-${name}-${uids}`, resourceVersion: String(version), ...more },
  spec: { color },
});

async function filled(
  objects: readonly Thing[],
  options: Partial<ConstructorParameters<typeof ObjectCache<Thing>>[0]> = {},
) {
  const cache = new ObjectCache<Thing>({
    env: manualEnv(),
    indexes: { color: ({ spec }) => (spec ? [spec.color] : []) },
    ...options,
  });
  const writer = cache.writer();
  writer.begin({ trusted: true });
  await writer.page(objects);
  writer.synced("100");
  return { cache, writer };
}

const names = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name).sort();

describe("cache", () => {
  test("objects are frozen to their depths and shared, never copied", async () => {
    const { cache } = await filled([thing("a", 1)]);
    const object = cache.get({ namespace: "ns", name: "a" });
    assert.ok(object !== undefined && Object.isFrozen(object.spec) && Object.isFrozen(object.metadata));
    assert.equal(cache.list()[0], object);
    assert.throws(() => Object.assign(object.spec ?? {}, { color: "blue" }), TypeError);
  });

  test("an event that was overtaken by its object's deletion does not bring it back; a new object of that name comes", async () => {
    const { cache, writer } = await filled([thing("a", 1)]);
    writer.remove(thing("a", 105));
    for (let index = 0; index < 1_000; index++) writer.remove(thing(`other-${index}`, 106 + index));
    writer.apply(thing("a", 104));
    assert.deepEqual(names(cache.list()), []);
    writer.apply(thing("a", 2_000, "blue", { uid: "another" }));
    assert.deepEqual(names(cache.list()), ["a"]);
  });

  test("managedFields are not kept, and a transform can take away more", async () => {
    const managed = thing("a", 1, "red", { managedFields: [{ manager: "somebody" }], labels: { app: "web" } });
    const { cache } = await filled([managed]);
    assert.deepEqual(cache.list()[0]?.metadata.managedFields, undefined);
    assert.deepEqual(cache.list()[0]?.metadata.labels, { app: "web" });
    const bare = await filled([managed], { transform: ({ spec: _, ...rest }) => rest });
    assert.equal(bare.cache.list()[0]?.spec, undefined);
  });

  test("indexes follow additions, changes and deletions, and may be added late", async () => {
    const { cache, writer } = await filled([thing("a", 1), thing("b", 2, "blue"), thing("c", 3)]);
    assert.deepEqual(names(cache.byIndex("color", "red")), ["a", "c"]);
    writer.apply(thing("a", 101, "blue"));
    writer.remove(thing("c", 102));
    assert.deepEqual(names(cache.byIndex("color", "red")), []);
    assert.deepEqual(names(cache.byIndex("color", "blue")), ["a", "b"]);
    cache.addIndex("first letter", ({ metadata }) => [metadata.name.slice(0, 1)]);
    assert.deepEqual(names(cache.byIndex("first letter", "b")), ["b"]);
    assert.throws(() => cache.byIndex("size", "1"), /there is no index size/);
  });

  test("namespaces are kept apart", async () => {
    const { cache } = await filled([thing("a", 1), thing("a", 2, "blue", { namespace: "other", uid: "other-a" })]);
    assert.equal(cache.size, 2);
    assert.equal(cache.list("other").length, 1);
    assert.equal(cache.get({ namespace: "other", name: "a" })?.spec?.color, "blue");
    assert.equal(cache.get({ name: "a" }), undefined);
  });

  test("a handler that comes late learns the state first, then every change", async () => {
    const { cache, writer } = await filled([thing("a", 1), thing("b", 2)]);
    const told: string[] = [];
    cache.subscribe(({ kind, object, origin }) => told.push(`${origin} ${kind} ${object.metadata.name}`));
    writer.apply(thing("c", 101));
    assert.deepEqual(told, ["Initial Added a", "Initial Added b", "Watch Added c"]);
  });

  test("a handler that throws stops neither the others nor the cache", async () => {
    const errors: unknown[] = [];
    const { cache, writer } = await filled([], { onHandlerError: (error) => errors.push(error) });
    const told: Change[] = [];
    cache.subscribe(() => {
      throw new Error("broken handler");
    });
    cache.subscribe((change) => told.push(change));
    writer.apply(thing("a", 101));
    assert.equal(errors.length, 1);
    assert.equal(told.length, 1);
    assert.equal(cache.size, 1);
  });

  test("a second list tells only what differs", async () => {
    const { cache, writer } = await filled([thing("same", 1), thing("changed", 2), thing("gone", 3)]);
    const told: string[] = [];
    cache.subscribe(({ kind, object, origin }) => told.push(`${origin} ${kind} ${object.metadata.name}`));
    told.length = 0;
    writer.begin({ trusted: true });
    await writer.page([thing("same", 1), thing("changed", 150, "blue"), thing("new", 160)]);
    writer.synced("200");
    assert.deepEqual(told, ["List Updated changed", "List Added new", "List Deleted gone"]);
  });

  test("there is only one writer", async () => {
    const { cache } = await filled([]);
    assert.throws(() => cache.writer(), /already has its writer/);
  });
});

// Random histories on the server against random faults on the way: in the end the cache is the server, and every key
// whose state differs from what was handed out last has been in the queue.
type Action = { readonly do: "put" | "delete" | "recreate" | "wait" | "compact"; readonly name: string };
const action: fc.Arbitrary<Action> = fc.record({
  do: fc.constantFrom("put", "put", "put", "delete", "recreate", "wait", "compact"),
  name: fc.constantFrom("a", "b", "c", "d"),
});
const streamFault: fc.Arbitrary<Fault> = fc.oneof(
  fc.nat(4).map(endAfter),
  fc.nat(4).map(breakAfter),
  fc.nat(4).map(silentAfter),
  fc.constant<Fault>({ kind: "Answer", code: 410, reason: "Expired" }),
  fc.constant<Fault>({ kind: "Answer", code: 500 }),
  fc.constant<Fault>({ kind: "Unreachable" }),
  fc.constant(mapEvents((event) => [event, event])),
  fc.nat(3).map((at) => mapEvents((event, index) => (index === at ? [Buffer.from("{broken\n")] : [event]))),
  fc.constant(undefined).map(swapped),
);

test("property: after any history under any faults the cache equals the server and no key is lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.array(streamFault, { maxLength: 6 }),
      fc.array(
        fc.constantFrom<Fault>(
          { kind: "Answer", code: 500 },
          { kind: "Unreachable" },
          { kind: "Answer", code: 410, reason: "Expired" },
        ),
        { maxLength: 3 },
      ),
      fc.boolean(),
      fc.nat(),
      async (history, streamFaults, listFaults, watchList, seed) => {
        const world = createWorld({ kinds: [Thing], seed });
        for (const fault of streamFaults) world.faults.add({ when: ({ isWatch }) => isWatch, times: 1, fault });
        for (const fault of listFaults) world.faults.add({ when: isList, times: 1, fault });
        const informer = createInformer(
          Thing,
          {},
          {
            env: world.env,
            client: world.client,
            log: silentLogger, // An event that is lost before a bookmark only shows in the periodic list.
            watcher: { watchList, pageSize: 2, relistEveryMs: 900_000 },
          },
        );
        const queue = new WorkQueue({ env: world.env, name: "q" });
        informer.cache.subscribe(({ object }) => void queue.add(object.metadata.name));
        const seen = new Map<string, string | undefined>();
        const work = (): void => {
          for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
            seen.set(item.key, informer.cache.get({ namespace: "ns", name: item.key })?.metadata.resourceVersion);
            queue.done(item.key);
          }
        };
        const abort = new AbortController();
        const run = informer.run(abort.signal);
        for (const next of history) {
          await perform(world, next);
          work();
        }
        const equal = (): void => {
          const server = new Map(
            world.all(Thing).map((object) => [object.metadata.name, object.metadata.resourceVersion]),
          );
          const cached = new Map(
            informer.cache.list().map((object) => [object.metadata.name, object.metadata.resourceVersion]),
          );
          assert.ok(informer.cache.synced);
          assert.deepEqual([...cached].sort(), [...server].sort());
          work();
          for (const [name, version] of server)
            assert.equal(seen.get(name), version, `${name} was never worked on in its last state`);
          for (const [name, version] of seen)
            if (!server.has(name)) assert.equal(version, undefined, `the deletion of ${name} was missed`);
        };
        await eventually(world.env, equal, { withinMs: 3_600_000, stepMs: 5000 });
        abort.abort();
        await run;
      },
    ),
    { numRuns: Number(process.env["CAPSTAN_PROPERTY_RUNS"] ?? 150) },
  );
});

const isList = ({ method, isWatch, path }: RequestInfo): boolean =>
  method === "GET" && !isWatch && path.endsWith("/things");

async function perform(world: World, { do: what, name }: Action): Promise<void> {
  const key = { name, namespace: "ns" };
  const put = (): Promise<unknown> => world.direct.apply(Thing, { metadata: key, spec: { color: world.env.uuid() } });
  const remove = (): Promise<unknown> => world.direct.delete(Thing, key).catch(() => undefined);
  switch (what) {
    case "put":
      return void (await put());
    case "delete":
      return void (await remove());
    case "recreate":
      await remove();
      return void (await put());
    case "wait":
      return world.env.advance(world.env.random() * 5000);
    case "compact":
      return world.store.compact();
  }
}

/** Every two events change places. */
function swapped(): Fault {
  let kept: Parameters<Parameters<typeof mapEvents>[0]>[0] | undefined;
  return mapEvents((event) => {
    if (event.type === "BOOKMARK") return [event];
    if (kept === undefined) {
      kept = event;
      return [];
    }
    const first = kept;
    kept = undefined;
    return [event, first];
  });
}
