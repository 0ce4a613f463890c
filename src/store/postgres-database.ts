import pg from "pg";
import type { Env } from "../env/env.ts";
import type { Database, Listener, Migration, Row, SqlValue, Transaction, WriteStep } from "./database.ts";
import { runMigrations } from "./migrate.ts";
import { insertStatements, type Statement } from "./postgres-insert.ts";
import { PostgresListener } from "./postgres-listener.ts";
import { isConnectionLost, toDollars, toStoreError } from "./postgres-text.ts";
import { writeAtOnce } from "./postgres-write.ts";
import { StoreError } from "./store-error.ts";

export interface PostgresOptions {
  readonly env: Env;
  /** `postgres://user@host:port/database?sslmode=verify-full` */
  readonly url: string;
  readonly maxConnections?: number;
  readonly connectTimeoutMs?: number;
  /** No statement may take longer; a stuck database must not stick us. */
  readonly statementTimeoutMs?: number;
}

/** A PostgreSQL database, shared with other replicas. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const database = new PostgresDatabase(options);
  try {
    await database.query("SELECT 1 AS one");
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

class PostgresDatabase implements Database {
  readonly kind = "postgres";
  readonly #pool: pg.Pool;
  readonly #listener: PostgresListener;
  #isClosed = false;

  constructor({
    env,
    url,
    maxConnections = 8,
    connectTimeoutMs = 5_000,
    statementTimeoutMs = 10_000,
  }: PostgresOptions) {
    const config: pg.ClientConfig = {
      connectionString: url,
      application_name: "capstan",
      connectionTimeoutMillis: connectTimeoutMs,
      types: { getTypeParser: typeParser } as pg.CustomTypesConfig,
    };
    this.#pool = new pg.Pool({
      ...config,
      max: maxConnections,
      // What is asked without waiting is sent without waiting; see postgres-write.ts.
      pipeline: true,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + 1_000,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      allowExitOnIdle: true,
    });
    // A connection that breaks while nobody uses it concerns nobody; the pool makes a new one.
    this.#pool.on("error", () => undefined);
    this.#listener = new PostgresListener(env, config);
  }

  async query(sql: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    this.#assertOpen();
    try {
      return (await this.#pool.query(toDollars(sql), [...values])).rows as Row[];
    } catch (error) {
      throw toStoreError(error, "query");
    }
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#transact((client) => work(transactionOn(client)));
  }

  write(steps: Iterable<WriteStep>): Promise<boolean> {
    return this.#using((client) => writeAtOnce(client, steps));
  }

  #transact<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return this.#using(async (client, spoil) => {
      try {
        await asked(client, "BEGIN");
        const result = await work(client);
        await committed(client);
        return result;
      } catch (error) {
        if (!isConnectionLost(error)) await client.query("ROLLBACK").catch(spoil);
        throw error;
      }
    });
  }

  /** Lends a connection for some work; one that breaks, or is spoilt, is not used again. */
  async #using<T>(work: (client: pg.PoolClient, spoil: (error: Error) => void) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let broken: Error | undefined;
    const spoil = (error: Error): void => {
      broken = error;
    };
    client.on("error", spoil);
    try {
      return await work(client, spoil);
    } catch (error) {
      if (isConnectionLost(error)) broken ??= error as Error;
      throw error;
    } finally {
      client.removeListener("error", spoil);
      client.release(broken);
    }
  }

  migrate(component: string, migrations: readonly Migration[]): Promise<void> {
    return this.#transact(async (client) => {
      await asked(client, "SELECT pg_advisory_xact_lock($1)", [migrationLock]);
      // Without values the server takes a whole script at once, bodies of functions included.
      const run = async (script: string): Promise<void> => void (await asked(client, script));
      await runMigrations("postgres", component, migrations, transactionOn(client), run);
    });
  }

  listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    this.#assertOpen();
    return this.#listener.add(channel, listener);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#listener.close();
    await this.#pool.end();
  }

  async #connect(): Promise<pg.PoolClient> {
    this.#assertOpen();
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toStoreError(error, "connect");
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StoreError("Closed", "the connection to PostgreSQL is closed");
  }
}

/** Any number that nobody else takes: "capstan" as digits on a telephone. */
const migrationLock = 2_277_826;

/** What fails here may have happened all the same, unless the server itself says that it did not. */
async function committed(client: pg.PoolClient): Promise<void> {
  try {
    await client.query("COMMIT");
  } catch (error) {
    const known = toStoreError(error, "commit");
    const isLost = !(known instanceof StoreError) || known.reason === "Unavailable";
    throw isLost ? new StoreError("CommitUnknown", `PostgreSQL: commit: ${known.message}`, { cause: error }) : known;
  }
}

function transactionOn(client: pg.PoolClient): Transaction {
  return {
    query: (sql, values = []) => asked(client, toDollars(sql), values),
    async insert(insert) {
      for (const statement of insertStatements(insert)) await asked(client, statement, statement.values);
    },
    notify: async (channel, payload) => void (await asked(client, "SELECT pg_notify($1, $2)", [channel, payload])),
  };
}

async function asked(
  client: pg.PoolClient,
  statement: string | Pick<Statement, "name" | "text">,
  values: readonly SqlValue[] = [],
): Promise<readonly Row[]> {
  try {
    return (await client.query(statement, [...values])).rows as Row[];
  } catch (error) {
    throw toStoreError(error, "query");
  }
}

/** 64-bit integers as numbers: ours are sequence numbers and milliseconds, far below 2^53. */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) =>
  oid === int8 || oid === numeric ? (text: string) => Number(text) : pg.types.getTypeParser(oid, format as "text");
const int8 = 20;
const numeric = 1700;
