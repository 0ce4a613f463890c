import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemEnv } from "../env/system.ts";
import type { Database, SqlValue } from "../store/database.ts";
import { StoreError } from "../store/store-error.ts";
import { chained, genesisHash } from "./chain.ts";
import type { AuditRecord } from "./entry.ts";
import { exportLine, hasTrail, lastEntries, readEntries } from "./read-trail.ts";
import { retireSegments } from "./retention.ts";
import { auditSigner, auditVerifier, newAuditKey } from "./signing-key.ts";
import { openAuditTrail } from "./trail.ts";
import { type AuditProblemKind, verifyTrail } from "./verify.ts";

export interface TrailUnderTest {
  /** A database without anything in it. */
  open(): Promise<Database>;
  /** Every how many characters one is flipped; a slower engine is asked less often. */
  readonly flipEvery: number;
}

const signer = auditSigner(newAuditKey());

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

const problemsOf = async (database: Database): Promise<readonly string[]> =>
  (await verifyTrail(database, { verifiers: [signer] })).problems.map(({ kind, sequence }) => `${kind} ${sequence}`);

/** What somebody with the database can do: triggers do not stop them. */
async function tamper(database: Database, sql: string, values: readonly SqlValue[] = []): Promise<void> {
  for (const [name, table] of triggers)
    await database.query(`DROP TRIGGER IF EXISTS ${name}${database.kind === "postgres" ? ` ON ${table}` : ""}`);
  await database.query(sql, values);
}

const triggers = [
  ["audit_entries_stay", "audit_entries"],
  ["audit_entries_kept", "audit_entries"],
  ["audit_checkpoints_kept", "audit_checkpoints"],
] as const;

/** What the trail must do on every engine, run by audit.test.ts and by postgres.machine.ts. */
export function describeTrail(engineName: string, engine: TrailUnderTest): void {
  const using = async (work: (database: Database) => Promise<void>, rows = 25): Promise<void> => {
    const database = await engine.open();
    try {
      const trail = await openAuditTrail({ env: systemEnv, database, signer, checkpointEvery: 10 });
      await trail.append(happenings(rows));
      await work(database);
    } finally {
      await database.close();
    }
  };

  describe(`${engineName}: the audit trail`, { timeout: 60_000 }, () => {
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

    test("two processes that write at the same time make one chain, and tell what both tell once", () =>
      using(async (database) => {
        const open = () => openAuditTrail({ env: systemEnv, database, signer, checkpointEvery: 10 });
        const trails = [await open(), await open()];
        let added = 0;
        for (let round = 0; round < 10; round++) {
          const records = happenings(5, 100 + round * 5);
          const counts = await Promise.all(trails.flatMap((trail) => records.map((record) => trail.append([record]))));
          added += counts.reduce((sum, count) => sum + count, 0);
        }
        assert.equal(added, 50);
        const report = await verifyTrail(database, { verifiers: [signer] });
        assert.deepEqual([report.problems, report.last], [[], 75]);
      }));

    for (const when of ["before", "after"] as const)
      test(`F43: an answer that is lost ${when} the commit loses nothing and writes nothing twice`, () =>
        using(async (database) => {
          let lose = false;
          const losing: Database = {
            kind: database.kind,
            migrate: (component, migrations) => database.migrate(component, migrations),
            query: (sql, values) => database.query(sql, values),
            transaction: (work) => database.transaction(work),
            listen: (channel, listener) => database.listen(channel, listener),
            close: () => database.close(),
            async write(steps) {
              if (!lose) return database.write(steps);
              lose = false;
              if (when === "after") await database.write(steps);
              throw new StoreError("CommitUnknown", "the connection was lost");
            },
          };
          const trail = await openAuditTrail({ env: systemEnv, database: losing, signer });
          await trail.append([happening(100)]);
          lose = true;
          await trail.append([happening(101), happening(102)]);
          assert.equal(lose, false, "the fault was not hit");
          await trail.append([happening(103)]);
          assert.deepEqual(
            (await lastEntries(database, {}, 4)).map(({ name }) => name),
            ["scale-100", "scale-101", "scale-102", "scale-103"],
          );
          assert.deepEqual(await problemsOf(database), []);
        }));

    test("a row that cannot be written refuses its batch and nothing else", () =>
      using(async (database) => {
        const trail = await openAuditTrail({ env: systemEnv, database, signer });
        await trail.append([happening(100)]);
        await assert.rejects(trail.append([happening(101), { ...happening(102), actor: "a\0b" }]), /NUL/);
        assert.equal(await trail.append([happening(103)]), 1);
        assert.deepEqual(await problemsOf(database), []);
      }));
  });

  describe(`${engineName}: S18: tampering is noticed, and the report says where`, { timeout: 120_000 }, () => {
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

    for (const table of ["audit_entries", "audit_checkpoints", "audit_head"])
      test(`the table ${table} is dropped`, () =>
        using(async (database) => {
          await tamper(database, `DROP TABLE ${table}`);
          assert.deepEqual(await problemsOf(database), ["TableMissing 1"]);
          assert.equal(await hasTrail(database), true);
        }));

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
        let previousHash = genesisHash;
        const forged = happenings(25).map((record, index) => {
          const entry = chained({ ...record, actor: "mallory" }, index + 1, previousHash);
          previousHash = entry.hash;
          return entry;
        });
        for (const { sequence, actor, previousHash: before, hash } of forged)
          await tamper(database, "UPDATE audit_entries SET actor = ?, previous_hash = ?, hash = ? WHERE sequence = ?", [
            actor,
            before,
            hash,
            sequence,
          ]);
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
              for (let at = 0; at < Math.max(1, value.length); at += engine.flipEvery) {
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

  describe(`${engineName}: retention`, { timeout: 60_000 }, () => {
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
}
