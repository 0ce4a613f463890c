import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { systemEnv } from "../env/system.ts";
import { openSqlite } from "../store/sqlite-database.ts";
import { canonicalJson } from "./chain.ts";
import { describeTrail } from "./contract-cases.ts";
import { redact, redacted, redactText } from "./redact.ts";
import { auditSigner, loadAuditSigner, newAuditKey } from "./signing-key.ts";
import { openAuditTrail } from "./trail.ts";
import { verifyTrail } from "./verify.ts";

const folder = mkdtempSync(join(tmpdir(), "capstan-audit-"));
after(() => rmSync(folder, { recursive: true, force: true }));

describeTrail("SQLite", { open: () => openSqlite(":memory:"), flipEvery: 1 });

describe("the key", () => {
  test("is made once, is only ours to read, and a stranger's is not believed", async () => {
    const file = join(folder, "audit.key");
    assert.equal(loadAuditSigner(file).keyId, loadAuditSigner(file).keyId);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const database = await openSqlite(":memory:");
    await openAuditTrail({ env: systemEnv, database, signer: auditSigner(newAuditKey()) });
    const { problems } = await verifyTrail(database, { verifiers: [loadAuditSigner(file)] });
    assert.ok(problems.some(({ kind }) => kind === "HeadForged"));
    await database.close();
  });
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
