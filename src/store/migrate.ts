import type { Database, Migration, Transaction } from "./database.ts";

/** The table that remembers what has been done, in words that both engines understand. */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS capstan_migrations (component TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (component, version))";

/** Runs what is missing inside the given transaction, which keeps every other migrator out. */
export async function runMigrations(
  kind: Database["kind"],
  component: string,
  migrations: readonly Migration[],
  transaction: Transaction,
  run: (script: string) => Promise<void>,
): Promise<void> {
  await run(migrationsTable);
  const rows = await transaction.query("SELECT version FROM capstan_migrations WHERE component = ?", [component]);
  const done = new Set(rows.map(({ version }) => Number(version)));
  const newest = Math.max(0, ...done);
  const known = Math.max(0, ...migrations.map(({ version }) => version));
  if (newest > known)
    throw new Error(
      `the ${component} tables are at version ${newest}, this program knows ${known}: a newer version of Capstan has written them`,
    );
  for (const migration of migrations.toSorted((a, b) => a.version - b.version)) {
    if (done.has(migration.version)) continue;
    await run(migration[kind]);
    await transaction.query("INSERT INTO capstan_migrations (component, version, name) VALUES (?, ?, ?)", [
      component,
      migration.version,
      migration.name,
    ]);
  }
}
