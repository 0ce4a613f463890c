import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Database, Migration, SqlValue, WriteStep } from "./database.ts";
import { StoreError } from "./store-error.ts";

/** What every engine must do, run by sqlite.test.ts and by postgres.machine.ts. */
export function describeStore(name: string, engine: StoreUnderTest): void {
  const open = async (): Promise<Database> => {
    const database = await engine.open();
    await database.migrate("contract", migrations);
    return database;
  };
  const using = async (work: (database: Database) => Promise<void>): Promise<void> => {
    await engine.reset();
    const database = await open();
    try {
      await work(database);
    } finally {
      await database.close();
    }
  };
  const put = (database: Database, rows: readonly (readonly [string, number])[]): Promise<void> =>
    database.transaction((transaction) =>
      transaction.insert({ table: "contract_items", columns: ["id", "size"], rows, onConflict }),
    );
  const all = (database: Database): Promise<readonly unknown[]> =>
    database.query("SELECT id, size FROM contract_items ORDER BY id");

  describe(`${name}: the store's contract`, { timeout: 180_000 }, () => {
    test("keeps what was committed when it is opened again", async () => {
      await engine.reset();
      const first = await open();
      await put(first, [["a", 1]]);
      await first.close();
      const second = await open();
      assert.deepEqual(await all(second), [{ id: "a", size: 1 }]);
      await second.close();
    });

    test("gives back text, numbers up to 2^53, bytes and nothing", () =>
      using(async (database) => {
        const bytes = new Uint8Array([0, 1, 255]);
        await database.query("INSERT INTO contract_items (id, size, body, note) VALUES (?, ?, ?, ?)", [
          "it's ünïcode ? $1",
          Number.MAX_SAFE_INTEGER,
          bytes,
          null,
        ]);
        const [row] = await database.query("SELECT id, size, body, note FROM contract_items WHERE id = ?", [
          "it's ünïcode ? $1",
        ]);
        assert.equal(row?.["size"], Number.MAX_SAFE_INTEGER);
        assert.equal(row?.["note"], null);
        assert.deepEqual(new Uint8Array(row?.["body"] as Uint8Array), bytes);
      }));

    test("does all of a transaction or nothing", () =>
      using(async (database) => {
        const broken = database.transaction(async (transaction) => {
          await transaction.insert({ table: "contract_items", columns: ["id", "size"], rows: [["x", 1]] });
          throw new Error("changed my mind");
        });
        await assert.rejects(broken, /changed my mind/);
        assert.deepEqual(await all(database), []);
        await put(database, [["y", 2]]);
        assert.deepEqual(await all(database), [{ id: "y", size: 2 }]);
      }));

    test("says Conflict for a key that is taken, and goes on working", () =>
      using(async (database) => {
        await put(database, [["a", 1]]);
        const again = database.transaction((transaction) =>
          transaction.insert({ table: "contract_items", columns: ["id", "size"], rows: [["a", 2]] }),
        );
        await assert.rejects(again, (error) => error instanceof StoreError && error.reason === "Conflict");
        assert.deepEqual(await all(database), [{ id: "a", size: 1 }]);
      }));

    test("inserts more rows than one statement may have values, and updates those that are there", () =>
      using(async (database) => {
        const rows = Array.from({ length: 40_000 }, (_, index) => [`id-${index}`, index] as const);
        await put(database, rows);
        await put(database, [["id-7", -7]]);
        const [row] = await database.query("SELECT count(*) AS total, min(size) AS least FROM contract_items");
        assert.deepEqual({ ...row }, { total: 40_000, least: -7 });
      }));

    test("inserts every text as it is, and nothing where there is nothing", () =>
      using(async (database) => {
        const texts = [
          "",
          "NULL",
          "{a,b}",
          'say "no"',
          String.raw`C:\new\{x}`,
          "it's ünïcode 🚀, ? $1",
          " edge ",
          "two\nlines",
        ];
        const columns = ["id", "size", "body", "note"];
        const insert = (rows: readonly (readonly SqlValue[])[]): Promise<void> =>
          database.transaction((transaction) => transaction.insert({ table: "contract_items", columns, rows }));
        const bytes = new Uint8Array([0, 34, 92, 255]);
        await insert([]);
        await insert(texts.map((text, index) => [`text-${index}`, index % 2 ? null : 1 - index, null, text]));
        await insert([
          ["note", 1, null, "there"],
          ["no note", null, null, null],
        ]);
        await insert([["bytes", Number.MAX_SAFE_INTEGER, bytes, null]]);
        const rows = await database.query(
          "SELECT id, size, note FROM contract_items WHERE id LIKE 'text-%' ORDER BY id",
        );
        assert.deepEqual(
          rows.map((row) => [row["size"], row["note"]]),
          texts.map((text, index) => [index % 2 ? null : 1 - index, text]),
        );
        const [bare] = await database.query("SELECT size, note FROM contract_items WHERE id = ?", ["no note"]);
        assert.deepEqual({ ...bare }, { size: null, note: null });
        const [whole] = await database.query("SELECT size, body FROM contract_items WHERE id = ?", ["bytes"]);
        assert.equal(whole?.["size"], Number.MAX_SAFE_INTEGER);
        assert.deepEqual(new Uint8Array(whole?.["body"] as Uint8Array), bytes);
      }));

    test("lets transactions see each other only as a whole, and loses no increment", () =>
      using(async (database) => {
        await put(database, [["counter", 0]]);
        const increment = (): Promise<void> =>
          database.transaction(async (transaction) => {
            await transaction.query("UPDATE contract_items SET size = size + 1 WHERE id = ?", ["counter"]);
          });
        await Promise.all(Array.from({ length: 50 }, increment));
        assert.deepEqual(await all(database), [{ id: "counter", size: 50 }]);
      }));

    describe("writes what asks nothing in one turn", () => {
      const rowsFrom = (start: number, count: number): WriteStep => ({
        kind: "Insert",
        table: "contract_items",
        columns: ["id", "size"],
        rows: Array.from({ length: count }, (_, index) => [`row-${start + index}`, start + index]),
      });
      const moved = (from: number, to: number): WriteStep => ({
        kind: "Guard",
        sql: "UPDATE contract_items SET size = ? WHERE id = 'guard' AND size = ?",
        values: [to, from],
      });
      const total = async (database: Database): Promise<unknown> =>
        (await database.query("SELECT count(*) AS total FROM contract_items"))[0]?.["total"];
      function* many(guard: WriteStep): Generator<WriteStep> {
        for (let start = 0; start < 500; start += 100) yield rowsFrom(start, 100);
        yield guard;
      }

      test("and has all of it when its guard holds", () =>
        using(async (database) => {
          await put(database, [["guard", 1]]);
          assert.equal(await database.write([rowsFrom(1_000, 1), moved(1, 2)]), true);
          assert.equal(await database.write(many(moved(2, 3))), true);
          assert.equal(await total(database), 502);
        }));

      test("and has nothing of it when its guard finds the row moved, and goes on working", () =>
        using(async (database) => {
          await put(database, [["guard", 1]]);
          assert.equal(await database.write(many(moved(7, 8))), false);
          assert.equal(await database.write([moved(7, 8), rowsFrom(1, 1)]), false);
          assert.equal(await total(database), 1);
          assert.equal(await database.write(many(moved(1, 2))), true);
        }));

      test("and does not try what was planned for another state: a key that is taken there is no conflict", () =>
        using(async (database) => {
          await put(database, [
            ["guard", 1],
            ["row-1", 0],
          ]);
          assert.equal(await database.write([moved(7, 8), rowsFrom(1, 1)]), false);
          assert.equal(await total(database), 2);
        }));

      test("and has nothing of it when a key is taken", () =>
        using(async (database) => {
          await put(database, [
            ["guard", 1],
            ["row-250", 0],
          ]);
          const taken = database.write(many(moved(1, 2)));
          await assert.rejects(taken, (error) => error instanceof StoreError && error.reason === "Conflict");
          assert.equal(await total(database), 2);
          assert.equal(await database.write([moved(1, 2)]), true);
        }));

      test("and has nothing of it when a later step cannot be made", () =>
        using(async (database) => {
          function* broken(): Generator<WriteStep> {
            yield rowsFrom(0, 100);
            throw new RangeError("no such step");
          }
          await assert.rejects(database.write(broken()), /no such step/);
          assert.equal(await total(database), 0);
          assert.equal(await database.write([rowsFrom(0, 2)]), true);
        }));

      test("and one of many who move the same row wins", () =>
        using(async (database) => {
          await put(database, [["guard", 0]]);
          const wins = await Promise.all(
            Array.from({ length: 8 }, (_, index) => database.write([rowsFrom(index * 10, 10), moved(0, index + 1)])),
          );
          assert.equal(wins.filter(Boolean).length, 1);
          assert.equal(await total(database), 11);
        }));
    });

    test("tells listeners what was committed, once and in order, and nothing of what was rolled back", () =>
      using(async (database) => {
        const heard: string[] = [];
        const done = Promise.withResolvers<void>();
        await database.listen("contract", {
          onMessage: (payload) => {
            heard.push(payload);
            if (payload === "last") done.resolve();
          },
          onGap: () => heard.push("gap"),
        });
        await database
          .transaction(async (transaction) => {
            await transaction.notify("contract", "never");
            throw new Error("no");
          })
          .catch(() => undefined);
        await database.transaction(async (transaction) => {
          await transaction.notify("contract", "first");
          await transaction.notify("elsewhere", "not ours");
          await transaction.notify("contract", "second 'quoted'");
        });
        await database.transaction((transaction) => transaction.notify("contract", "last"));
        await done.promise;
        assert.deepEqual(heard, ["first", "second 'quoted'", "last"]);
      }));

    test("migrates once, however many begin together, and component by component", () =>
      using(async (database) => {
        await Promise.all(Array.from({ length: 4 }, () => database.migrate("contract", migrations)));
        await database.migrate("other", [
          {
            version: 1,
            name: "its own",
            sqlite: "CREATE TABLE other_x (a TEXT)",
            postgres: "CREATE TABLE other_x (a TEXT)",
          },
        ]);
        const rows = await database.query(
          "SELECT component, version FROM capstan_migrations ORDER BY component, version",
        );
        assert.deepEqual(
          rows.map((row) => `${row["component"]} ${row["version"]}`),
          ["contract 1", "contract 2", "other 1"],
        );
      }));

    test("refuses tables that a newer program has written", () =>
      using(async (database) => {
        await assert.rejects(
          database.migrate("contract", migrations.slice(0, 1)),
          /at version 2, this program knows 1/,
        );
      }));

    test("leaves nothing of a migration that fails", () =>
      using(async (database) => {
        const broken = {
          version: 3,
          name: "broken",
          sqlite: "CREATE TABLE half (a TEXT); BROKEN",
          postgres: "CREATE TABLE half (a TEXT); BROKEN",
        };
        await assert.rejects(database.migrate("contract", [...migrations, broken]));
        await assert.rejects(database.query("SELECT * FROM half"));
        await put(database, [["still", 1]]);
      }));

    test("says Closed once it is closed", async () => {
      await engine.reset();
      const database = await open();
      await database.close();
      await assert.rejects(
        database.query("SELECT 1"),
        (error) => error instanceof StoreError && error.reason === "Closed",
      );
    });
  });
}

export interface StoreUnderTest {
  open(): Promise<Database>;
  /** Removes everything. */
  reset(): Promise<void>;
}

const onConflict = "ON CONFLICT (id) DO UPDATE SET size = excluded.size";

const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "items",
    sqlite: "CREATE TABLE contract_items (id TEXT PRIMARY KEY, size INTEGER, body BLOB) STRICT",
    postgres: "CREATE TABLE contract_items (id TEXT PRIMARY KEY, size BIGINT, body BYTEA)",
  },
  {
    version: 2,
    name: "notes",
    sqlite: "ALTER TABLE contract_items ADD COLUMN note TEXT",
    postgres: "ALTER TABLE contract_items ADD COLUMN note TEXT",
  },
];
