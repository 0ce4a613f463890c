import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { describeStore } from "./contract-cases.ts";
import type { Database } from "./database.ts";
import { openSqlite } from "./sqlite-database.ts";
import { StoreError } from "./store-error.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-store-"));
const file = join(folder, "capstan.db");
const reset = async (): Promise<void> => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
};
after(() => rmSync(folder, { recursive: true, force: true }));

describeStore("SQLite", { open: () => openSqlite(file), reset });

const create = "CREATE TABLE items (id INTEGER PRIMARY KEY, body TEXT) STRICT";
const items = [{ version: 1, name: "items", sqlite: create, postgres: create }];
const insert = (database: Database, id: number, body = "x"): Promise<void> =>
  database.transaction((transaction) =>
    transaction.insert({ table: "items", columns: ["id", "body"], rows: [[id, body]] }),
  );
const hasReason = (reason: string) => (error: unknown) => error instanceof StoreError && error.reason === reason;

describe("SQLite's faults (F44)", () => {
  test("the file is only ours to read", async () => {
    await reset();
    const database = await openSqlite(file);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await database.close();
  });

  test("a full disk refuses the transaction and nothing else, and is over when there is room again", async () => {
    await reset();
    const database = await openSqlite(file);
    await database.migrate("items", items);
    const [pages] = await database.query("PRAGMA page_count");
    await database.query(`PRAGMA max_page_count=${Number(pages?.["page_count"]) + 2}`);
    await assert.rejects(insert(database, 1, "x".repeat(1_000_000)), hasReason("DiskFull"));
    await insert(database, 2);
    await database.query("PRAGMA max_page_count=100000");
    await insert(database, 3, "x".repeat(1_000_000));
    const rows = await database.query("SELECT id FROM items ORDER BY id");
    assert.deepEqual(
      rows.map(({ id }) => id),
      [2, 3],
    );
    await database.close();
  });

  test("a torn tail of the log loses only what was never acknowledged", async () => {
    await reset();
    const database = await openSqlite(file);
    await database.migrate("items", items);
    for (let id = 1; id <= 20; id++) await insert(database, id);
    // A crash in the middle of the next commit leaves a frame without its end.
    const copy = join(folder, "torn.db");
    const { copyFileSync } = await import("node:fs");
    copyFileSync(file, copy);
    copyFileSync(`${file}-wal`, `${copy}-wal`);
    writeFileSync(`${copy}-wal`, new Uint8Array(1234).fill(7), { flag: "a" });
    await database.close();
    const torn = await openSqlite(copy);
    const [count] = await torn.query("SELECT count(*) AS total FROM items");
    assert.equal(count?.["total"], 20);
    await insert(torn, 21);
    await torn.close();
  });

  test("a file that is no database is called that", async () => {
    const other = join(folder, "other.db");
    writeFileSync(other, "this is a text file, and a rather long one at that\n".repeat(100));
    await assert.rejects(openSqlite(other), hasReason("Corrupt"));
  });

  test("a damaged page is noticed", async () => {
    await reset();
    const database = await openSqlite(file);
    await database.migrate("items", items);
    for (let id = 1; id <= 50; id++) await insert(database, id, "x".repeat(4000));
    await database.close();
    truncateSync(file, Math.floor(statSync(file).size / 2));
    const damaged = await openSqlite(file).catch((error: unknown) => error);
    if (damaged instanceof Error) return assert.ok(hasReason("Corrupt")(damaged));
    await assert.rejects(
      (damaged as Database).query("SELECT sum(length(body)) AS total FROM items"),
      hasReason("Corrupt"),
    );
    await (damaged as Database).close();
  });

  test("a folder that cannot be written is called unavailable", {
    skip: process.getuid?.() === 0 ? "root may write everywhere" : false,
  }, async () => {
    chmodSync(folder, 0o500);
    await assert.rejects(openSqlite(join(folder, "new.db")), hasReason("Unavailable"));
    chmodSync(folder, 0o700);
  });
});
