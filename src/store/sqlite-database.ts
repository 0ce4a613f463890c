import { chmodSync, closeSync, openSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { startThread } from "../env/threads.ts";
import type { Database, Insert, Listener, Migration, Row, SqlValue, Transaction, WriteStep } from "./database.ts";
import { runMigrations } from "./migrate.ts";
import { runSqliteThread, type SqliteReply, type SqliteStep, type SqliteTask } from "./sqlite-thread.ts";
import { StoreError, type StoreErrorReason } from "./store-error.ts";

/** A database in one file, for one process: WAL, and every commit synced. `:memory:` forgets everything at the end. */
export async function openSqlite(file: string): Promise<Database> {
  if (file !== ":memory:") {
    try {
      closeSync(openSync(file, "a", 0o600));
      chmodSync(file, 0o600);
    } catch (error) {
      throw new StoreError("Unavailable", `cannot open ${file}: ${messageOf(error)}`, { cause: error });
    }
  }
  const database = new SqliteDatabase(file);
  await database.open();
  return database;
}

class SqliteDatabase implements Database {
  readonly kind = "sqlite";
  readonly #file: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #nextId = 1;
  #failure: StoreError | undefined;
  /** One thing at a time: the end of the last transaction or lone statement. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
    this.#worker = startThread(runSqliteThread);
    this.#worker.unref();
    this.#worker.on("message", (reply: SqliteReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(new StoreError("Closed", messageOf(error), { cause: error })));
    this.#worker.on("exit", () => this.#fail(new StoreError("Closed", `${file}: the storage thread has stopped`)));
  }

  async open(): Promise<void> {
    try {
      await this.#ask({ kind: "open", file: this.#file });
    } catch (error) {
      await this.#worker.terminate();
      throw error;
    }
  }

  query(sql: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return this.#inTurn(() => this.#ask({ kind: "query", sql, values }));
  }

  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#transact(work));
  }

  write(steps: Iterable<WriteStep>): Promise<boolean> {
    return this.#inTurn(() => this.#write(steps));
  }

  migrate(component: string, migrations: readonly Migration[]): Promise<void> {
    return this.transaction((transaction) =>
      runMigrations("sqlite", component, migrations, transaction, async (sql) => {
        await this.#ask({ kind: "script", sql });
      }),
    );
  }

  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    return async () => void listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => undefined);
    if (this.#failure === undefined) await this.#ask({ kind: "close" });
    this.#failure ??= new StoreError("Closed", `${this.#file} is closed`);
    await this.#worker.terminate();
  }

  async #transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const messages: { readonly channel: string; readonly payload: string }[] = [];
    await this.#ask({ kind: "script", sql: "BEGIN IMMEDIATE" });
    let result: T;
    try {
      result = await work({
        query: (sql, values = []) => this.#ask({ kind: "query", sql, values }),
        insert: async (insert) =>
          void (await this.#ask({ kind: "insert", sql: insertText(insert), rows: insert.rows })),
        notify: async (channel, payload) => void messages.push({ channel, payload }),
      });
      await this.#ask({ kind: "script", sql: "COMMIT" });
    } catch (error) {
      // A full disk ends some transactions by itself; then there is nothing left to roll back.
      await this.#ask({ kind: "script", sql: "ROLLBACK" }).catch(() => undefined);
      throw error;
    }
    for (const { channel, payload } of messages)
      for (const listener of this.#listeners.get(channel) ?? []) listener.onMessage(payload);
    return result;
  }

  async #write(steps: Iterable<WriteStep>): Promise<boolean> {
    let ready: SqliteStep[] = [];
    try {
      for (const step of steps) {
        ready.push(stepOf(step));
        if (step.kind === "Guard" || step.rows.length < rowsWorthSending) continue;
        // The thread begins with these while the next ones are being made.
        this.#worker.postMessage({ kind: "steps", steps: ready } satisfies SqliteTask);
        ready = [];
      }
    } catch (error) {
      await this.#answer({ kind: "end", steps: [], abandon: true });
      throw error;
    }
    return (await this.#answer({ kind: "end", steps: ready, abandon: false })).written ?? false;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #ask(task: SqliteTask): Promise<readonly Row[]> {
    return (await this.#answer(task)).rows ?? [];
  }

  #answer(task: SqliteTask): Promise<SqliteReply> {
    const failure = this.#failure;
    if (failure !== undefined) return Promise.reject(failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // While an answer is due, the thread keeps the process alive: an acknowledgement must not get lost at exit.
      if (this.#waiting.size === 1) this.#worker.ref();
      this.#worker.postMessage({ ...task, id });
    });
  }

  #settle(reply: SqliteReply): void {
    const { id, error } = reply;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (error === undefined) {
      waiting?.resolve(reply);
      return;
    }
    const reason = reasons[error.code & 0xff];
    waiting?.reject(reason ? new StoreError(reason, `${this.#file}: ${error.message}`) : new Error(error.message));
  }

  #fail(error: StoreError): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

interface Waiting {
  readonly resolve: (reply: SqliteReply) => void;
  readonly reject: (error: Error) => void;
}

/** SQLite's primary result codes. */
const reasons: Readonly<Record<number, StoreErrorReason>> = {
  5: "Unavailable", // BUSY
  6: "Unavailable", // LOCKED
  8: "ReadOnly",
  10: "Unavailable", // IOERR
  11: "Corrupt",
  13: "DiskFull",
  14: "Unavailable", // CANTOPEN
  19: "Conflict", // CONSTRAINT
  26: "Corrupt", // NOTADB
};

/** Fewer are not worth a message of their own. */
const rowsWorthSending = 16;

const stepOf = (step: WriteStep): SqliteStep =>
  step.kind === "Guard"
    ? { sql: step.sql, rows: [step.values], isGuard: true }
    : { sql: insertText(step), rows: step.rows, isGuard: false };

const insertText = ({ table, columns, onConflict = "" }: Insert): string =>
  `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ${onConflict}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
