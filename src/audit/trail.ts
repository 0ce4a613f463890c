import type { Env } from "../env/env.ts";
import type { Database, Transaction } from "../store/database.ts";
import { StoreError } from "../store/store-error.ts";
import { chained, genesisHash } from "./chain.ts";
import { type Checkpoint, type Head, headOf, signCheckpoint, signHead } from "./checkpoint.ts";
import type { AuditEntry, AuditRecord } from "./entry.ts";
import type { AuditSigner } from "./signing-key.ts";
import { auditMigrations, entryColumns, entryValues } from "./tables.ts";

/** The append-only, hash-chained trail. An append resolves when the row is on disk, and not before. */
export interface AuditTrail {
  /** Adds the happenings that are not there yet; answers how many were new. */
  append(records: readonly AuditRecord[]): Promise<number>;
}

export interface AuditTrailOptions {
  readonly env: Env;
  readonly database: Database;
  readonly signer: AuditSigner;
  /** Rows per segment. */
  readonly checkpointEvery?: number;
}

export async function openAuditTrail(options: AuditTrailOptions): Promise<AuditTrail> {
  await options.database.migrate("audit", auditMigrations);
  const trail = new DatabaseTrail(options);
  await trail.begin();
  return trail;
}

interface Waiting {
  readonly records: readonly AuditRecord[];
  readonly resolve: (added: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends that come while one is being written go together into the next transaction: one sync for all of them. */
class DatabaseTrail implements AuditTrail {
  readonly #options: AuditTrailOptions;
  readonly #waiting: Waiting[] = [];
  #writing = false;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** A trail without a single row is signed too: otherwise an emptied one would look like a new one. */
  async begin(): Promise<void> {
    await this.#options.database.transaction(async (transaction) => {
      if ((await readHead(this.#options.database, transaction)) !== undefined) return;
      const [row] = await transaction.query("SELECT count(*) AS total FROM audit_entries");
      // Rows without a head are a trail that somebody has tampered with; signing them would hide it.
      if (Number(row?.["total"]) > 0) return;
      const head = { sequence: 0, hash: genesisHash, checkpoint: 0, time: this.#options.env.now().toISOString() };
      await writeHead(transaction, signHead(this.#options.signer, head));
    });
  }

  append(records: readonly AuditRecord[]): Promise<number> {
    if (records.length === 0) return Promise.resolve(0);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    // Those who come in the same moment go along.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxAppendsTogether);
      try {
        const added = await retried(() => this.#commit(batch));
        batch.forEach(({ resolve }, index) => resolve(added[index] ?? 0));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }

  #commit(batch: readonly Waiting[]): Promise<readonly number[]> {
    const { database, signer, env, checkpointEvery = defaultCheckpointEvery } = this.#options;
    return database.transaction(async (transaction) => {
      const head = await readHead(database, transaction);
      if (head === undefined) throw new Error("the audit trail has lost its head; run capstan audit verify");
      const known = await existing(
        transaction,
        batch.flatMap(({ records }) => records.map(({ id }) => id)),
      );
      const entries: AuditEntry[] = [];
      const checkpoints: Checkpoint[] = [];
      let { sequence, hash, checkpoint } = head;
      const time = env.now().toISOString();
      const added = batch.map(({ records }) => {
        const before = entries.length;
        for (const record of records) {
          if (known.has(record.id)) continue;
          known.add(record.id);
          const entry = chained(record, ++sequence, hash);
          hash = entry.hash;
          entries.push(entry);
          if (sequence - checkpoint < checkpointEvery) continue;
          checkpoints.push(signCheckpoint(signer, { sequence, hash, previous: checkpoint, time }));
          checkpoint = sequence;
        }
        return entries.length - before;
      });
      if (entries.length === 0) return added;
      await transaction.insert({ table: "audit_entries", columns: entryColumns, rows: entries.map(entryValues) });
      await writeCheckpoints(transaction, checkpoints);
      await writeHead(transaction, signHead(signer, { sequence, hash, checkpoint, time }));
      return added;
    });
  }
}

/** Trying again is safe in all of these cases: what was written the first time is found by its id. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const again = error instanceof StoreError && (error.reason === "Conflict" || error.reason === "CommitUnknown");
      if (!again || attempt >= maxAttempts) throw error;
    }
  }
}

async function readHead(database: Database, transaction: Transaction): Promise<Head | undefined> {
  // PostgreSQL lets several processes in at once: the head is the turnstile.
  const lock = database.kind === "postgres" ? " FOR UPDATE" : "";
  const [row] = await transaction.query(`SELECT * FROM audit_head WHERE only_row = 1${lock}`);
  return row === undefined ? undefined : headOf(row);
}

async function existing(transaction: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (let start = 0; start < ids.length; start += idsPerQuery) {
    const part = ids.slice(start, start + idsPerQuery);
    const rows = await transaction.query(
      `SELECT id FROM audit_entries WHERE id IN (${part.map(() => "?").join(",")})`,
      part,
    );
    for (const { id } of rows) found.add(String(id));
  }
  return found;
}

const writeCheckpoints = (transaction: Transaction, checkpoints: readonly Checkpoint[]): Promise<void> =>
  checkpoints.length === 0
    ? Promise.resolve()
    : transaction.insert({
        table: "audit_checkpoints",
        columns: ["sequence", "hash", "previous", "time", "key_id", "signature"],
        rows: checkpoints.map(({ sequence, hash, previous, time, keyId, signature }) => [
          sequence,
          hash,
          previous,
          time,
          keyId,
          signature,
        ]),
      });

const writeHead = (transaction: Transaction, head: Head): Promise<void> =>
  transaction.insert({
    table: "audit_head",
    columns: ["only_row", "sequence", "hash", "checkpoint", "time", "key_id", "signature"],
    rows: [[1, head.sequence, head.hash, head.checkpoint, head.time, head.keyId, head.signature]],
    onConflict:
      "ON CONFLICT (only_row) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, checkpoint = excluded.checkpoint, time = excluded.time, key_id = excluded.key_id, signature = excluded.signature",
  });

export const defaultCheckpointEvery = 1_000;
const maxAppendsTogether = 500;
const idsPerQuery = 500;
const maxAttempts = 5;
