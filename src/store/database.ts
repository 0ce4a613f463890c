/**
 * SQL for the registry and the audit trail: one interface, two engines (SQLite, PostgreSQL), one contract suite
 * (contract-cases.ts). Statements are written once, in SQL that both understand, with `?` for values; where the engines
 * differ for good, `kind` tells them apart.
 */
export interface Database {
  readonly kind: "sqlite" | "postgres";
  /** Brings a component's tables up to date, once, however many processes start together. */
  migrate(component: string, migrations: readonly Migration[]): Promise<void>;
  /** One statement on its own. */
  query(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * All or nothing, and on disk when the promise resolves. What `work` throws rolls back and is thrown on. Faults are
   * thrown as a `StoreError`; with `CommitUnknown` only a look into the tables can tell what happened.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * A transaction that asks nothing: one turn instead of one for each statement, and steps may still be made while those
   * before them are being written. Answers false, and has written nothing, when a guard found no row to change.
   */
  write(steps: Iterable<WriteStep>): Promise<boolean>;
  /** Messages of committed transactions, of this process and of others; answers how to stop. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

export interface Transaction {
  query(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Many rows with one statement; a key may come only once where `onConflict` updates. */
  insert(insert: Insert): Promise<void>;
  /** Told to all listeners when, and only when, the transaction commits. At most 7,900 bytes. */
  notify(channel: string, payload: string): Promise<void>;
}

export type WriteStep =
  /** A statement that must change exactly one row: the state that the other steps were planned for. */
  | { readonly kind: "Guard"; readonly sql: string; readonly values: readonly SqlValue[] }
  | ({ readonly kind: "Insert" } & Insert);

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly SqlValue[])[];
  /** What follows the values, such as `ON CONFLICT (id) DO UPDATE SET body = excluded.body`. */
  readonly onConflict?: string;
}

export interface Listener {
  onMessage(payload: string): void;
  /** The connection was lost for a while: messages may have been missed. */
  onGap(): void;
}

export interface Migration {
  /** Ascending from 1 within its component; never changed once released. */
  readonly version: number;
  readonly name: string;
  readonly sqlite: string;
  readonly postgres: string;
}

/** Integers are safe numbers, bytes are Uint8Array; there is nothing else. */
export type SqlValue = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, SqlValue>>;

export const maxNotificationBytes = 7_900;
