import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, configMap, mergePatch, type Watch } from "../case.ts";

const told = async (watch: Watch, count: number): Promise<readonly string[]> => {
  const events: string[] = [];
  for (let i = 0; i < count; i++) {
    const { type, object } = await watch.next();
    events.push(`${type} ${object.text("metadata.name")}`);
  }
  return events;
};

async function listVersion(t: Context, path: string): Promise<string> {
  return (await t.get(path)).text("metadata.resourceVersion");
}

/** Watches: every change once, in order, from where the client left off. */
export const watchCases: readonly Case[] = [
  {
    name: "watch: from a list's version tells exactly what happened since",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("before"));
      const watch = t.watch(`${path}?watch=true&resourceVersion=${await listVersion(t, path)}`);
      await t.create(path, configMap("a"));
      await t.put(`${path}/a`, configMap("a", { x: "1" }));
      await t.remove(`${path}/a`);
      assert.deepEqual(await told(watch, 3), ["ADDED a", "MODIFIED a", "DELETED a"]);
    },
  },
  {
    name: "watch: events carry the object with its version; a deletion has a version of its own",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(`${path}?watch=true&resourceVersion=${await listVersion(t, path)}`);
      const made = await t.create(path, configMap("a", { x: "1" }));
      await t.remove(`${path}/a`);
      const added = await watch.next();
      assert.deepEqual(added.object.value, made.value);
      const deleted = await watch.next();
      assert.equal(deleted.object.at("data.x"), "1");
      assert.ok(Number(deleted.object.at("metadata.resourceVersion")) > Number(made.at("metadata.resourceVersion")));
    },
  },
  {
    name: "watch: without a version begins with what is there",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      await t.create(path, configMap("b"));
      const watch = t.watch(`${path}?watch=true`);
      assert.deepEqual([...(await told(watch, 2))].sort(), ["ADDED a", "ADDED b"]);
      await t.create(path, configMap("c"));
      assert.deepEqual(await told(watch, 1), ["ADDED c"]);
    },
  },
  {
    name: "watch: resourceVersion=0 begins with what is there",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const watch = t.watch(`${path}?watch=true&resourceVersion=0`);
      assert.deepEqual(await told(watch, 1), ["ADDED a"]);
    },
  },
  {
    name: "watch: a past version is resumed from",
    async run(t) {
      const path = await t.core("configmaps");
      const first = await t.create(path, configMap("a"));
      await t.create(path, configMap("b"));
      await t.put(`${path}/a`, configMap("a", { x: "1" }));
      const watch = t.watch(`${path}?watch=true&resourceVersion=${first.text("metadata.resourceVersion")}`);
      assert.deepEqual(await told(watch, 2), ["ADDED b", "MODIFIED a"]);
    },
  },
  {
    name: "watch: a version that is too old is an ERROR event with 410 Expired",
    async run(t) {
      const watch = t.watch(`${await t.core("configmaps")}?watch=true&resourceVersion=1`);
      await t.eventually("the server forgets or answers", async () => true);
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const { type, object } = await watch.next();
      // A young server still remembers its first version; then the change itself comes.
      if (type !== "ADDED") {
        assert.equal(type, "ERROR");
        assert.equal(object.at("code"), 410);
        assert.equal(object.at("reason"), "Expired");
      }
    },
  },
  {
    name: "watch: a version that is not a number is a fault",
    async run(t) {
      assertStatus(await t.request("GET", `${await t.core("configmaps")}?watch=true&resourceVersion=abc`), 500, "");
    },
  },
  {
    name: "watch: timeoutSeconds ends the stream",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(`${path}?watch=true&timeoutSeconds=1&resourceVersion=${await listVersion(t, path)}`);
      assert.equal(await watch.nextOrEnd(5000), undefined);
    },
  },
  {
    name: "watch: bookmarks are few, and the stream still ends in time",
    async run(t) {
      const path = await t.core("configmaps");
      const version = await listVersion(t, path);
      const watch = t.watch(`${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${version}`);
      const bookmarks: string[] = [];
      for (let event = await watch.nextOrEnd(5000); event; event = await watch.nextOrEnd(5000)) {
        assert.equal(event.type, "BOOKMARK");
        bookmarks.push(event.object.text("metadata.resourceVersion"));
        assert.ok(bookmarks.length <= 3, "a stream of a second has no more than a few bookmarks");
      }
      for (const bookmark of bookmarks) assert.ok(Number(bookmark) >= Number(version));
    },
  },
  {
    name: "watch: any word but false counts as true",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      assert.deepEqual(await told(t.watch(`${path}?watch=maybe`), 1), ["ADDED a"]);
      assert.equal((await t.get(`${path}?watch=false`)).at("kind"), "ConfigMapList");
    },
  },
  {
    name: "watch: only the namespace that was asked for",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(`${path}?watch=true&resourceVersion=${await listVersion(t, path)}`);
      await t.create("/api/v1/namespaces/default/configmaps", configMap(`other-${t.id}`));
      t.onCleanUp(() => t.request("DELETE", `/api/v1/namespaces/default/configmaps/other-${t.id}`));
      await t.create(path, configMap("mine"));
      assert.deepEqual(await told(watch, 1), ["ADDED mine"]);
    },
  },
  {
    name: "watch: all namespaces at once, with a selector",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(
        `/api/v1/configmaps?watch=true&labelSelector=case%3D${t.id}&resourceVersion=${await listVersion(t, path)}`,
      );
      await t.create(path, configMap("a"));
      await t.create(path, configMap("b", {}, { labels: { case: t.id } }));
      assert.deepEqual(await told(watch, 1), ["ADDED b"]);
    },
  },
  {
    name: "watch: one object through fieldSelector metadata.name",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(
        `${path}?watch=true&fieldSelector=metadata.name%3Db&resourceVersion=${await listVersion(t, path)}`,
      );
      await t.create(path, configMap("a"));
      await t.create(path, configMap("b"));
      await t.remove(`${path}/a`);
      await t.remove(`${path}/b`);
      assert.deepEqual(await told(watch, 2), ["ADDED b", "DELETED b"]);
    },
  },
  {
    name: "watch: an object that begins or ceases to match appears and disappears",
    async run(t) {
      const path = await t.core("configmaps");
      const watch = t.watch(`${path}?watch=true&labelSelector=on%3Dyes&resourceVersion=${await listVersion(t, path)}`);
      await t.create(path, configMap("a", { v: "1" }));
      await t.patch(`${path}/a`, mergePatch, { metadata: { labels: { on: "yes" } } });
      await t.patch(`${path}/a`, mergePatch, { data: { v: "2" } });
      const last = await t.patch(`${path}/a`, mergePatch, { metadata: { labels: { on: "no" } }, data: { v: "3" } });
      assert.deepEqual(await told(watch, 2), ["ADDED a", "MODIFIED a"]);
      const gone = await watch.next();
      assert.equal(gone.type, "DELETED");
      assert.equal(gone.object.at("metadata.labels.on"), "yes", "as the watcher knew it");
      assert.equal(gone.object.at("data.v"), "2");
      assert.equal(gone.object.at("metadata.resourceVersion"), last.at("metadata.resourceVersion"));
    },
  },
  {
    name: "watch: sendInitialEvents sends the state, then a bookmark that ends it",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const watch = t.watch(
        `${path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      assert.deepEqual(await told(watch, 1), ["ADDED a"]);
      const bookmark = await watch.next();
      assert.equal(bookmark.type, "BOOKMARK");
      assert.equal(bookmark.object.at("metadata.annotations[k8s.io/initial-events-end]"), "true");
      assert.match(bookmark.object.text("metadata.resourceVersion"), /^\d+$/);
      await t.create(path, configMap("b"));
      assert.deepEqual(await told(watch, 1), ["ADDED b"]);
    },
  },
  {
    name: "watch: sendInitialEvents=false sends only what comes",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const watch = t.watch(
        `${path}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
      );
      await t.pause(300);
      await t.create(path, configMap("b"));
      for (;;) {
        const { type, object } = await watch.next();
        if (type === "BOOKMARK") continue;
        assert.equal(`${type} ${object.text("metadata.name")}`, "ADDED b");
        break;
      }
    },
  },
  {
    name: "watch: sendInitialEvents needs resourceVersionMatch=NotOlderThan",
    async run(t) {
      const path = await t.core("configmaps");
      assertStatus(
        await t.request("GET", `${path}?watch=true&sendInitialEvents=true`),
        422,
        "Invalid",
        /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
      );
      assertStatus(
        await t.request("GET", `${path}?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1`),
        422,
        "Invalid",
        /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
      );
    },
  },
  {
    name: "watch: events can be Tables; only the first one carries the columns",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const watch = t.watch(`${path}?watch=true`, { accept: asTable });
      const first = await watch.next();
      assert.equal(first.object.at("kind"), "Table");
      assert.equal(first.object.at("rows[0].cells[0]"), "a");
      assert.ok(first.object.list("columnDefinitions").length > 0);
      await t.create(path, configMap("b"));
      const second = await watch.next();
      assert.equal(second.object.at("rows[0].cells[0]"), "b");
      assert.equal(second.object.list("columnDefinitions").length, 0);
    },
  },
  {
    name: "watch: events can be metadata only",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { x: "1" }));
      const watch = t.watch(`${path}?watch=true`, {
        accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
      });
      const { object } = await watch.next();
      assert.equal(object.at("kind"), "PartialObjectMetadata");
      assert.equal(object.at("data"), undefined);
    },
  },
  {
    name: "watch: many changes arrive in the order in which they were made",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { n: "0" }));
      const watch = t.watch(`${path}?watch=true&resourceVersion=${await listVersion(t, path)}`);
      for (let i = 1; i <= 40; i++) await t.put(`${path}/a`, configMap("a", { n: String(i) }));
      let before = 0;
      for (let i = 1; i <= 40; i++) {
        const { object } = await watch.next();
        assert.equal(object.at("data.n"), String(i));
        const version = Number(object.at("metadata.resourceVersion"));
        assert.ok(version > before);
        before = version;
      }
    },
  },
  {
    name: "watch: the old path with /watch/ still works",
    async run(t) {
      const namespace = await t.namespace();
      await t.create(await t.core("configmaps"), configMap("a"));
      assert.deepEqual(await told(t.watch(`/api/v1/watch/namespaces/${namespace}/configmaps`), 1), ["ADDED a"]);
      assert.deepEqual(await told(t.watch(`/api/v1/watch/namespaces/${namespace}/configmaps/a`), 1), ["ADDED a"]);
    },
  },
];
