import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectEverywhere } from "../env/threads.ts";
import type { KubeObject } from "../kube/object.ts";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import { ObjectCache } from "./cache.ts";
import { OwnWrites } from "./own-writes.ts";
import type { WatcherSink } from "./watcher.ts";

interface Thing extends KubeObject {
  readonly color: string;
}
const thing = (name: string, version: number, color = "red", uid = `uid-${name}`): Thing => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name, namespace: "ns", uid, resourceVersion: String(version) },
  color,
});
const key = (name: string) => ({ namespace: "ns", name });

interface Setup {
  readonly env: ManualEnv;
  readonly own: OwnWrites<Thing>;
  readonly server: WatcherSink<Thing>;
  readonly triggers: string[];
  readonly echoes: () => number;
}

async function setup(...objects: readonly Thing[]): Promise<Setup> {
  const env = manualEnv();
  const cache = new ObjectCache<Thing>({ env, indexes: { color: ({ color }) => [color] } });
  const server = cache.writer();
  server.begin({ trusted: true });
  await server.page(objects);
  server.synced("100");
  let echoes = 0;
  const own = new OwnWrites(env, cache, () => echoes++);
  const triggers: string[] = [];
  cache.subscribe((change) => {
    if (change.origin === "Initial") return;
    own.admit(change, () =>
      triggers.push(`${change.kind} ${change.object.metadata.name}@${change.object.metadata.resourceVersion}`),
    );
  });
  return { env, own, server, triggers, echoes: () => echoes };
}

describe("own writes", () => {
  test("a write is seen at once by get, list and index, and only until the watch has it", async () => {
    const { own, server } = await setup(thing("a", 1), thing("b", 2));
    own.written(thing("a", 101, "blue"), thing("a", 1));
    own.written(thing("new", 102, "blue"), undefined);
    assert.equal(own.get(key("a"))?.color, "blue");
    assert.equal(own.get(key("new"))?.color, "blue");
    assert.deepEqual(
      own
        .list("ns")
        .map(({ metadata }) => metadata.name)
        .sort(),
      ["a", "b", "new"],
    );
    assert.deepEqual(
      own.byIndex("color", "red").map(({ metadata }) => metadata.name),
      ["b"],
    );
    assert.deepEqual(
      own.byIndex("color", "blue").map(({ metadata }) => metadata.name),
      ["a", "new"],
    );
    assert.equal(own.pending, 2);
    server.apply(thing("a", 101, "blue"));
    server.apply(thing("new", 102, "blue"));
    assert.equal(own.pending, 0);
  });

  test("what the watch has told is let go, although nobody asks for it again", async () => {
    const { own, server } = await setup();
    const before = heapUsed();
    const things = 1_000;
    for (let index = 0; index < things; index++) {
      const [made, gone] = [101 + 2 * index, 102 + 2 * index];
      const large = (version: number): Thing =>
        thing(`t${index}`, version, Buffer.alloc(10_000, String(index)).toString());
      own.written(large(made), undefined);
      server.apply(large(made));
      if (index % 2 === 0) own.deleted(key(`t${index}`), `uid-t${index}`);
      server.remove(large(gone));
    }
    const bytesEach = (heapUsed() - before) / things;
    assert.ok(bytesEach < 2_000, `${bytesEach} bytes each`);
    assert.equal(own.pending, 0);
  });

  test("the echo of a write triggers nothing; a foreign change does", async () => {
    const { own, server, triggers, echoes } = await setup(thing("a", 1));
    own.written(thing("a", 101, "blue"), thing("a", 1));
    server.apply(thing("a", 101, "blue"));
    assert.deepEqual(triggers, []);
    assert.equal(echoes(), 1);
    server.apply(thing("a", 105, "green"));
    assert.deepEqual(triggers, ["Updated a@105"]);
  });

  test("a chain of own writes echoes silently", async () => {
    const { own, server, triggers } = await setup(thing("a", 1));
    own.written(thing("a", 101, "blue"), thing("a", 1));
    own.written(thing("a", 103, "green"), own.get(key("a")));
    server.apply(thing("a", 101, "blue"));
    assert.equal(own.get(key("a"))?.color, "green", "the later write is still ahead of the watch");
    server.apply(thing("a", 103, "green"));
    assert.deepEqual(triggers, []);
  });

  test("a foreign change between what was seen and the own write is news twice rather than never", async () => {
    const { own, server, triggers } = await setup(thing("a", 1));
    own.written(thing("a", 110, "mixed"), thing("a", 1));
    server.apply(thing("a", 105, "foreign"));
    assert.equal(own.get(key("a"))?.color, "mixed", "the past is not shown again");
    server.apply(thing("a", 110, "mixed"));
    assert.deepEqual(triggers, ["Updated a@105", "Updated a@110"]);
  });

  test("an echo that comes before the answer waits for it", async () => {
    const { env, own, server, triggers } = await setup(thing("a", 1));
    const before = own.get(key("a"));
    await own.during(key("a"), async () => {
      server.apply(thing("a", 101, "blue"));
      assert.deepEqual(triggers, []);
      own.written(thing("a", 101, "blue"), before);
    });
    assert.deepEqual(triggers, []);
    const failing = own.during(key("a"), async () => {
      server.apply(thing("a", 107, "green"));
      throw new Error("no answer");
    });
    await assert.rejects(failing, /no answer/);
    assert.deepEqual(triggers, ["Updated a@107"], "without an answer it is taken for news");
    await env.flush();
  });

  test("a deletion is seen at once, its echo is silent, and a namesake that comes later is not hidden", async () => {
    const { own, server, triggers } = await setup(thing("a", 1), thing("b", 2));
    own.deleted(key("a"), "uid-a");
    assert.equal(own.get(key("a")), undefined);
    assert.deepEqual(
      own.list().map(({ metadata }) => metadata.name),
      ["b"],
    );
    server.remove(thing("a", 101));
    assert.deepEqual(triggers, []);
    own.deleted(key("b"), "uid-b");
    server.apply(thing("b", 105, "blue", "uid-b2"));
    assert.equal(own.get(key("b"))?.color, "blue");
    assert.deepEqual(triggers, ["Added b@105"]);
  });

  test("what the watch has overtaken is forgotten, even if the object never appeared", async () => {
    const { own, server } = await setup();
    own.written(thing("brief", 101), undefined);
    assert.ok(own.get(key("brief")));
    server.progress("150");
    assert.equal(own.get(key("brief")), undefined, "created and deleted again, as a bookmark proves");
  });

  test("a list, unlike a watch, is always news", async () => {
    const { own, server, triggers } = await setup(thing("a", 1));
    own.written(thing("a", 101, "blue"), thing("a", 1));
    server.begin({ trusted: true });
    await server.page([thing("a", 101, "blue")]);
    server.synced("120");
    assert.deepEqual(triggers, ["Updated a@101"]);
  });

  test("versions that are not numbers are dropped after a while", async () => {
    const { env, own } = await setup(thing("a", 1));
    own.written(
      { ...thing("a", 1, "blue"), metadata: { ...thing("a", 1).metadata, resourceVersion: "opaque" } },
      thing("a", 1),
    );
    assert.equal(own.get(key("a"))?.color, "blue");
    await env.advance(61_000);
    assert.equal(own.get(key("a"))?.color, "red");
  });
});

function heapUsed(): number {
  collectEverywhere();
  return process.memoryUsage().heapUsed;
}
