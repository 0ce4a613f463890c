import type { DatabaseSync, StatementSync } from "node:sqlite";

export type SqliteRequest =
  | { readonly kind: "open"; readonly file: string }
  | { readonly kind: "append"; readonly rows: readonly AppendedRow[]; readonly bodies: ArrayBuffer }
  | { readonly kind: "compact"; readonly compactedRevision: number; readonly replaced: readonly number[] }
  | { readonly kind: "close" };

/** Revision, resource, key, time, and the length of the body in the shared buffer; -1 for a deletion. */
export type AppendedRow = readonly [number, string, string, number, number];

/**
 * Runs on the storage thread and owns the database file: one message is one transaction, answered when it is on disk.
 * The function is sent there as text, so it must use nothing from outside itself.
 */
export function runSqliteWorker(): void {
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  const sqlite = process.getBuiltinModule("node:sqlite");
  let database: DatabaseSync | undefined;
  let statements: { insert: StatementSync; remove: StatementSync; remember: StatementSync } | undefined;

  const open = (file: string): void => {
    database = new sqlite.DatabaseSync(file, { timeout: 0 });
    // EXCLUSIVE keeps a second process out and saves the shared-memory file.
    database.exec("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    database.exec("PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-4000");
    // The lock is taken by the first write, not by the pragma.
    database.exec(
      "BEGIN IMMEDIATE;" +
        "CREATE TABLE IF NOT EXISTS log (revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, at_ms INTEGER NOT NULL, body BLOB) STRICT;" +
        "CREATE TABLE IF NOT EXISTS compaction (id INTEGER PRIMARY KEY CHECK (id = 0), revision INTEGER NOT NULL) STRICT;" +
        "COMMIT",
    );
    statements = {
      insert: database.prepare("INSERT INTO log (revision, resource, key, at_ms, body) VALUES (?, ?, ?, ?, ?)"),
      remove: database.prepare("DELETE FROM log WHERE revision = ?"),
      remember: database.prepare(
        "INSERT INTO compaction (id, revision) VALUES (0, ?) ON CONFLICT (id) DO UPDATE SET revision = excluded.revision",
      ),
    };
  };

  const inTransaction = (work: () => void): void => {
    if (!database) throw new Error("the database is not open");
    database.exec("BEGIN IMMEDIATE");
    try {
      work();
      database.exec("COMMIT");
    } catch (error) {
      // A full disk ends some transactions by itself; then there is nothing left to roll back.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };

  const perform = (message: SqliteRequest): void => {
    switch (message.kind) {
      case "open":
        open(message.file);
        break;
      case "append":
        inTransaction(() => {
          let end = 0;
          for (const [revision, resource, key, atMs, length] of message.rows) {
            const body = length < 0 ? null : new Uint8Array(message.bodies, end, length);
            end += Math.max(0, length);
            statements?.insert.run(revision, resource, key, atMs, body);
          }
        });
        break;
      case "compact":
        inTransaction(() => {
          for (const revision of message.replaced) statements?.remove.run(revision);
          statements?.remember.run(message.compactedRevision);
        });
        break;
      case "close":
        database?.close();
    }
  };

  parentPort?.on("message", (message: SqliteRequest & { readonly id: number }) => {
    try {
      perform(message);
      parentPort.postMessage({ id: message.id });
    } catch (error) {
      parentPort.postMessage({ id: message.id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}
