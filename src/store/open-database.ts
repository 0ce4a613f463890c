import type { Env } from "../env/env.ts";
import type { Database } from "./database.ts";
import { openPostgres } from "./postgres-database.ts";
import { openSqlite } from "./sqlite-database.ts";

/** A `postgres://` URL is a PostgreSQL database, anything else the path of a SQLite file. */
export const openDatabase = (env: Env, location: string): Promise<Database> =>
  /^postgres(ql)?:\/\//.test(location) ? openPostgres({ env, url: location }) : openSqlite(location);
