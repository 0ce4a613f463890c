import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { systemEnv } from "../env/system.ts";
import type { Database, SqlValue } from "../store/database.ts";
import { openSqlite } from "../store/sqlite-database.ts";
import { canonicalJson } from "./chain.ts";
import type { AuditRecord } from "./entry.ts";
import { exportLine, lastEntries, readEntries } from "./read-trail.ts";
import { redact, redacted, redactText } from "./redact.ts";
import { retireSegments } from "./retention.ts";
import { auditSigner, auditVerifier, loadAuditSigner, newAuditKey } from "./signing-key.ts";
import { openAuditTrail } from "./trail.ts";
import { type AuditProblemKind, verifyTrail } from "./verify.ts";

const signer = auditSigner(newAuditKey());
const folder = mkdtempSync(join(tmpdir(), "capstan-audit-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const happening = (number: number): AuditRecord => ({
  id: `execution-${number}/executing`,
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, number)),
  actor: "alice",
  verb: "transition",
  object: { kind: "KubernetesExecution", namespace: "shop", name: `scale-${number}`, uid: `uid-${number}` },
  result: "executing",
  details: { from: "validated", number },
});
const happenings = (count: number, start = 1): readonly AuditRecord[] =>
  Array.from({ length: count }, (_, index) => happening(start + index));

async function using(work: (database: Database) => Promise<void>, rows = 25): Promise<void> {
  const database = await openSqlite(":memory:");
  try {
    const trail = await openAuditTrail({ env: systemEnv, database, signer, checkpointEvery: 10 });
    await trail.append(happenings(rows));
    await work(database);
  } finally {
    await database.close();
  }
}

/** What somebody with the database file can do: triggers do not stop them. */
async function tamper(database: Database, sql: string, values: readonly SqlValue[] = []): Promise<void> {
  for (const name of ["audit_entries_stay", "audit_entries_kept", "audit_checkpoints_kept"])
    await database.query(`DROP TRIGGER IF EXISTS ${name}`);
  await database.query(sql, values);
}

const problemsOf = async (database: Database): Promise<readonly string[]> =>
  (await verifyTrail(database, { verifiers: [signer] })).problems.map(({ kind, sequence }) => `${kind} ${sequence}`);

describe("the audit trail", { timeout: 60_000 }, () => {
  test("keeps rows in order, chained, with checkpoints and a signed end", () =>
    using(async (database) => {
      const report = await verifyTrail(database, { verifiers: [auditVerifier(signer.publicKeyPem)] });
      assert.deepEqual(report.problems, []);
      assert.deepEqual([report.entries, report.checkpoints, report.first, report.last], [25, 2, 1, 25]);
    }));

  test("writes a happening once, however often it is told", () =>
    using(async (database) => {
      const trail = await openAuditTrail({ env: systemEnv, database, signer, checkpointEvery: 10 });
      assert.equal(await trail.append(happenings(26)), 1);
      assert.equal(await trail.append([happening(99), happening(99)]), 1);
      assert.deepEqual(await problemsOf(database), []);
    }));

  test("appends that come together share a transaction and stay in order", () =>
    using(async (database) => {
      const trail = await openAuditTrail({ env: systemEnv, database, signer });
      const added = await Promise.all(happenings(700, 100).map((record) => trail.append([record])));
      assert.equal(
        added.reduce((sum, count) => sum + count, 0),
        700,
      );
      const names: string[] = [];
      for await (const { name } of readEntries(database, { after: 25 })) names.push(name);
      assert.deepEqual(
        names,
        happenings(700, 100).map(({ object }) => object.name),
      );
      assert.deepEqual(await problemsOf(database), []);
    }));

  test("lists by object and exports JSON lines that carry the whole chain", () =>
    using(async (database) => {
      const [entry] = await lastEntries(database, { name: "scale-7" }, 10);
      assert.equal(entry?.sequence, 7);
      const line = JSON.parse(exportLine(entry)) as { details: unknown; hash: string };
      assert.deepEqual(line.details, { from: "validated", number: 7 });
      assert.equal(line.hash, entry.hash);
      assert.equal((await lastEntries(database, {}, 3)).map(({ sequence }) => sequence).join(), "23,24,25");
    }));

  test("the database itself refuses to change or remove rows", () =>
    using(async (database) => {
      await assert.rejects(database.query("UPDATE audit_entries SET actor = 'mallory' WHERE sequence = 3"));
      await assert.rejects(database.query("DELETE FROM audit_entries WHERE sequence = 3"));
      await assert.rejects(database.query("DELETE FROM audit_checkpoints WHERE sequence = 10"));
      assert.deepEqual(await problemsOf(database), []);
    }));

  test("a key is made once, is only ours to read, and a stranger's is not believed", () =>
    using(async (database) => {
      const file = join(folder, "audit.key");
      assert.equal(loadAuditSigner(file).keyId, loadAuditSigner(file).keyId);
      const { problems } = await verifyTrail(database, { verifiers: [loadAuditSigner(file)] });
      assert.ok(problems.some(({ kind }) => kind === "HeadForged"));
    }));
});

