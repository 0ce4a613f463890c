import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemEnv } from "../../env/system.ts";
import type { KubeObject } from "../../kube/object.ts";
import { type CommitLog, createMemoryLog } from "./commit-log.ts";
import { createSqliteLog } from "./sqlite-log.ts";
import { Store } from "./store.ts";

const object = (name: string, value: string): KubeObject & { value: string } => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  value,
});
const written = async (outcome: Promise<unknown> | undefined): Promise<void> => {
  assert.ok(outcome, "the write was refused");
  await outcome;
};
const values = (store: Store): string[] =>
  store
    .collection("things")
    .range()
    .map((entry) => (entry.object as unknown as { value: string }).value);

describe("the store", () => {
  it("shows a write to writers at once and to readers only when it is on disk", async () => {
    const { promise: disk, resolve: spin } = Promise.withResolvers<void>();
    const store = new Store(systemEnv, { ...createMemoryLog(), append: () => disk });
    const outcome = store.write("things", "a", undefined, object("a", "1"));
    assert.equal(store.get("things", "a"), undefined);
    assert.equal(store.latest("things", "a")?.revision, 1);
    assert.equal(store.revision, 0);
    spin();
    await written(outcome);
    assert.equal(store.get("things", "a")?.object.metadata.resourceVersion, "1");
    await store.close();
  });

  it("refuses a write that has not seen the newest version", async () => {
    const store = new Store(systemEnv, createMemoryLog());
    await written(store.write("things", "a", undefined, object("a", "1")));
    const seen = store.latest("things", "a");
    await written(store.write("things", "a", seen, object("a", "2")));
    assert.equal(store.write("things", "a", seen, object("a", "3")), undefined);
    assert.equal(store.write("things", "a", undefined, object("a", "3")), undefined);
    assert.deepEqual(values(store), ["2"]);
    await store.close();
  });

  it("shares one commit between writes that arrive together", async () => {
    const batches: number[] = [];
    const log: CommitLog = {
      ...createMemoryLog(),
      append: async (records) => {
        batches.push(records.length);
      },
    };
    const store = new Store(systemEnv, log);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => store.write("things", `k${i}`, undefined, object("k", "v"))),
    );
    assert.deepEqual(batches, [50]);
    await store.close();
  });

  it("forgets all writes that rest on a failed commit and goes on afterwards", async () => {
    let full = true;
    const log: CommitLog = {
      ...createMemoryLog(),
      append: async () => {
        if (full) throw new Error("disk full");
      },
    };
    const store = new Store(systemEnv, log);
    const first = store.write("things", "a", undefined, object("a", "1"));
    const second = store.write("things", "a", store.latest("things", "a"), object("a", "2"));
    await assert.rejects(first ?? Promise.resolve(), /could not be stored/);
    await assert.rejects(second ?? Promise.resolve(), /could not be stored/);
    assert.equal(store.latest("things", "a"), undefined);
    full = false;
    await written(store.write("things", "a", undefined, object("a", "3")));
    assert.deepEqual(values(store), ["3"]);
    await store.close();
  });

  it("can show the past as long as history reaches", async () => {
    const store = new Store(systemEnv, createMemoryLog());
    await written(store.write("things", "b", undefined, object("b", "1")));
    await written(store.write("things", "a", undefined, object("a", "2")));
    const then = store.revision;
    await written(store.write("things", "a", store.latest("things", "a"), object("a", "3")));
    await written(store.write("things", "b", store.latest("things", "b"), undefined));
    await written(store.write("things", "c", undefined, object("c", "4")));
    const past = store.viewAt("things", "", then);
    const shown = Array.from({ length: past.size }, (_, i) => `${past.at(i)?.key}@${past.at(i)?.revision}`);
    assert.deepEqual(shown, ["a@2", "b@1"]);
    assert.deepEqual(values(store), ["3", "4"]);
    await store.close();
  });

  it("compacts by count and keeps the newest changes", async () => {
    const store = new Store(systemEnv, createMemoryLog(), { maxChanges: 10 });
    await written(store.write("things", "a", undefined, object("a", "0")));
    for (let i = 1; i <= 30; i++)
      await written(store.write("things", "a", store.latest("things", "a"), object("a", `${i}`)));
    assert.ok(store.compactedRevision >= 20 && store.compactedRevision < 31, `${store.compactedRevision}`);
    const events = store.events("things");
    assert.equal(events.at(0), "dropped");
    assert.equal(events.positionAfter(store.compactedRevision) + 31 - store.compactedRevision, events.end);
    await store.close();
  });
});

describe("the store on disk", () => {
  it("comes back with state, history and revision after a restart", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const store = new Store(systemEnv, createSqliteLog(file));
      await written(store.write("things", "a", undefined, object("a", "1")));
      await written(store.write("things", "b", undefined, object("b", "ü")));
      await written(store.write("things", "a", store.latest("things", "a"), undefined));
      await store.close();
      const again = new Store(systemEnv, createSqliteLog(file));
      assert.equal(again.revision, 3);
      assert.deepEqual(values(again), ["ü"]);
      const last = again.events("things").at(2);
      assert.ok(last && last !== "dropped");
      assert.equal(last.kind, "Deleted");
      assert.equal(last.entry.object.metadata.resourceVersion, "3");
      await again.close();
    });
  });

  it("removes replaced rows at compaction and never goes back in revisions", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const store = new Store(systemEnv, createSqliteLog(file), { maxChanges: 2 });
      await written(store.write("things", "a", undefined, object("a", "1")));
      await written(store.write("things", "b", undefined, object("b", "1")));
      await written(store.write("things", "b", store.latest("things", "b"), undefined));
      await written(store.write("things", "c", undefined, object("c", "1")));
      await written(store.write("things", "c", store.latest("things", "c"), undefined));
      const { compactedRevision } = store;
      await store.close();
      const log = createSqliteLog(file);
      const loaded = log.load();
      assert.equal(loaded.compactedRevision, compactedRevision);
      assert.deepEqual(
        loaded.records.filter(({ key }) => key === "b").map(({ revision }) => revision),
        [],
      );
      await log.close();
      const again = new Store(systemEnv, createSqliteLog(file));
      assert.equal(again.revision, 5);
      assert.deepEqual(values(again), ["1"]);
      await again.close();
    });
  });

  it("says that another process holds the file", async () => {
    await inDirectory(async (directory) => {
      const file = join(directory, "api.db");
      const store = new Store(systemEnv, createSqliteLog(file));
      await written(store.write("things", "a", undefined, object("a", "1")));
      const second = createSqliteLog(file);
      assert.throws(() => second.load(), /another process is using it/);
      await second.close();
      await store.close();
    });
  });
});

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "capstan-store-"));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
