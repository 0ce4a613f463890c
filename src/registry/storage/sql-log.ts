import type { Env } from "../../env/env.ts";
import { type Database, type Insert, maxNotificationBytes, type Row, type Transaction } from "../../store/database.ts";
import { StoreError } from "../../store/store-error.ts";
import { type Change, type ChangeKind, numberChanges } from "../model/change.ts";
import type { Instance } from "../model/instance.ts";
import { registryMigrations } from "./migrations.ts";
import {
  type Beat,
  type CommitRequest,
  type Follower,
  type Loaded,
  LogBehindError,
  type RegistryLog,
} from "./registry-log.ts";

/** The log in a database. */
export async function openSqlLog(env: Env, database: Database): Promise<RegistryLog> {
  await database.migrate("registry", registryMigrations);
  return new SqlLog(env, database);
}

class SqlLog implements RegistryLog {
  readonly #env: Env;
  readonly #database: Database;
  /** Names this process, so that it need not listen to itself. */
  readonly #replica: string;

  constructor(env: Env, database: Database) {
    this.#env = env;
    this.#database = database;
    this.#replica = env.uuid();
  }

  async load(): Promise<Loaded> {
    return this.#database.transaction(async (transaction) => {
      const { sequence } = await lockHead(transaction, this.#database.kind);
      const beats = await transaction.query("SELECT id, last_seen_ms FROM registry_beats");
      const seen = new Map(beats.map((row) => [String(row["id"]), Number(row["last_seen_ms"])]));
      const rows = await transaction.query(
        "SELECT c.id AS id, c.body AS body FROM registry_services s JOIN registry_changes c ON c.sequence = s.sequence",
      );
      return {
        sequence,
        services: rows.map((row) => {
          const instance = JSON.parse(String(row["body"])) as Instance;
          // A service that began anew was not heard of yet; a heartbeat that is still there is of an earlier life.
          return { instance, lastSeenMs: instance.pinged ? seen.get(String(row["id"])) : undefined };
        }),
      };
    });
  }

  async commit(asked: CommitRequest): Promise<readonly Change[]> {
    const batch = this.#env.uuid();
    return (await this.#commitUnseen(asked, batch)) ?? this.#commitLocked(asked, batch);
  }

  /**
   * In a file of our own nobody else writes, so that nothing is missed: decided at once and written in one turn, which
   * writes nothing when that was not so after all. Undefined: it takes a look into the tables first.
   */
  async #commitUnseen(asked: CommitRequest, batch: string): Promise<readonly Change[] | undefined> {
    if (this.#database.kind !== "sqlite") return undefined;
    const made = numberChanges(asked.decide([], new Map()), asked.applied);
    if (made.length === 0 || made.some(({ instance }) => instance === null)) return undefined;
    const head = "UPDATE registry_head SET sequence = ? WHERE id = 0 AND sequence = ?";
    const isWritten = await this.#database.write([
      { kind: "Guard", sql: head, values: [asked.applied + made.length, asked.applied] },
      { kind: "Insert", ...changesInsert(batch, made) },
      { kind: "Insert", ...servicesInsert(newestOf(made)) },
    ]);
    return isWritten ? made : undefined;
  }

  async #commitLocked(asked: CommitRequest, batch: string): Promise<readonly Change[]> {
    let before = asked.applied;
    let made: readonly Change[] = [];
    try {
      await this.#database.transaction(async (transaction) => {
        const head = await lockHead(transaction, this.#database.kind);
        before = head.sequence;
        const missed = before > asked.applied ? await readAfter(transaction, asked.applied, head) : [];
        made = numberChanges(
          asked.decide(missed, await readBeatAges(transaction, this.#database.kind, asked.confirm)),
          before,
        );
        if (made.length > 0) await this.#write(transaction, batch, made, before);
      });
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== "CommitUnknown" || made.length === 0) throw error;
      if (!(await this.#wasWritten(batch, before)))
        throw new StoreError("Unavailable", error.message, { cause: error });
    }
    return made;
  }

  async changesAfter(sequence: number, limit: number): ReturnType<RegistryLog["changesAfter"]> {
    const [head] = await this.#database.query("SELECT pruned FROM registry_head WHERE id = 0");
    const pruned = Number(head?.["pruned"]);
    const rows = await this.#database.query(
      "SELECT sequence, kind, id, at_ms, body FROM registry_changes WHERE sequence > ? ORDER BY sequence LIMIT ?",
      [Math.max(sequence, pruned), limit],
    );
    return { changes: rows.map(toChange), oldest: pruned + 1 };
  }

  async saveBeats(given: readonly Beat[]): Promise<void> {
    const isShared = this.#database.kind === "postgres";
    const askedAtMs = this.#env.monotonicMs();
    await this.#database.transaction(async (transaction) => {
      const wallMs = this.#env.now().getTime();
      // They went on ageing while the transaction waited for its turn, and must not come back younger than they are.
      const waitedMs = this.#env.monotonicMs() - askedAtMs;
      const beats = given.map(({ id, ageMs }) => ({ id, ageMs: ageMs + waitedMs }));
      if (isShared) {
        // In one order, so that two replicas that save the same services never wait for each other in a circle.
        const sorted = beats.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        await transaction.query(sharedBeats, [
          JSON.stringify(sorted.map(({ id }) => id)),
          JSON.stringify(sorted.map(({ ageMs }) => Math.round(ageMs))),
        ]);
        for (const payload of beatPayloads(this.#replica, beats)) await transaction.notify(beatsChannel, payload);
        return;
      }
      await transaction.insert({
        table: "registry_beats",
        columns: ["id", "last_seen_ms"],
        rows: beats.map(({ id, ageMs }) => [id, Math.round(wallMs - ageMs)]),
        onConflict: "ON CONFLICT (id) DO UPDATE SET last_seen_ms = excluded.last_seen_ms",
      });
    });
  }

  async follow(follower: Follower): Promise<() => Promise<void>> {
    if (this.#database.kind === "sqlite") return async () => undefined;
    const stops = await Promise.all([
      this.#database.listen(changesChannel, {
        onMessage: (payload) => {
          const [replica, sequence] = payload.split(" ");
          if (replica !== this.#replica) follower.onChanges(Number(sequence));
        },
        onGap: () => follower.onGap(),
      }),
      this.#database.listen(beatsChannel, {
        onMessage: (payload) => {
          const [replica, ...ids] = JSON.parse(payload) as string[];
          if (replica !== this.#replica) follower.onBeats(ids);
        },
        onGap: () => undefined,
      }),
    ]);
    return async () => void (await Promise.all(stops.map((stop) => stop())));
  }

  /**
   * Says first what is no longer kept, then takes it away piece by piece, so that no writer waits for long. What is not a
   * service's last change now never becomes it again: the pieces need no lock.
   */
  async prune(upTo: number): Promise<void> {
    const isAhead = await this.#database.transaction(async (transaction) => {
      const { pruned } = await lockHead(transaction, this.#database.kind);
      if (upTo <= pruned) return false;
      await transaction.query("UPDATE registry_head SET pruned = ? WHERE id = 0", [upTo]);
      return true;
    });
    if (!isAhead) return;
    for (let start = 0; ; ) {
      const [piece] = await this.#database.query(nextPiece, [start, upTo, changesPerPiece]);
      if (piece?.["last"] === null || piece === undefined) break;
      const last = Number(piece["last"]);
      await this.#database.query(deletePiece, [start, last]);
      start = last;
    }
    await this.#database.query(deleteOrphanedBeats);
  }

  async #write(transaction: Transaction, batch: string, changes: readonly Change[], before: number): Promise<void> {
    const newest = newestOf(changes);
    const sequence = before + changes.length;
    await transaction.insert(changesInsert(batch, changes));
    await transaction.insert(servicesInsert(newest));
    const gone = newest.filter(({ instance }) => instance === null);
    await deleteAll(transaction, "registry_beats", gone);
    await deleteAll(transaction, "registry_services", gone);
    await transaction.query("UPDATE registry_head SET sequence = ? WHERE id = 0", [sequence]);
    if (this.#database.kind === "postgres") await transaction.notify(changesChannel, `${this.#replica} ${sequence}`);
  }

  /** The commit's answer was lost. The batch is in the log or it is not, and the head's lock keeps that from changing. */
  #wasWritten(batch: string, before: number): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      await lockHead(transaction, this.#database.kind);
      const rows = await transaction.query(
        "SELECT 1 AS found FROM registry_changes WHERE batch = ? AND sequence > ? LIMIT 1",
        [batch, before],
      );
      return rows.length > 0;
    });
  }
}

