import type { Env } from "../env/env.ts";
import type { Database, Transaction, WriteStep } from "../store/database.ts";
import { StoreError } from "../store/store-error.ts";
import { chained, genesisHash } from "./chain.ts";
import { type Checkpoint, type Head, headOf, signCheckpoint, signHead } from "./checkpoint.ts";
import type { AuditRecord } from "./entry.ts";
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
  /** Where the trail ends as far as we know; another process may have moved it on. */
  #head: Head | undefined;

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
      const { sequence, hash, checkpoint, time, keyId, signature } = signHead(this.#options.signer, head);
      await transaction.insert({
        table: "audit_head",
        columns: ["only_row", "sequence", "hash", "checkpoint", "time", "key_id", "signature"],
        rows: [[1, sequence, hash, checkpoint, time, keyId, signature]],
        onConflict: "ON CONFLICT (only_row) DO NOTHING",
      });
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
        const added = (await this.#writeBehind(batch)) ?? (await retried(() => this.#writeAfterLooking(batch)));
        batch.forEach(({ resolve }, index) => resolve(added[index] ?? 0));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }

  /**
   * Nearly always the trail ends where we left it and no happening was told before, so there is nothing to ask and all
   * is written in one turn. The head's guard and the ids' uniqueness find out when that is not so.
   */
  async #writeBehind(batch: readonly Waiting[]): Promise<readonly number[] | undefined> {
    const head = this.#head;
    this.#head = undefined;
    if (head === undefined) return undefined;
    const growth = new Growth(head, batch, new Set(), this.#options);
    const written = await this.#options.database.write(growth.steps()).catch(unlessUnsure);
    if (!written) return undefined;
    this.#head = growth.head;
    return growth.added;
  }

  /** Reads where the trail ends and what it has already, and holds it there until it is written. */
  async #writeAfterLooking(batch: readonly Waiting[]): Promise<readonly number[]> {
    const { database } = this.#options;
    const growth = await database.transaction(async (transaction) => {
      const head = await readHead(database, transaction);
      if (head === undefined) throw new Error("the audit trail has lost its head; run capstan audit verify");
      const ids = batch.flatMap(({ records }) => records.map(({ id }) => id));
      const planned = new Growth(head, batch, await existing(transaction, ids), this.#options);
      for (const step of planned.steps())
        if (step.kind === "Insert") await transaction.insert(step);
        else await transaction.query(step.sql, step.values);
      return planned;
    });
    this.#head = growth.head;
    return growth.added;
  }
}

/** What a batch makes of the trail, told step by step: rows can be on their way while the next ones are being chained. */
class Growth {
  /** How many rows each append has added. */
  readonly added: number[] = [];
  /** Where the trail ends, once all steps are told. */
  head: Head;
  readonly #batch: readonly Waiting[];
  readonly #known: Set<string>;
  readonly #options: AuditTrailOptions;

  constructor(head: Head, batch: readonly Waiting[], known: Set<string>, options: AuditTrailOptions) {
    this.head = head;
    this.#batch = batch;
    this.#known = known;
    this.#options = options;
  }

  *steps(): Generator<WriteStep> {
    const { signer, env, checkpointEvery = defaultCheckpointEvery } = this.#options;
    const from = this.head;
    const time = env.now().toISOString();
    const checkpoints: Checkpoint[] = [];
    let rows: ReturnType<typeof entryValues>[] = [];
    let left = this.#batch.reduce((sum, { records }) => sum + records.length, 0);
    let together = firstRowsTogether;
    let { sequence, hash, checkpoint } = from;
    for (const { records } of this.#batch) {
      const before = sequence;
      for (const record of records) {
        left--;
        if (this.#known.has(record.id)) continue;
        this.#known.add(record.id);
        const entry = chained(record, ++sequence, hash);
        hash = entry.hash;
        rows.push(entryValues(entry));
        if (rows.length >= together && left >= firstRowsTogether) {
          yield { kind: "Insert", table: "audit_entries", columns: entryColumns, rows };
          rows = [];
          together = Math.min(2 * together, maxRowsTogether);
        }
        if (sequence - checkpoint < checkpointEvery) continue;
        checkpoints.push(signCheckpoint(signer, { sequence, hash, previous: checkpoint, time }));
        checkpoint = sequence;
      }
      this.added.push(sequence - before);
    }
    if (sequence === from.sequence) return;
    if (rows.length > 0) yield { kind: "Insert", table: "audit_entries", columns: entryColumns, rows };
    if (checkpoints.length > 0) yield checkpointRows(checkpoints);
    this.head = signHead(signer, { sequence, hash, checkpoint, time });
    yield movedHead(from, this.head);
  }
}

/** Whoever comes second finds the head moved, and writes nothing. */
const movedHead = (from: Head, { sequence, hash, checkpoint, time, keyId, signature }: Head): WriteStep => ({
  kind: "Guard",
  sql: "UPDATE audit_head SET sequence = ?, hash = ?, checkpoint = ?, time = ?, key_id = ?, signature = ? WHERE only_row = 1 AND sequence = ? AND hash = ?",
  values: [sequence, hash, checkpoint, time, keyId, signature, from.sequence, from.hash],
});

const checkpointRows = (checkpoints: readonly Checkpoint[]): WriteStep => ({
  kind: "Insert",
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

/** Somebody has told one of the happenings before, or nobody knows whether it is written: a look will tell. */
function unlessUnsure(error: unknown): false {
  if (isWorthALook(error)) return false;
  throw error;
}

const isWorthALook = (error: unknown): boolean =>
  error instanceof StoreError && (error.reason === "Conflict" || error.reason === "CommitUnknown");

/** Trying again is safe in all of these cases: what was written the first time is found by its id. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isWorthALook(error) || attempt >= maxAttempts) throw error;
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

export const defaultCheckpointEvery = 1_000;
const maxAppendsTogether = 500;
/** The first rows go soon, so that the database has something to do; then ever more together. A few that are left go with the last. */
const firstRowsTogether = 16;
const maxRowsTogether = 128;
const idsPerQuery = 500;
const maxAttempts = 5;