describe("S18: tampering is noticed, and the report says where", { timeout: 120_000 }, () => {
  const cases: readonly {
    readonly name: string;
    readonly sql: string;
    readonly found: readonly `${AuditProblemKind} ${number}`[];
  }[] = [
    {
      name: "a row in the middle is removed",
      sql: "DELETE FROM audit_entries WHERE sequence = 7",
      found: ["Missing 7"],
    },
    {
      name: "the first rows are removed as if they had been retired",
      sql: "DELETE FROM audit_entries WHERE sequence <= 10",
      found: ["Missing 1"],
    },
    { name: "the tail is cut off", sql: "DELETE FROM audit_entries WHERE sequence > 21", found: ["Truncated 22"] },
    {
      name: "the last row is cut off",
      sql: "DELETE FROM audit_entries WHERE sequence = 25",
      found: ["Truncated 25"],
    },
    {
      name: "everything is removed",
      sql: "DELETE FROM audit_entries",
      found: ["Truncated 1", "Truncated 1"],
    },
    {
      name: "a checkpoint is removed",
      sql: "DELETE FROM audit_checkpoints WHERE sequence = 10",
      found: ["CheckpointMissing 10"],
    },
    {
      name: "the last checkpoint is removed",
      sql: "DELETE FROM audit_checkpoints WHERE sequence = 20",
      found: ["CheckpointMissing 20"],
    },
    { name: "the end is removed", sql: "DELETE FROM audit_head", found: ["HeadMissing 25"] },
    {
      name: "a segment is marked as retired by somebody else",
      sql: "UPDATE audit_checkpoints SET retired_time = '2026-01-02T00:00:00.000Z' WHERE sequence = 10",
      found: ["CheckpointForged 10"],
    },
  ];
  for (const { name, sql, found } of cases)
    test(name, () =>
      using(async (database) => {
        await tamper(database, sql);
        const problems = await problemsOf(database);
        for (const problem of found) assert.ok(problems.includes(problem), `${problem} is not in ${problems.join()}`);
      }),
    );

  test("two rows change places", () =>
    using(async (database) => {
      for (const [from, to] of [
        [7, 1007],
        [12, 7],
        [1007, 12],
      ] as const)
        await tamper(database, "UPDATE audit_entries SET sequence = ? WHERE sequence = ?", [to, from]);
      const problems = await problemsOf(database);
      assert.ok(problems.includes("Changed 7") && problems.includes("Changed 12"), problems.join());
    }));

  test("a row is added behind the end, with a right hash but without our key", () =>
    using(async (database) => {
      const stranger = await openAuditTrail({ env: systemEnv, database, signer: auditSigner(newAuditKey()) });
      await stranger.append([happening(500)]);
      assert.deepEqual(await problemsOf(database), ["HeadForged 26"]);
    }));

  test("rows are rewritten with a whole new chain", () =>
    using(async (database) => {
      const other = await openSqlite(":memory:");
      const trail = await openAuditTrail({ env: systemEnv, database: other, signer: auditSigner(newAuditKey()) });
      await trail.append(happenings(25).map((record) => ({ ...record, actor: "mallory" })));
      for await (const { sequence, actor, previousHash, hash } of readEntries(other))
        await tamper(database, "UPDATE audit_entries SET actor = ?, previous_hash = ?, hash = ? WHERE sequence = ?", [
          actor,
          previousHash,
          hash,
          sequence,
        ]);
      await other.close();
      assert.deepEqual(await problemsOf(database), ["Changed 10", "Changed 20", "Changed 25"]);
    }));

  test("an old copy of the whole database is told from the one that somebody noted", () =>
    using(async (database) => {
      const expect = { sequence: 40, hash: "0".repeat(64) };
      const { problems } = await verifyTrail(database, { verifiers: [signer], expect });
      assert.deepEqual(
        problems.map(({ kind }) => kind),
        ["NotTheExpectedTrail"],
      );
      const { last, lastHash } = await verifyTrail(database, { verifiers: [signer] });
      const again = await verifyTrail(database, { verifiers: [signer], expect: { sequence: last, hash: lastHash } });
      assert.deepEqual(again.problems, []);
    }));

  test("any character of any field is flipped: every time it is noticed", (context) =>
    using(async (database) => {
      const tables = [
        { table: "audit_entries", key: "sequence" },
        { table: "audit_checkpoints", key: "sequence" },
        { table: "audit_head", key: "only_row" },
      ];
      await tamper(database, "SELECT 1");
      let flips = 0;
      let meant = 0;
      for (const { table, key } of tables) {
        const rows = await database.query(`SELECT * FROM ${table}`);
        for (const row of rows) {
          for (const [column, value] of Object.entries(row)) {
            if (typeof value !== "string") continue;
            for (let at = 0; at < Math.max(1, value.length); at++) {
              const flipped = `${value.slice(0, at)}${value[at] === "x" ? "y" : "x"}${value.slice(at + 1)}`;
              const put = (text: string): Promise<unknown> =>
                database.query(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, [text, row[key] ?? null]);
              await put(flipped);
              flips++;
              const { problems } = await verifyTrail(database, { verifiers: [signer] });
              // A retirement is not there until it has a time; what else stands in its columns says nothing.
              const meaningless: boolean = column === "retired_key_id" || column === "retired_signature";
              if (!meaningless) meant++;
              assert.equal(problems.length > 0, !meaningless, `${table}.${column} of row ${row[key]} at ${at}`);
              await put(value);
            }
          }
        }
      }
      context.diagnostic(`${flips} flips, ${meant} of them in fields that say something, all of those noticed`);
      assert.deepEqual(await problemsOf(database), []);
    }, 11));
});

