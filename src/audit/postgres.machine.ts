import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { systemEnv } from "../env/system.ts";
import type { Database } from "../store/database.ts";
import { openPostgres } from "../store/postgres-database.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../store/postgres-server.ts";
import { describeTrail } from "./contract-cases.ts";
import { readEntries } from "./read-trail.ts";
import { auditSigner, newAuditKey } from "./signing-key.ts";
import { openAuditTrail } from "./trail.ts";
import { verifyTrail } from "./verify.ts";

const found = findPostgres();
const skip = "missing" in found ? found.missing : false;
const signer = auditSigner(newAuditKey());

describe("the audit trail in PostgreSQL", { skip, timeout: 300_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  const open = (user = "capstan"): Promise<Database> =>
    openPostgres({ env: systemEnv, url: server.url.replace("capstan@", `${user}@`) });
  const asOwner = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const empty = async (): Promise<Database> => {
    await asOwner("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    return open();
  };
  const row = (id: string) => ({
    id,
    time: systemEnv.now(),
    actor: "alice",
    verb: "transition",
    object: { kind: "KubernetesExecution", namespace: "shop", name: id },
    result: "executing",
  });

  describeTrail("PostgreSQL", { open: empty, flipEvery: 13 });

  test("S18: a role that may only add writes the trail, and can neither change nor remove a row", async () => {
    const owner = await empty();
    await (await openAuditTrail({ env: systemEnv, database: owner, signer })).append([row("first")]);
    await asOwner(`
      DROP ROLE IF EXISTS writer;
      CREATE ROLE writer LOGIN;
      GRANT USAGE ON SCHEMA public TO writer;
      GRANT SELECT ON capstan_migrations TO writer;
      GRANT SELECT, INSERT ON audit_entries, audit_checkpoints TO writer;
      GRANT SELECT, INSERT, UPDATE ON audit_head TO writer`);
    const writer = await open("writer");
    const trail = await openAuditTrail({ env: systemEnv, database: writer, signer });
    assert.equal(await trail.append([row("second"), row("first")]), 1);
    assert.equal(await trail.append([row("third")]), 1);
    for (const sql of [
      "UPDATE audit_entries SET actor = 'mallory'",
      "DELETE FROM audit_entries",
      "TRUNCATE audit_entries",
      "DROP TABLE audit_entries",
      "DELETE FROM audit_checkpoints",
      "DELETE FROM audit_head",
    ])
      await assert.rejects(writer.query(sql), /permission denied|must be owner/, sql);
    assert.deepEqual((await verifyTrail(owner, { verifiers: [signer] })).problems, []);
    await writer.close();
    await owner.close();
  });

  test("F43: what was acknowledged before the server was killed is there afterwards", async () => {
    const first = await empty();
    const trail = await openAuditTrail({ env: systemEnv, database: first, signer });
    const acknowledged: string[] = [];
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let number = 0; ; number++) {
        const id = `${writer}-${number}`;
        await trail.append([row(id)]);
        acknowledged.push(id);
      }
    });
    const ended = Promise.allSettled(writers);
    while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    await server.kill();
    await ended;
    await server.start();
    const second = await open();
    const kept = new Set<string>();
    for await (const { id } of readEntries(second)) kept.add(id);
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
    assert.deepEqual((await verifyTrail(second, { verifiers: [signer] })).problems, []);
    await first.close();
    await second.close();
  });
});
