/**
 * The durable part of storage: an append-only log of changes, one row for each revision. The current state is the newest
 * row of every key; rows that a newer one has replaced stay until compaction, so that watches can resume after a restart.
 */
export interface CommitLog {
  /** Everything that is on disk, oldest first. Called once, before anything else. */
  load(): LoadedLog;
  /** Resolves when all records are on disk; rejects when none of them is. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Forgets rows for good and remembers that history now begins after the revision. */
  compact(compactedRevision: number, replaced: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export interface LogRecord {
  readonly revision: number;
  /** `widgets.demo.io`, or the plural alone for the core group. */
  readonly resource: string;
  readonly key: string;
  /** Null when the object was deleted. */
  readonly body: Uint8Array | null;
  readonly atMs: number;
}

export interface LoadedLog {
  readonly compactedRevision: number;
  readonly records: readonly LogRecord[];
}

/** A log for tests and for processes that want nothing on disk. */
export function createMemoryLog(): CommitLog {
  return {
    load: () => ({ compactedRevision: 0, records: [] }),
    append: async () => {},
    compact: async () => {},
    close: async () => {},
  };
}
