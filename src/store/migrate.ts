import type { Database, Migration, Transaction } from "./database.ts";

/** The table that remembers what has been done, in words that both engines understand. */
export const migrationsTable =
  "CREATE TABLE IF NOT EXISTS capstan_migrations (component TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (component, version))";

const findMigrations: Readonly<Record<Database["kind"], string>> = {
  sqlite: "SELECT name FROM sqlite_master WHERE name = 'capstan_migrations'",
  postgres: "SELECT 1 AS found WHERE to_regclass('capstan_migrations') IS NOT NULL",
};

/** Runs what is missing inside the given transaction, which keeps every other migrator out. */
export async function runMigrations(
  kind: Database["kind"],
  component: string,
  migrations: readonly Migration[],
  transaction: Transaction,
  run: (script: string) => Promise<void>,
): Promise<void> {
  // Asked first, so that a role that may not create tables can use those that somebody else has made.
  if ((await transaction.query(findMigrations[kind])).length === 0) await run(migrationsTable);
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
