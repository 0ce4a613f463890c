import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { casesFile, failuresOf } from "../../test/conformance/semver.ts";
import { parseSemVer } from "./semver.ts";
import { maxAlternatives, maxConstraintLength, parseConstraint, satisfies } from "./semver-constraint.ts";

const table = casesFile("semver-constraints.json");

test("every row of the constraint table holds", { skip: existsSync(table) ? false : `${table} is absent` }, () => {
  const rows = JSON.parse(readFileSync(table, "utf8"));
  assert.ok(rows.length > 300);
  assert.deepEqual(failuresOf(rows), []);
});

test("the dialect's own readings hold", () => {
  const cases: readonly (readonly [constraint: string, version: string, satisfied: boolean])[] = [
    ["^1.0.0", "1.9.0", true],
    [">1.2", "1.2.9", false],
    [">1.2", "1.3.0", true],
    ["~>1.2.3", "1.2.9", true],
    ["=>1.0 =<2.0", "2.0.9", true],
    ["^0.0.3", "0.0.4", false],
    ["~0.0.0", "9.9.9", true],
    ["1.1 - 2", "2.9.9", true],
    [">=1.0.0 <2.0.0-0", "1.5.0-beta", true],
    [">=1.0.0", "1.5.0-beta", false],
    ["", "0.0.1", true],
    ["1.2.3+meta", "1.2.3", true],
    ["\f>=\f1.0.0", "1.5.0", true],
    [">=1, 1.2 - 1.4", "1.4.9", true],
    ["1 - 3 2 - 4", "2.5.0", true],
    ["1 - 3<2", "1.9.0", true],
    ["1.x.99999999999999999999", "1.2.3", true],
  ];
  for (const [constraint, version, satisfied] of cases)
    assert.equal(check(constraint, version), satisfied, `${constraint} ${version}`);
});

test("a constraint that cannot be read points at the column", () => {
  const cases: readonly (readonly [constraint: string, column: number, message: RegExp])[] = [
    ["abc", 1, /expected a version such as "1.2.3", found "a"/],
    [">=", 3, /found the end/],
    ["^1.2 || ", 9, /beside "\|\|"/],
    ["||1", 1, /beside "\|\|"/],
    ["1.2.3,", 7, /after the comma/],
    ["1.2.3.4", 6, /found "\."/],
    ["^^1", 2, /found "\^"/],
    ["1.2 - ", 7, /found the end/],
    ["xx", 2, /found "x"/],
    ["1x", 2, /found "x"/],
    [">=1 2 - 3", 5, /a comma before a range/],
    [`${"1||".repeat(maxAlternatives)}1`, 3 * maxAlternatives + 1, /at most 32 alternatives/],
    ["1".repeat(maxConstraintLength + 1), maxConstraintLength + 1, /at most/],
  ];
  for (const [constraint, column, message] of cases) {
    const parsed = parseConstraint(constraint);
    assert.ok(!parsed.ok, constraint);
    assert.equal(parsed.column, column, constraint);
    assert.match(parsed.message, message, constraint);
  }
});

test("no text makes the parser throw, and its column lies in or just behind the text", () => {
  const hostile = fc.string({ unit: fc.constantFrom(..."0123456789.xX*v-+<>=!~^|, abz"), maxLength: 60 });
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string()), (text) => {
      const parsed = parseConstraint(text);
      if (!parsed.ok) assert.ok(parsed.column >= 1 && parsed.column <= text.length + 1);
    }),
    { numRuns: 2_000 },
  );
});

function check(constraint: string, version: string): boolean {
  const parsedConstraint = parseConstraint(constraint);
  const parsedVersion = parseSemVer(version);
  assert.ok(parsedConstraint.ok && parsedVersion.ok);
  return satisfies(parsedVersion.version, parsedConstraint.constraint);
}
