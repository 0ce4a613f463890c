import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Database } from "../store/database.ts";
import { openSqlite } from "../store/sqlite-database.ts";
import { StoreError } from "../store/store-error.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { startDashboard } from "./dashboard-for-tests.ts";
import { believedMs, databaseSessions } from "./database-sessions.ts";
import { describeKeptSessions } from "./kept-sessions-cases.ts";
import { memorySessions } from "./memory-sessions.ts";
import { createSessions } from "./session.ts";

describeKeptSessions("memory", async () => {
  const clock = manualEnv();
  return { kept: memorySessions(clock), clock };
});
describeKeptSessions("SQLite", async () => {
  const clock = manualEnv();
  return { kept: databaseSessions(clock, await openSqlite(":memory:")), clock };
});

describe("sessions that replicas share", () => {
  test("are known to a replica that did not open them, and end for all within seconds", async () => {
    const env = manualEnv();
    const database = await openSqlite(":memory:");
    const [one, other] = [databaseSessions(env, database), databaseSessions(env, database)];
    await one.put("secret", "credential", 3_600_000);
    assert.equal(await other.find("secret"), "credential");
    await one.end("secret");
    assert.equal(await one.find("secret"), undefined);
    await env.advance(believedMs);
    assert.equal(await other.find("secret"), undefined);
  });

  test("do not tell whoever reads the database how to sign in", async () => {
    const database = await openSqlite(":memory:");
    await databaseSessions(manualEnv(), database).put("a-secret", "a-credential", 1_000);
    const [row] = await database.query("SELECT * FROM dashboard_sessions");
    const text = Object.values(row ?? {})
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
      .join(" ");
    assert.ok(text.length > 64);
    assert.doesNotMatch(text, /secret|credential/);
  });

  test("that somebody has changed in the database are over", async () => {
    const env = manualEnv();
    const database = await openSqlite(":memory:");
    const kept = databaseSessions(env, database);
    await kept.put("mine", "weak", 3_600_000);
    await kept.put("theirs", "strong", 3_600_000);
    const rows = await database.query("SELECT digest, sealed FROM dashboard_sessions");
    for (const [index, row] of rows.entries())
      await database.query("UPDATE dashboard_sessions SET sealed = ? WHERE digest = ?", [
        rows[1 - index]?.["sealed"] ?? null,
        row["digest"] ?? null,
      ]);
    await env.advance(believedMs);
    assert.equal(await kept.find("mine"), undefined, "somebody else's row opens nothing");
  });

  test("go on while the database is away; a stranger is told to try again (F43)", async () => {
    const env = manualEnv();
    const database = await openSqlite(":memory:");
    let isAway = false;
    const flaky: Database = {
      ...database,
      kind: database.kind,
      migrate: (component, migrations) => database.migrate(component, migrations),
      transaction: (work) => database.transaction(work),
      query: (sql, values) =>
        isAway ? Promise.reject(new StoreError("Unavailable", "away")) : database.query(sql, values),
    };
    const sessions = createSessions({ env, kept: databaseSessions(env, flaky) });
    const dashboard = await startDashboard({ sessions });
    const cookie = await dashboard.cookieOf("admin-token");
    isAway = true;
    await env.advance(believedMs);
    const asPage = { host: "127.0.0.1:8080", origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" };
    const known = await dashboard.ask("GET", "/k8s/api/v1/namespaces", { headers: { ...asPage, cookie } });
    assert.equal(known.status, 200);
    const strange = { ...asPage, cookie: "capstan-session=somebody" };
    const refused = await dashboard.ask("GET", "/k8s/api/v1/namespaces", { headers: strange });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers["retry-after"], "5");
    await dashboard.close();
  });
});
