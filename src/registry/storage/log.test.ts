import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { systemEnv } from "../../env/system.ts";
import type { Database } from "../../store/database.ts";
import { openSqlite } from "../../store/sqlite-database.ts";
import { describeLog } from "./log-cases.ts";
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
