import type { Database, SqlValue } from "../store/database.ts";
import type { AuditEntry } from "./entry.ts";
import { entryOf } from "./tables.ts";

export interface AuditFilter {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly verb?: string;
  readonly actor?: string;
  /** Only rows behind this one. */
  readonly after?: number;
}

/** Whether anybody has ever opened a trail in this database; of one that was tampered with, only a part may be left. */
export const hasTrail = async (database: Database): Promise<boolean> =>
  (await missingTables(database)).length < trailTables.length;

export async function missingTables(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    database.kind === "sqlite"
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'audit%'"
      : "SELECT table_name AS name FROM information_schema.tables WHERE table_name LIKE 'audit%'",
  );
  const present = new Set(rows.map(({ name }) => name));
  return trailTables.filter((name) => !present.has(name));
}

const trailTables: readonly string[] = ["audit_entries", "audit_checkpoints", "audit_head"];

/** The rows in order, fetched in pages so that a long trail never has to fit into memory. */
export async function* readEntries(database: Database, filter: AuditFilter = {}): AsyncGenerator<AuditEntry> {
  const { after: start = 0, ...equal } = filter;
  const wanted = Object.entries(equal).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const conditions = wanted.map(([column]) => ` AND ${column} = ?`).join("");
  const values: readonly SqlValue[] = wanted.map(([, value]) => value);
  let after = start;
  for (;;) {
    const rows = await database.query(
      `SELECT * FROM audit_entries WHERE sequence > ?${conditions} ORDER BY sequence LIMIT ${pageSize}`,
      [after, ...values],
    );
    for (const row of rows) yield entryOf(row);
    if (rows.length < pageSize) return;
    after = Number(rows.at(-1)?.["sequence"]);
  }
}

/** The newest rows that match, oldest first. */
export async function lastEntries(
  database: Database,
  filter: AuditFilter,
  limit: number,
): Promise<readonly AuditEntry[]> {
  const { after = 0, ...equal } = filter;
  const wanted = Object.entries(equal).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const rows = await database.query(
    `SELECT * FROM audit_entries WHERE sequence > ?${wanted.map(([column]) => ` AND ${column} = ?`).join("")} ORDER BY sequence DESC LIMIT ?`,
    [after, ...wanted.map(([, value]) => value), limit],
  );
  return rows.map(entryOf).reverse();
}

/** One JSON object per line, with everything that a reader needs to follow the chain on their own. */
export const exportLine = (entry: AuditEntry): string =>
  `${JSON.stringify({ ...entry, details: JSON.parse(entry.details) as unknown })}\n`;

const pageSize = 1_000;
