import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { systemEnv } from "../env/system.ts";
import { describeStore } from "./contract-cases.ts";
import type { Database } from "./database.ts";
import { openPostgres } from "./postgres-database.ts";
import { findPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";
import { StoreError } from "./store-error.ts";

const found = findPostgres();
const skip = "missing" in found ? found.missing : false;

describe("PostgreSQL", { skip, timeout: 120_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  const open = (own: object = {}): Promise<Database> => openPostgres({ env: systemEnv, url: server.url, ...own });

  describeStore("PostgreSQL", { open, reset });

  describe("its faults (F43)", () => {
    test("a server that is away is called unavailable, and is used again when it is back", async () => {
      const database = await open({ connectTimeoutMs: 500 });
      await server.kill();
      await assert.rejects(database.query("SELECT 1"), hasReason("Unavailable"));
      await assert.rejects(
        database.transaction(async () => undefined),
        hasReason("Unavailable"),
      );
      await server.start();
      assert.equal((await database.query("SELECT 1 AS one"))[0]?.["one"], 1);
      await database.close();
    });

    test("a connection that is cut before the commit has written nothing", async () => {
      await reset();
      const database = await open();
      await database.query("CREATE TABLE cut (id TEXT)");
      const lost = database.transaction(async (transaction) => {
        await transaction.query("INSERT INTO cut (id) VALUES (?)", ["x"]);
        const [row] = await transaction.query("SELECT pg_backend_pid() AS pid");
        await terminate(server.url, Number(row?.["pid"]));
        await transaction.query("SELECT 1");
      });
      await assert.rejects(lost, hasReason("Unavailable"));
      assert.deepEqual(await database.query("SELECT * FROM cut"), []);
      await database.close();
    });

    test("a connection that is cut at the commit is called unknown", async () => {
      await reset();
      const database = await open();
      await database.query("CREATE TABLE cut (id TEXT)");
      const lost = database.transaction(async (transaction) => {
        await transaction.query("INSERT INTO cut (id) VALUES (?)", ["x"]);
        const [row] = await transaction.query("SELECT pg_backend_pid() AS pid");
        await terminate(server.url, Number(row?.["pid"]));
      });
      await assert.rejects(lost, hasReason("CommitUnknown"));
      await database.close();
    });

    test("a connection that is cut during a write in one turn is called unknown, and the next write finds what holds", async () => {
      await reset();
      const database = await open();
      await database.query("CREATE TABLE cut (id TEXT PRIMARY KEY)");
      const blocker = await holdRow(server.url, "x");
      // It waits for the blocker's row: the commit is on its way behind it.
      const insert = { kind: "Insert", table: "cut", columns: ["id"], rows: [["x"]] } as const;
      const lost = assert.rejects(database.write([insert]), hasReason("CommitUnknown"));
      process.kill(await untilWaiting(server.url), "SIGKILL");
      await lost;
      await blocker.end().catch(() => undefined);
      // The server ends all its other connections too, and recovers by itself.
      await untilBack(database);
      assert.deepEqual(await database.query("SELECT * FROM cut"), []);
      assert.equal(await database.write([insert]), true);
      await assert.rejects(database.write([insert]), hasReason("Conflict"));
      await database.close();
    });

    test("a backend that is ended before the commit of a write in one turn has written nothing, and says so", async () => {
      await reset();
      const database = await open();
      await database.query("CREATE TABLE cut (id TEXT PRIMARY KEY)");
      const blocker = await holdRow(server.url, "x");
      const ended = assert.rejects(
        database.write([{ kind: "Insert", table: "cut", columns: ["id"], rows: [["x"]] }]),
        hasReason("Unavailable"),
      );
      await terminate(server.url, await untilWaiting(server.url));
      await ended;
      await blocker.end();
      assert.deepEqual(await database.query("SELECT * FROM cut"), []);
      await database.close();
    });

    test("a serialization failure is a conflict", async () => {
      await reset();
      const database = await open();
      await database.query("CREATE TABLE serial (id TEXT, size BIGINT)");
      const hasRead = Promise.withResolvers<void>();
      const slow = Promise.withResolvers<void>();
      const first = database.transaction(async (transaction) => {
        await transaction.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        await transaction.query("SELECT sum(size) AS total FROM serial");
        hasRead.resolve();
        await slow.promise;
        await transaction.query("INSERT INTO serial VALUES ('a', 1)");
      });
      // What the other one writes must be something that this one has missed.
      await hasRead.promise;
      await database.transaction(async (transaction) => {
        await transaction.query("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        await transaction.query("SELECT sum(size) AS total FROM serial");
        await transaction.query("INSERT INTO serial VALUES ('b', 1)");
      });
      slow.resolve();
      await assert.rejects(first, hasReason("Conflict"));
      await database.close();
    });

    test("a pool that is used up and a slow query end in time", async () => {
      const database = await open({ maxConnections: 1, connectTimeoutMs: 300, statementTimeoutMs: 300 });
      const slow = database.query("SELECT pg_sleep(20)").catch((error: unknown) => error);
      await assert.rejects(
        database.transaction(async () => undefined),
        hasReason("Unavailable"),
      );
      assert.ok(hasReason("Unavailable")(await slow));
      await database.close();
    });

    test("a listener that lost its connection says that messages may be missing", async () => {
      const database = await open();
      const gap = Promise.withResolvers<void>();
      const heard = Promise.withResolvers<string>();
      await database.listen("gap", { onMessage: heard.resolve, onGap: gap.resolve });
      const rows = await database.query("SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
      for (const { pid } of rows) await terminate(server.url, Number(pid));
      await gap.promise;
      await database.transaction((transaction) => transaction.notify("gap", "again"));
      assert.equal(await heard.promise, "again");
      await database.close();
    });
  });

  async function reset(): Promise<void> {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    await client.end();
  }
});

const hasReason = (reason: string) => (error: unknown) => error instanceof StoreError && error.reason === reason;

/** A transaction that has a row and does not end: whoever wants the same one has to wait. */
async function holdRow(url: string, id: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("BEGIN");
  await client.query("INSERT INTO cut VALUES ($1)", [id]);
  return client;
}

async function untilBack(database: Database): Promise<void> {
  for (;;) {
    try {
      await database.query("SELECT 1");
      return;
    } catch (error) {
      if (!hasReason("Unavailable")(error)) throw error;
    }
  }
}

/** Answers who waits for a lock, as soon as somebody does. */
async function untilWaiting(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      if (rows.length > 0) return Number(rows[0].pid);
    }
  } finally {
    await client.end();
  }
}

async function terminate(url: string, pid: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SELECT pg_terminate_backend($1)", [pid]);
  await client.end();
}
