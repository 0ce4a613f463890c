// Audit rows per second against bare inserts of the same rows into the same database.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditRecord } from "../../src/audit/entry.ts";
import { auditSigner, newAuditKey } from "../../src/audit/signing-key.ts";
import { openAuditTrail } from "../../src/audit/trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { Database, Insert } from "../../src/store/database.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { findPostgres, startPostgres } from "../../src/store/postgres-server.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";

export interface AuditSpeed {
  readonly engine: string;
  /** Appends that wait together; bare rows go in transactions of as many. */
  readonly inFlight: number;
  readonly rows: number;
  /** In an ordinary transaction: begin, insert all, commit. */
  readonly bareRowsPerSecond: number;
  /** By the way that the trail itself takes: everything sent at once. */
  readonly bareAtOnceRowsPerSecond: number;
  readonly auditRowsPerSecond: number;
  /** Against the ordinary transaction. */
  readonly ratio: number;
  readonly ratioAtOnce: number;
}

export const auditTarget = 0.7;

export async function measureAudit(): Promise<readonly AuditSpeed[]> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const speeds: AuditSpeed[] = [];
  try {
    const sqlite = await openSqlite(join(folder, "capstan.db"));
    speeds.push(...(await measureOn(sqlite)));
    await sqlite.close();
    if ("missing" in findPostgres()) return speeds;
    const server = await startPostgres();
    try {
      const postgres = await openPostgres({ env: systemEnv, url: server.url });
      speeds.push(...(await measureOn(postgres)));
      await postgres.close();
    } finally {
      await server.stop();
    }
    return speeds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const plans = [
  { inFlight: 1, rows: 500 },
  { inFlight: 50, rows: 20_000 },
  { inFlight: 500, rows: 40_000 },
] as const;

/**
 * All sides take turns in small rounds, so that whatever else the machine does falls on all of them; what is told is the
 * median round, because a single slow sync of the disk would outweigh a hundred others.
 */
async function measureOn(database: Database): Promise<readonly AuditSpeed[]> {
  for (const table of ["bare", "bare_at_once"]) await database.query(bareTable(table, database.kind));
  const signer = auditSigner(newAuditKey());
  const trail = await openAuditTrail({ env: systemEnv, database, signer });
  let next = 1;
  const roundOf = (size: number): readonly AuditRecord[] => Array.from({ length: size }, () => recordOf(next++));
  const speeds: AuditSpeed[] = [];
  for (const { inFlight, rows } of plans) {
    const times = { bare: [] as number[], bareAtOnce: [] as number[], audit: [] as number[] };
    const measure = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
      const startMs = systemEnv.monotonicMs();
      await work();
      into.push(systemEnv.monotonicMs() - startMs);
    };
    for (let done = 0; done < rows; done += inFlight) {
      const records = roundOf(inFlight);
      await measure(times.bare, () => database.transaction((open) => open.insert(bareRows("bare", records))));
      await measure(times.bareAtOnce, () => database.write([{ kind: "Insert", ...bareRows("bare_at_once", records) }]));
      await measure(times.audit, () => Promise.all(records.map((record) => trail.append([record]))));
    }
    const [bareMs, bareAtOnceMs, auditMs] = [median(times.bare), median(times.bareAtOnce), median(times.audit)];
    const perSecond = (ms: number): number => Math.round((inFlight / ms) * 1000);
    speeds.push({
      engine: database.kind,
      inFlight,
      rows,
      bareRowsPerSecond: perSecond(bareMs),
      bareAtOnceRowsPerSecond: perSecond(bareAtOnceMs),
      auditRowsPerSecond: perSecond(auditMs),
      ratio: Number((bareMs / auditMs).toFixed(2)),
      ratioAtOnce: Number((bareAtOnceMs / auditMs).toFixed(2)),
    });
  }
  const { entries, problems } = await verifyTrail(database, { verifiers: [signer] });
  if (entries !== next - 1 || problems.length > 0) throw new Error(`the trail is not whole: ${problems[0]?.message}`);
  return speeds;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const recordOf = (number: number): AuditRecord => ({
  // As the executor names them: rows of one execution come one after the other, executions in any order.
  id: `${uidOf(Math.floor(number / 6))}/phase/${number % 6}`,
  time: new Date(Date.UTC(2026, 0, 1) + number),
  actor: "capstan-action-executor",
  verb: "transition",
  object: { kind: "KubernetesExecution", namespace: "shop", name: `scale-${number}`, uid: uidOf(number) },
  result: "executing",
  details: { from: "validated", action: "scale_deployment", requestedBy: "alice", message: "Job exec-scale runs" },
});

const uidOf = (number: number): string => {
  const hex = ((number * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, "0");
  return `${hex}-0000-4000-8000-${String(number).padStart(12, "0")}`;
};

const columns = ["sequence", "id", "time", "actor", "verb", "kind", "namespace", "name", "uid", "result", "details"];
/** As the trail's own table: a sequence that SQLite takes for the row's own number, and happenings told once. */
const bareTable = (name: string, kind: Database["kind"]): string =>
  `CREATE TABLE ${name} (sequence ${kind === "sqlite" ? "INTEGER" : "BIGINT"} PRIMARY KEY, id TEXT NOT NULL UNIQUE, ${columns
    .slice(2)
    .map((column) => `${column} TEXT NOT NULL`)
    .join(", ")})`;

let sequence = 0;
/** The same facts; what is left out is redaction, chain, signature and the search by name. */
const bareRows = (table: string, records: readonly AuditRecord[]): Insert => ({
  table,
  columns,
  rows: records.map(({ id, time, actor, verb, object, result, details }) => [
    ++sequence,
    id,
    time.toISOString(),
    actor,
    verb,
    object.kind,
    object.namespace ?? "",
    object.name,
    object.uid ?? "",
    result,
    JSON.stringify(details),
  ]),
});
