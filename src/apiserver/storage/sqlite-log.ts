import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../env/threads.ts";
import type { CommitLog, LoadedLog, LogRecord } from "./commit-log.ts";
import { runSqliteWorker, type SqliteRequest } from "./sqlite-worker.ts";

/**
 * The log in one SQLite file (WAL, synchronous=FULL). Commits run on a worker thread, so that the event loop goes on
 * answering reads while the disk is busy.
 */
export function createSqliteLog(file: string): CommitLog {
  return new SqliteLog(file);
}

class SqliteLog implements CommitLog {
  readonly #file: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  #nextId = 1;
  #failure: Error | undefined;

  constructor(file: string) {
    this.#file = file;
    this.#worker = startThread(runSqliteWorker);
    this.#worker.unref();
    this.#worker.on("message", (answer: { id: number; error?: string }) => this.#settle(answer.id, answer.error));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the storage thread has stopped")));
  }

  load(): LoadedLog {
    let loaded: LoadedLog;
    try {
      loaded = loadFile(this.#file);
    } catch (error) {
      this.#failure = error as Error;
      void this.#worker.terminate();
      throw error;
    }
    void this.#ask({ kind: "open", file: this.#file }).catch((error: Error) => this.#fail(error));
    return loaded;
  }

  append(records: readonly LogRecord[]): Promise<void> {
    // One buffer that is handed over, not copied: cloning the bodies would clone the pools that they were cut from.
    const bodies = Buffer.allocUnsafeSlow(records.reduce((total, { body }) => total + (body?.length ?? 0), 0));
    let end = 0;
    const rows = records.map(({ revision, resource, key, atMs, body }) => {
      if (body === null) return [revision, resource, key, atMs, -1] as const;
      bodies.set(body, end);
      end += body.length;
      return [revision, resource, key, atMs, body.length] as const;
    });
    return this.#ask({ kind: "append", rows, bodies: bodies.buffer }, [bodies.buffer]);
  }

  compact(compactedRevision: number, replaced: readonly number[]): Promise<void> {
    return this.#ask({ kind: "compact", compactedRevision, replaced });
  }

  async close(): Promise<void> {
    // The thread may have ended before its answer was read; whatever was acknowledged is on disk either way.
    if (this.#failure === undefined) await this.#ask({ kind: "close" }).catch(() => undefined);
    this.#failure ??= new Error("the storage is closed");
    await this.#worker.terminate();
  }

  #ask(message: SqliteRequest, transfer: readonly ArrayBuffer[] = []): Promise<void> {
    const failure = this.#failure;
    if (failure !== undefined) return Promise.reject(failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // While an answer is due, the thread keeps the process alive: an acknowledgement must not get lost at exit.
      if (this.#waiting.size === 1) this.#worker.ref();
      this.#worker.postMessage({ ...message, id }, transfer);
    });
  }

  #settle(id: number, error: string | undefined): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}

/**
 * Reads the whole file on the calling thread, which has nothing else to do yet, and lets go of it for the worker. A new
 * file is left to the worker altogether: its first bytes need not be waited for.
 */
function loadFile(file: string): LoadedLog {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
  if (statSync(file).size === 0) return { compactedRevision: 0, records: [] };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    const compaction = database.prepare("SELECT revision FROM compaction").get();
    const rows = database
      .prepare("SELECT revision, resource, key, at_ms AS atMs, body FROM log ORDER BY revision")
      .all();
    return { compactedRevision: Number(compaction?.["revision"] ?? 0), records: rows as unknown as LogRecord[] };
  } catch (error) {
    throw new Error(`cannot open ${file}: ${describeSqlite(error)}`, { cause: error });
  } finally {
    database?.close();
  }
}

function describeSqlite(error: unknown): string {
  const code = (error as { errcode?: number }).errcode;
  if (code === sqliteBusy) return "another process is using it";
  return error instanceof Error ? error.message : String(error);
}
const sqliteBusy = 5;
