import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row, SqlValue } from "./database.ts";

export type SqliteTask =
  | { readonly kind: "open"; readonly file: string }
  | { readonly kind: "script"; readonly sql: string }
  | { readonly kind: "query"; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: "insert"; readonly sql: string; readonly rows: readonly (readonly SqlValue[])[] }
  | { readonly kind: "steps"; readonly steps: readonly SqliteStep[] }
  /** Ends what `steps` have begun. */
  | { readonly kind: "end"; readonly steps: readonly SqliteStep[]; readonly abandon: boolean }
  | { readonly kind: "close" };

/** Runs its statement for every row of values. */
export interface SqliteStep {
  readonly sql: string;
  readonly rows: readonly (readonly SqlValue[])[];
  readonly isGuard: boolean;
}

export interface SqliteReply {
  readonly id: number;
  readonly rows?: readonly Row[];
  /** Whether steps were committed; absent for everything else. */
  readonly written?: boolean;
  readonly error?: { readonly message: string; readonly code: number };
}

/**
 * Runs on the storage thread and owns the file, so that a slow disk never holds up the event loop. The function is sent
 * there as text (the bundle has no second file to point at), so it must use nothing from outside itself.
 */
export function runSqliteThread(): void {
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  const sqlite = process.getBuiltinModule("node:sqlite");
  const maxPrepared = 200;
  const prepared = new Map<string, StatementSync>();
  let database: DatabaseSync | undefined;

  const prepare = (sql: string): StatementSync => {
    if (database === undefined) throw new Error("the database is not open");
    let statement = prepared.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      if (prepared.size >= maxPrepared) prepared.clear();
      prepared.set(sql, statement);
    }
    return statement;
  };

  /** A transaction of steps that is under way; once it has failed, its further steps are passed over. */
  let underWay: { failure?: unknown; missed?: true } | undefined;

  const takeSteps = (steps: readonly SqliteStep[]): void => {
    if (underWay?.failure !== undefined || underWay?.missed) return;
    const state: NonNullable<typeof underWay> = underWay ?? {};
    try {
      if (underWay === undefined) database?.exec("BEGIN IMMEDIATE");
      underWay = state;
      for (const { sql, rows, isGuard } of steps) {
        const statement = prepare(sql);
        for (const row of rows) {
          if (statement.run(...row).changes === 1 || !isGuard) continue;
          // What was planned for another state must not even be tried: it may not fit this one.
          state.missed = true;
          return;
        }
      }
    } catch (error) {
      underWay = state;
      state.failure = error;
    }
  };

  const endSteps = (steps: readonly SqliteStep[], abandon: boolean): boolean => {
    if (!abandon) takeSteps(steps);
    const { failure, missed } = underWay ?? {};
    underWay = undefined;
    const isGood = failure === undefined && !missed && !abandon;
    try {
      if (isGood) database?.exec("COMMIT");
    } finally {
      // A full disk ends some transactions by itself; then there is nothing left to roll back.
      if (database?.isTransaction) database.exec("ROLLBACK");
    }
    if (failure !== undefined) throw failure;
    return isGood;
  };

  const perform = (task: Exclude<SqliteTask, { kind: "steps" | "end" }>): Row[] | undefined => {
    switch (task.kind) {
      case "open":
        database = new sqlite.DatabaseSync(task.file, { timeout: 5_000 });
        // FULL: a commit is on disk when it returns, whatever happens to the machine.
        database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
        database.exec("PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-8000");
        return undefined;
      case "script":
        database?.exec(task.sql);
        return undefined;
      case "query":
        return prepare(task.sql).all(...task.values) as Row[];
      case "insert": {
        const statement = prepare(task.sql);
        for (const row of task.rows) statement.run(...row);
        return undefined;
      }
      case "close":
        prepared.clear();
        database?.close();
        return undefined;
    }
  };

  parentPort?.on("message", (task: SqliteTask & { readonly id: number }) => {
    if (task.kind === "steps") return takeSteps(task.steps);
    try {
      parentPort.postMessage(
        task.kind === "end"
          ? { id: task.id, written: endSteps(task.steps, task.abandon) }
          : { id: task.id, rows: perform(task) },
      );
    } catch (thrown) {
      const { message, errcode } = thrown as { message?: string; errcode?: number };
      parentPort.postMessage({ id: task.id, error: { message: message ?? String(thrown), code: errcode ?? 0 } });
    }
  });
}