describe("retention", { timeout: 60_000 }, () => {
  const later = { ...systemEnv, now: () => new Date(systemEnv.now().getTime() + 3_600_000) };

  test("removes whole segments, says so, and leaves a trail that still verifies", () =>
    using(async (database) => {
      const trail = await openAuditTrail({ env: later, database, signer, checkpointEvery: 10 });
      const options = { env: later, database, trail, signer, keepMs: 60_000, actor: "root" };
      assert.deepEqual(await retireSegments(options), { kind: "Retired", segments: 2, entries: 20 });
      const report = await verifyTrail(database, { verifiers: [signer] });
      assert.deepEqual([report.problems, report.first, report.last], [[], 21, 26]);
      const [row] = await lastEntries(database, { verb: "retire" }, 1);
      assert.equal(row?.name, "rows-to-20");
      assert.deepEqual(await retireSegments(options), { kind: "Retired", segments: 0, entries: 0 });
    }));

  test("removes nothing from a trail that was tampered with", () =>
    using(async (database) => {
      await tamper(database, "UPDATE audit_entries SET actor = 'mallory' WHERE sequence = 23");
      const trail = await openAuditTrail({ env: later, database, signer });
      const answer = await retireSegments({ env: later, database, trail, signer, keepMs: 1, actor: "root" });
      assert.equal(answer.kind, "Refused");
      const [count] = await database.query("SELECT count(*) AS total FROM audit_entries");
      assert.equal(count?.["total"], 25);
    }));
});

describe("redaction", () => {
  const texts: readonly (readonly [name: string, text: string, gone: string])[] = [
    ["a password in a sentence", "login with password=hunter2 failed", "hunter2"],
    ["a password in JSON", '{"password": "hunter 2"}', "hunter 2"],
    ["an API key", "api_key: abc123def", "abc123def"],
    ["a bearer token", "Authorization: Bearer abcdefgh.ijk", "abcdefgh.ijk"],
    ["an AWS key", "used AKIAIOSFODNN7EXAMPLE for it", "AKIAIOSFODNN7EXAMPLE"],
    ["a connection string", "postgres://app:s3cr3t@db:5432/app", "s3cr3t"],
    ["a JWT", "got eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl back", "eyJzdWIi"],
    ["long base64", "value Y2Fwc3Rhbi1jYW5hcnktY2Fwc3Rhbi1jYW5hcnk= here", "Y2Fwc3Rhbi1jYW5hcnk"],
    ["a private key", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "MIIE"],
  ];
  for (const [name, text, gone] of texts)
    test(`${name} does not get through`, () => {
      const cleaned = redactText(text);
      assert.ok(!cleaned.includes(gone), cleaned);
      assert.ok(cleaned.includes(redacted));
    });

  test("ordinary sentences stay as they are", () => {
    for (const text of [
      "deployment.apps/webapp scaled from 3 to 5",
      "Secret shop/database-credentials was updated: 2 keys",
      "exec-scale-deployment-a-very-long-name-of-an-execution-1234567890",
    ])
      assert.equal(redactText(text), text);
  });

  test("members with telling names are hidden at any depth, hashes that we wrote are not", () => {
    const value = { a: [{ apiKey: "k", token: true, plain: "x" }], specHash: "f".repeat(64) };
    assert.deepEqual(redact(value), {
      a: [{ apiKey: redacted, token: true, plain: "x" }],
      specHash: "f".repeat(64),
    });
  });

  test("redacting twice changes nothing more, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const once = redactText(text);
        assert.equal(redactText(once), once);
      }),
    );
  });

  test("the same value has one spelling", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
    assert.equal(canonicalJson({ b: 1, a: undefined, c: [undefined] }), '{"b":1,"c":[null]}');
  });
});
