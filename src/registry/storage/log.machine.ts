import { after, before, describe } from "node:test";
import pg from "pg";
import { systemEnv } from "../../env/system.ts";
import type { Database } from "../../store/database.ts";
import { openPostgres } from "../../store/postgres-database.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../../store/postgres-server.ts";
import { describeLog } from "./log-cases.ts";
import { openSqlLog } from "./sql-log.ts";

const found = findPostgres();
const skip = "missing" in found ? found.missing : false;

describe("PostgreSQL", { skip, timeout: 120_000 }, () => {
  let server: PostgresServer;
  let open: Database[] = [];
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());

  describeLog("PostgreSQL", {
    async open() {
      const database = await openPostgres({ env: systemEnv, url: server.url });
      open.push(database);
      return openSqlLog(systemEnv, database);
    },
    async reset() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
      await client.end();
    },
    async close() {
      await Promise.all(open.map((database) => database.close()));
      open = [];
    },
  });
});
