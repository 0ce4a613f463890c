import { after, before, describe } from "node:test";
import { systemEnv } from "../env/system.ts";
import type { Database } from "../store/database.ts";
import { openPostgres } from "../store/postgres-database.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../store/postgres-server.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { databaseSessions } from "./database-sessions.ts";
import { describeKeptSessions } from "./kept-sessions-cases.ts";

const found = findPostgres();

describe("a real PostgreSQL", { skip: "missing" in found ? found.missing : false, timeout: 120_000 }, () => {
  let server: PostgresServer;
  let database: Database;
  before(async () => {
    server = await startPostgres();
    database = await openPostgres({ env: systemEnv, url: server.url });
  });
  after(async () => {
    await database.close();
    await server.stop();
  });

  describeKeptSessions("PostgreSQL", async () => {
    const clock = manualEnv();
    const kept = databaseSessions(clock, database);
    // The first question makes the table.
    await kept.end("nobody");
    await database.query("DELETE FROM dashboard_sessions");
    return { kept, clock };
  });
});