const changesPerPiece = 5_000;
const nextPiece =
  "SELECT max(sequence) AS last FROM (SELECT sequence FROM registry_changes WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?) AS piece";
const deletePiece = `DELETE FROM registry_changes WHERE sequence > ? AND sequence <= ? AND NOT EXISTS
  (SELECT 1 FROM registry_services WHERE registry_services.id = registry_changes.id AND registry_services.sequence = registry_changes.sequence)`;
const deleteOrphanedBeats =
  "DELETE FROM registry_beats WHERE NOT EXISTS (SELECT 1 FROM registry_services WHERE registry_services.id = registry_beats.id)";

const changesChannel = "capstan_registry_changes";
const beatsChannel = "capstan_registry_beats";

/** One moment for all rows: a server that is held up between two of them must not make the one look older. */
const sharedBeats = `WITH moment AS MATERIALIZED (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS at_ms)
  INSERT INTO registry_beats (id, last_seen_ms)
  SELECT beat.id, moment.at_ms - CAST(beat.age AS BIGINT)
  FROM moment, ROWS FROM (json_array_elements_text(CAST(? AS JSON)), json_array_elements_text(CAST(? AS JSON))) AS beat (id, age)
  ON CONFLICT (id) DO UPDATE SET last_seen_ms = greatest(registry_beats.last_seen_ms, excluded.last_seen_ms)`;

