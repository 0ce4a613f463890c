// Audit rows per second against bare inserts of the same rows into the same database.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditRecord } from "../../src/audit/entry.ts";
import { auditSigner, newAuditKey } from "../../src/audit/signing-key.ts";
import { openAuditTrail } from "../../src/audit/trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { Database } from "../../src/store/database.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { findPostgres, startPostgres } from "../../src/store/postgres-server.ts";
import { openSqlite } from "../../src/store/sqlite-database.ts";

export interface AuditSpeed {
  readonly engine: string;
  /** Appends that wait together; bare rows go in transactions of as many. */
  readonly inFlight: number;
  readonly rows: number;
  readonly bareRowsPerSecond: number;
  readonly auditRowsPerSecond: number;
  readonly ratio: number;
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
 * Both sides take turns in small rounds, so that whatever else the machine does falls on both of them; what is told is the
 * median round, because a single slow sync of the disk would outweigh a hundred others.
 */
async function measureOn(database: Database): Promise<readonly AuditSpeed[]> {
  await database.query(bareTable);
  const signer = auditSigner(newAuditKey());
  const trail = await openAuditTrail({ env: systemEnv, database, signer });
  let next = 1;
  const roundOf = (size: number): readonly AuditRecord[] => Array.from({ length: size }, () => recordOf(next++));
  const speeds: AuditSpeed[] = [];
  for (const { inFlight, rows } of plans) {
    const bareMs: number[] = [];
    const auditMs: number[] = [];
    for (let done = 0; done < rows; done += inFlight) {
      const records = roundOf(inFlight);
      const startMs = systemEnv.monotonicMs();
      await insertBare(database, records);
      const betweenMs = systemEnv.monotonicMs();
      await Promise.all(records.map((record) => trail.append([record])));
      bareMs.push(betweenMs - startMs);
      auditMs.push(systemEnv.monotonicMs() - betweenMs);
    }
    speeds.push({
      engine: database.kind,
      inFlight,
      rows,
      bareRowsPerSecond: Math.round((inFlight / median(bareMs)) * 1000),
      auditRowsPerSecond: Math.round((inFlight / median(auditMs)) * 1000),
      ratio: Number((median(bareMs) / median(auditMs)).toFixed(2)),
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
const bareTable = `CREATE TABLE bare (sequence BIGINT PRIMARY KEY, id TEXT NOT NULL UNIQUE, ${columns
  .slice(2)
  .map((column) => `${column} TEXT NOT NULL`)
  .join(", ")})`;

let sequence = 0;
/**
 * The same facts, one transaction for as many rows as are in flight, by the store's quickest way: all in one turn. What is
 * left out is redaction, chain, signature and the search by name.
 */
const insertBare = async (database: Database, records: readonly AuditRecord[]): Promise<void> => {
  const rows = records.map(({ id, time, actor, verb, object, result, details }) => [
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
  ]);
  await database.write([{ kind: "Insert", table: "bare", columns, rows }]);
};
