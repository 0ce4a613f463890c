/**
 * One replica of the registry as a process of its own, for tests that kill it: `node replica-for-tests.ts JSON`. Prints
 * its URL once it serves.
 */
import { systemEnv } from "../env/system.ts";
import { textReply } from "../http/reply.ts";
import { openDatabase } from "../store/open-database.ts";
import { openAccess } from "./access/access.ts";
import { listenForTests } from "./loopback-for-tests.ts";
import { createRegistry, type RegistryOptions } from "./registry.ts";
import { openSqlLog } from "./storage/sql-log.ts";

export interface ReplicaSettings {
  /** A file, or a `postgres://` URL. */
  readonly store: string;
  readonly port?: number;
  readonly options?: Partial<RegistryOptions>;
}

const settings = JSON.parse(process.argv[2] ?? "{}") as ReplicaSettings;
const database = await openDatabase(systemEnv, settings.store);
const storage = await openSqlLog(systemEnv, database);
const registry = createRegistry({ env: systemEnv, storage, access: openAccess, ...settings.options });
await registry.start();
const server = await listenForTests(
  async (request) => (await registry.handle(request)) ?? textReply(404, ""),
  settings.port,
);
process.stdout.write(`${server.url}\n`);
process.once("SIGTERM", () => {
  void server
    .close()
    .then(() => registry.stop())
    .then(() => database.close())
    .then(() => process.exit(0));
});