/** Each service's last change. */
const newestOf = (changes: readonly Change[]): readonly Change[] => [
  ...new Map(changes.map((change) => [change.id, change])).values(),
];

const changesInsert = (batch: string, changes: readonly Change[]): Insert => ({
  table: "registry_changes",
  columns: ["sequence", "batch", "kind", "id", "at_ms", "body"],
  rows: changes.map(({ sequence, kind, id, atMs, instance }) => [
    sequence,
    batch,
    kind,
    id,
    atMs,
    instance && JSON.stringify(instance),
  ]),
});

const servicesInsert = (newest: readonly Change[]): Insert => ({
  table: "registry_services",
  columns: ["id", "sequence"],
  rows: newest.filter(({ instance }) => instance !== null).map(({ id, sequence }) => [id, sequence]),
  onConflict: "ON CONFLICT (id) DO UPDATE SET sequence = excluded.sequence",
});

interface Head {
  readonly sequence: number;
  /** Up to here only what is still the last change of a service is kept. */
  readonly pruned: number;
}

/** Whoever holds this row writes; everybody else waits, so that numbers and commits have one order. */
async function lockHead(transaction: Transaction, kind: Database["kind"]): Promise<Head> {
  const lock = kind === "postgres" ? " FOR UPDATE" : "";
  const [head] = await transaction.query(`SELECT sequence, pruned FROM registry_head WHERE id = 0${lock}`);
  return { sequence: Number(head?.["sequence"]), pruned: Number(head?.["pruned"]) };
}

async function readAfter(transaction: Transaction, after: number, head: Head): Promise<readonly Change[]> {
  // Others have pruned what we have not seen: only a fresh look at everything is truthful.
  if (after < head.pruned) throw new LogBehindError(after);
  const rows = await transaction.query(
    "SELECT sequence, kind, id, at_ms, body FROM registry_changes WHERE sequence > ? AND sequence <= ? ORDER BY sequence",
    [after, head.sequence],
  );
  return rows.map(toChange);
}

async function deleteAll(transaction: Transaction, table: string, changes: readonly Change[]): Promise<void> {
  for (let start = 0; start < changes.length; start += idsPerQuery) {
    const ids = changes.slice(start, start + idsPerQuery).map(({ id }) => id);
    await transaction.query(`DELETE FROM ${table} WHERE id IN (${ids.map(() => "?").join(",")})`, ids);
  }
}

/** How long ago other replicas heard of them; a registry in a SQLite file has no other replicas. */
async function readBeatAges(
  transaction: Transaction,
  kind: Database["kind"],
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const beats = new Map<string, number>();
  if (kind === "sqlite") return beats;
  for (let start = 0; start < ids.length; start += idsPerQuery) {
    const part = ids.slice(start, start + idsPerQuery);
    const rows = await transaction.query(
      `SELECT id, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) - last_seen_ms AS age FROM registry_beats WHERE id IN (${part.map(() => "?").join(",")})`,
      part,
    );
    for (const row of rows) beats.set(String(row["id"]), Number(row["age"]));
  }
  return beats;
}
const idsPerQuery = 500;

const toChange = (row: Row): Change => ({
  sequence: Number(row["sequence"]),
  kind: String(row["kind"]) as ChangeKind,
  id: String(row["id"]),
  atMs: Number(row["at_ms"]),
  instance: row["body"] === null ? null : (JSON.parse(String(row["body"])) as Instance),
});

/** Ids in as few messages as fit. */
function* beatPayloads(replica: string, beats: readonly Beat[]): Generator<string> {
  let ids: string[] = [replica];
  let bytes = 64;
  for (const { id } of beats) {
    const size = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (bytes + size > maxNotificationBytes) {
      yield JSON.stringify(ids);
      ids = [replica];
      bytes = 64;
    }
    ids.push(id);
    bytes += size;
  }
  if (ids.length > 1) yield JSON.stringify(ids);
}
