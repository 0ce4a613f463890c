import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isGone,
  isKindMissing,
  isNotFound,
} from "../client/api-error.ts";
import type { WatchEvent } from "../client/client.ts";
import { defineKind, type KindRef, type ResourceOf } from "../kube/kind.ts";
import { integer, object, optional } from "../kube/schema/build.ts";
import { createWorld, type World } from "./world.ts";

const Widget = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  description: "A thing.",
  spec: object({ size: integer(), more: optional(integer()) }),
  status: object({ size: optional(integer()) }),
});
type Widget = ResourceOf<typeof Widget>;
const key = { name: "a", namespace: "ns" };
const created = (world: World, name = "a"): Promise<Widget> =>
  world.client.create(Widget, { metadata: { name, namespace: "ns" }, spec: { size: 1 } });

describe("in-memory world", () => {
  test("objects get a uid, a version, a generation and a time; a second create is refused", async () => {
    const world = createWorld({ kinds: [Widget] });
    const { metadata, spec } = await created(world);
    assert.deepEqual(
      { ...metadata, uid: undefined },
      { ...key, uid: undefined, resourceVersion: "2", generation: 1, creationTimestamp: "2026-01-01T00:00:00Z" },
    );
    assert.deepEqual(spec, { size: 1 });
    await assert.rejects(created(world), isAlreadyExists);
    await assert.rejects(world.client.get(Widget, { ...key, name: "b" }), isNotFound);
  });

  test("an outdated write conflicts, a no-op keeps the version, the generation counts specifications only", async () => {
    const world = createWorld({ kinds: [Widget] });
    const first = await created(world);
    const second = await world.client.update(Widget, { ...first, spec: { size: 2 } });
    assert.deepEqual([second.metadata.generation, second.metadata.resourceVersion], [2, "3"]);
    await assert.rejects(world.client.update(Widget, { ...first, spec: { size: 3 } }), isConflict);
    const same = await world.client.update(Widget, second);
    assert.equal(same.metadata.resourceVersion, "3");
    const labelled = await world.client.patch(Widget, key, {
      type: "merge",
      value: { metadata: { labels: { a: "b" } } },
    });
    assert.deepEqual([labelled.metadata.generation, labelled.metadata.resourceVersion], [2, "4"]);
  });

  test("status and the rest are written on separate paths", async () => {
    const world = createWorld({ kinds: [Widget] });
    const first = await created(world);
    const mixed = { ...first, spec: { size: 9 }, status: { size: 9 } };
    assert.equal((await world.client.update(Widget, mixed)).status, undefined);
    const latest = await world.client.get(Widget, key);
    const withStatus = await world.client.update(
      Widget,
      { ...latest, spec: { size: 1 }, status: { size: 5 } },
      { subresource: "status" },
    );
    assert.deepEqual(
      [withStatus.spec, withStatus.status, withStatus.metadata.generation],
      [{ size: 9 }, { size: 5 }, 2],
    );
  });

  test("finalizers hold a deletion, preconditions guard it", async () => {
    const world = createWorld({ kinds: [Widget] });
    const first = await created(world);
    await assert.rejects(world.client.delete(Widget, key, { preconditions: { uid: "another" } }), isConflict);
    await world.client.patch(Widget, key, { type: "merge", value: { metadata: { finalizers: ["x.io/y"] } } });
    const leaving = await world.client.delete(Widget, key, { preconditions: { uid: first.metadata.uid ?? "" } });
    assert.ok("deletionTimestamp" in leaving.metadata);
    await world.client.patch(Widget, key, {
      type: "json",
      operations: [{ op: "remove", path: "/metadata/finalizers" }],
    });
    assert.equal(world.all(Widget).length, 0);
  });

  test("apply: ownership, conflict, force, and removal of what is no longer stated", async () => {
    const world = createWorld({ kinds: [Widget] });
    const apply = (fieldManager: string, spec: object, force = false): Promise<Widget> =>
      world.client.apply(Widget, { metadata: key, spec }, { fieldManager, force });
    await apply("one", { size: 1, more: 1 });
    await assert.rejects(
      apply("two", { size: 2 }),
      (error) => isApplyConflict(error) && error.causes[0]?.field === ".spec.size",
    );
    assert.deepEqual((await apply("two", { size: 2 }, true)).spec, { size: 2, more: 1 });
    assert.deepEqual((await apply("one", {})).spec, { size: 2 });
    const version = world.store.version;
    await apply("two", { size: 2 });
    assert.equal(world.store.version, version, "the same again changes nothing");
  });

  test("lists come in consistent pages, and a token that is too old is 410", async () => {
    const world = createWorld({ kinds: [Widget] });
    for (const name of ["a", "b", "c", "d", "e"]) await created(world, name);
    const names: string[] = [];
    for await (const page of world.client.pages(Widget, { limit: 2 })) {
      names.push(...page.items.map(({ metadata }) => metadata.name));
      if (names.length === 2) await created(world, "bb");
    }
    assert.deepEqual(names, ["a", "b", "c", "d", "e"]);
    const stale = async (): Promise<void> => {
      for await (const _ of world.client.pages(Widget, { limit: 2 })) {
        await world.client.delete(Widget, { ...key, name: "e" }).catch(() => undefined);
        world.store.compact();
      }
    };
    await assert.rejects(stale(), isGone);
  });

  test("a watch sends what happened and what happens, bookmarks, and ends in time", async () => {
    const world = createWorld({ kinds: [Widget] });
    const first = await created(world);
    await created(world, "b");
    const events: WatchEvent<Widget>[] = [];
    const version = first.metadata.resourceVersion ?? "";
    const watched = (async () => {
      for await (const event of world.client.watch(Widget, {
        resourceVersion: version,
        allowWatchBookmarks: true,
        timeoutSeconds: 100,
      }))
        events.push(event);
    })();
    await world.env.advance(61_000);
    await world.client.delete(Widget, key);
    await world.env.advance(60_000);
    await watched;
    assert.deepEqual(
      events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}@${object.metadata.resourceVersion}`),
      ["ADDED b@3", "BOOKMARK @3", "DELETED a@4"],
    );
    world.store.compact();
    await assert.rejects(async () => {
      for await (const _ of world.client.watch(Widget, { resourceVersion: "2" })) assert.fail("410 comes first");
    }, isGone);
  });

  test("kinds are unknown until they are served, and discovery notices", async () => {
    const world = createWorld();
    await assert.rejects(world.client.list(Widget), isKindMissing);
    world.serve(Widget);
    assert.deepEqual((await world.client.list(Widget)).items, []);
    const found: KindRef | undefined = await world.client.discover("example.com", "Widget");
    assert.equal(found?.plural, "widgets");
  });
});
