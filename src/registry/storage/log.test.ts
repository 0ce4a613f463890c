import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { systemEnv } from "../../env/system.ts";
import type { Database } from "../../store/database.ts";
import { openSqlite } from "../../store/sqlite-database.ts";
import { StoreError } from "../../store/store-error.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import type { NewChange } from "../model/change.ts";
import { describeLog, exampleInstance } from "./log-cases.ts";
import { MemoryLog } from "./memory-log.ts";
import { openSqlLog } from "./sql-log.ts";

let memory = new MemoryLog(() => systemEnv.now().getTime());
describeLog("memory", {
  open: async () => memory.replica(),
  async reset() {
    memory = new MemoryLog(() => systemEnv.now().getTime());
  },
  close: async () => undefined,
});

const folder = mkdtempSync(join(tmpdir(), "capstan-registry-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let open: Database[] = [];
let round = 0;
describeLog("SQLite", {
  async open() {
    const database = await openSqlite(join(folder, `${round}.db`));
    open.push(database);
    return openSqlLog(systemEnv, database);
  },
  async reset() {
    round++;
  },
  async close() {
    await Promise.all(open.map((database) => database.close()));
    open = [];
  },
});

test("in a file of our own a registration is written in one turn", async () => {
  const database = await openSqlite(":memory:");
  const log = await openSqlLog(systemEnv, {
    kind: database.kind,
    migrate: (component, migrations) => database.migrate(component, migrations),
    query: (sql, values) => database.query(sql, values),
    write: (steps) => database.write(steps),
    listen: (channel, listener) => database.listen(channel, listener),
    close: () => database.close(),
    transaction: () => Promise.reject(new Error("a transaction takes one turn for each statement")),
  });
  const decide = (): readonly NewChange[] => [{ kind: "Registered", id: "x", atMs: 1, instance: exampleInstance }];
  for (const applied of [0, 1]) {
    const made = await log.commit({ applied, confirm: [], decide });
    assert.deepEqual(
      made.map(({ sequence }) => sequence),
      [applied + 1],
    );
  }
  const [row] = await database.query("SELECT sequence FROM registry_services");
  assert.equal(row?.["sequence"], 2);
  await database.close();
});

test("what is pruned is gone from the file, except each service's last change", async () => {
  const database = await openSqlite(":memory:");
  const log = await openSqlLog(systemEnv, database);
  const ids = ["early", ...Array.from({ length: 12_000 }, (_, index) => `id-${index % 3}`)];
  const changes = ids.map((id): NewChange => ({ kind: "Registered", id, atMs: 1, instance: exampleInstance }));
  await log.commit({ applied: 0, confirm: [], decide: () => changes });
  await log.saveBeats([
    { id: "early", ageMs: 0 },
    { id: "nobody", ageMs: 0 },
  ]);
  await log.prune(12_001);
  const kept = await database.query("SELECT sequence FROM registry_changes ORDER BY sequence");
  assert.deepEqual(
    kept.map(({ sequence }) => sequence),
    [1, 11_999, 12_000, 12_001],
  );
  const beats = await database.query("SELECT id FROM registry_beats");
  assert.deepEqual(
    beats.map(({ id }) => id),
    ["early"],
  );
  await database.close();
});

test("heartbeats that wait for their turn are saved as old as they are by then", async () => {
  const database = await openSqlite(":memory:");
  const clock = manualEnv();
  const log = await openSqlLog(clock, database);
  const instance: NewChange = { kind: "Registered", id: "a", atMs: 1, instance: exampleInstance };
  await log.commit({ applied: 0, confirm: [], decide: () => [instance] });
  const turn = Promise.withResolvers<void>();
  const before = database.transaction(() => turn.promise);
  const saved = log.saveBeats([{ id: "a", ageMs: 500 }]);
  await clock.advance(2_000);
  turn.resolve();
  await Promise.all([before, saved]);
  const [row] = await database.query("SELECT last_seen_ms FROM registry_beats");
  assert.equal(Number(row?.["last_seen_ms"]), clock.now().getTime() - 2_500);
  await database.close();
});

describe("a commit whose answer was lost (F43)", () => {
  /** A database that loses its connection at the commit: after it, or instead of it. */
  const losing = (database: Database, when: "after" | "before"): Database => {
    let isFirst = true;
    return {
      kind: database.kind,
      migrate: (component, migrations) => database.migrate(component, migrations),
      query: (sql, values) => database.query(sql, values),
      write: (steps) => database.write(steps),
      listen: (channel, listener) => database.listen(channel, listener),
      close: () => database.close(),
      async transaction(work) {
        const isLost = isFirst;
        isFirst = false;
        if (!isLost) return database.transaction(work);
        const unknown = new StoreError("CommitUnknown", "connection lost");
        if (when === "after") await database.transaction(work);
        else
          await database
            .transaction(async (transaction) => Promise.reject(await work(transaction)))
            .catch(() => undefined);
        throw unknown;
      },
    };
  };
  const forgotten = [{ kind: "Forgotten", id: "x", atMs: 1, instance: null }] as const;

  test("is found in the log and acknowledged, once", async () => {
    const database = losing(await openSqlite(":memory:"), "after");
    const log = await openSqlLog(systemEnv, database);
    const made = await log.commit({ applied: 0, confirm: [], decide: () => forgotten });
    assert.deepEqual(
      made.map(({ sequence }) => sequence),
      [1],
    );
    assert.equal((await log.load()).sequence, 1);
    await database.close();
  });

  test("is not found and may be tried again", async () => {
    const database = losing(await openSqlite(":memory:"), "before");
    const log = await openSqlLog(systemEnv, database);
    const lost = log.commit({ applied: 0, confirm: [], decide: () => forgotten });
    await assert.rejects(lost, (error) => error instanceof StoreError && error.reason === "Unavailable");
    assert.equal((await log.load()).sequence, 0);
    await database.close();
  });
});
