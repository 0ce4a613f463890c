import type { Env } from "../env/env.ts";
import type { Database, Migration } from "../store/database.ts";
import { StoreError } from "../store/store-error.ts";
import { type KeptSessions, maxSessions } from "./kept-sessions.ts";
import { digestOf, seal, unseal } from "./seal.ts";

/**
 * Sessions of all replicas that share a database: whoever signed in at one is known to all, also after a restart. What was
 * just looked up is believed for a moment, and for longer while the database is away.
 */
export function databaseSessions(env: Env, database: Database): KeptSessions {
  const recent = new Map<string, Recent>();
  let ready: Promise<void> | undefined;
  const prepared = (): Promise<void> => {
    ready ??= database.migrate("dashboard", migrations).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };
  const remember = (digest: string, found: Omit<Recent, "seenAtMs">): void => {
    recent.delete(digest);
    recent.set(digest, { ...found, seenAtMs: env.monotonicMs() });
    const [oldest] = recent.keys();
    if (recent.size > maxSessions && oldest !== undefined) recent.delete(oldest);
  };
  const nowMs = (): number => env.now().getTime();

  async function lookUp(secret: string, digest: string): Promise<string | undefined> {
    await prepared();
    const rows = await database.query("SELECT expires_at_ms, sealed FROM dashboard_sessions WHERE digest = ?", [
      digest,
    ]);
    const [row] = rows;
    const expiresAtMs = Number(row?.["expires_at_ms"] ?? 0);
    const credential = row && expiresAtMs > nowMs() ? unseal(secret, row["sealed"] as Uint8Array) : undefined;
    if (credential === undefined) recent.delete(digest);
    else remember(digest, { credential, expiresAtMs });
    return credential;
  }

  return {
    async put(secret, credential, lifetimeMs) {
      await prepared();
      const [digest, expiresAtMs] = [digestOf(secret), nowMs() + lifetimeMs];
      await database.transaction(async (transaction) => {
        await transaction.query("DELETE FROM dashboard_sessions WHERE expires_at_ms <= ?", [nowMs()]);
        await transaction.query(
          "DELETE FROM dashboard_sessions WHERE digest IN (SELECT digest FROM dashboard_sessions ORDER BY expires_at_ms DESC LIMIT 1000000 OFFSET ?)",
          [maxSessions - 1],
        );
        await transaction.query("INSERT INTO dashboard_sessions (digest, expires_at_ms, sealed) VALUES (?, ?, ?)", [
          digest,
          expiresAtMs,
          seal(secret, credential),
        ]);
      });
      remember(digest, { credential, expiresAtMs });
    },

    async find(secret) {
      const digest = digestOf(secret);
      const known = recent.get(digest);
      const isKnown = known !== undefined && known.expiresAtMs > nowMs();
      if (isKnown && env.monotonicMs() - known.seenAtMs < believedMs) return known.credential;
      try {
        return await lookUp(secret, digest);
      } catch (error) {
        if (isKnown && error instanceof StoreError) return known.credential;
        throw error;
      }
    },

    async end(secret) {
      const digest = digestOf(secret);
      recent.delete(digest);
      await prepared();
      await database.query("DELETE FROM dashboard_sessions WHERE digest = ?", [digest]);
    },
  };
}

interface Recent {
  readonly credential: string;
  readonly expiresAtMs: number;
  readonly seenAtMs: number;
}

/** How long a replica may go on with a session that was ended at another. */
export const believedMs = 10_000;

const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "sessions",
    sqlite:
      "CREATE TABLE dashboard_sessions (digest TEXT PRIMARY KEY, expires_at_ms INTEGER NOT NULL, sealed BLOB NOT NULL) STRICT, WITHOUT ROWID",
    postgres:
      "CREATE TABLE dashboard_sessions (digest TEXT PRIMARY KEY, expires_at_ms BIGINT NOT NULL, sealed BYTEA NOT NULL)",
  },
];
