// What the audit trail costs against bare inserts of the same rows into the same kind of database.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditSigner, newAuditKey } from "../src/audit/signing-key.ts";
import { openAuditTrail } from "../src/audit/trail.ts";
import { systemEnv } from "../src/env/system.ts";
import { openSqlite } from "../src/store/sqlite-database.ts";

const rows = 20_000;
const together = 50;

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  try {
    const bare = await bareInserts(join(folder, "bare.db"));
    const chained = await auditRows(join(folder, "audit.db"));
    const result = {
      rows,
      appendsInFlight: together,
      bareRowsPerSecond: Math.round(bare),
      auditRowsPerSecond: Math.round(chained),
      ratio: Number((chained / bare).toFixed(2)),
      target: 0.7,
    };
    console.log(`audit rows per second against bare inserts: ${result.ratio} (target 0.7 or more)`);
    mkdirSync("bench/results", { recursive: true });
    writeFileSync("bench/results/actions.json", `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const time = "2026-01-01T00:00:00.000Z";
const details = JSON.stringify({ from: "validated", action: "scale_deployment", requestedBy: "alice" });

/** The same columns, index and durability, without the chain: one transaction for as many rows as are in flight. */
async function bareInserts(file: string): Promise<number> {
  const database = await openSqlite(file);
  const columns = ["sequence", "id", "time", "actor", "verb", "kind", "namespace", "name", "uid", "result", "details"];
  const create = `CREATE TABLE bare (sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ${columns
    .slice(2)
    .map((column) => `${column} TEXT NOT NULL`)
    .join(", ")}) STRICT`;
  await database.query(create);
  const startMs = systemEnv.monotonicMs();
  for (let start = 0; start < rows; start += together)
    await database.transaction((transaction) =>
      transaction.insert({
        table: "bare",
        columns,
        rows: Array.from({ length: together }, (_, index) => {
          const id = start + index + 1;
          return [
            id,
            `id-${id}`,
            time,
            "alice",
            "transition",
            "KubernetesExecution",
            "shop",
            `x-${id}`,
            `u-${id}`,
            "executing",
            details,
          ];
        }),
      }),
    );
  const seconds = (systemEnv.monotonicMs() - startMs) / 1000;
  await database.close();
  return rows / seconds;
}

async function auditRows(file: string): Promise<number> {
  const database = await openSqlite(file);
  const trail = await openAuditTrail({ env: systemEnv, database, signer: auditSigner(newAuditKey()) });
  const startMs = systemEnv.monotonicMs();
  for (let start = 0; start < rows; start += together)
    await Promise.all(
      Array.from({ length: together }, (_, index) => {
        const id = start + index + 1;
        return trail.append([
          {
            id: `id-${id}`,
            time: new Date(time),
            actor: "alice",
            verb: "transition",
            object: { kind: "KubernetesExecution", namespace: "shop", name: `x-${id}`, uid: `u-${id}` },
            result: "executing",
            details: JSON.parse(details) as Record<string, unknown>,
          },
        ]);
      }),
    );
  const seconds = (systemEnv.monotonicMs() - startMs) / 1000;
  await database.close();
  return rows / seconds;
}
