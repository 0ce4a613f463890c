// The same constraints to this dialect and to Masterminds/semver itself: same answers, or both refuse. Needs Go.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { askMasterminds, type SemVerRow } from "../../test/conformance/semver-masterminds.ts";
import { parseSemVer } from "./semver.ts";
import { parseConstraint, satisfies } from "./semver-constraint.ts";

const seed = Number(process.env["CAPSTAN_SEED"] ?? "1");
const rowCount = 50_000;

const number = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("0", "1", "2", "3") },
  { weight: 1, arbitrary: fc.constantFrom("01", "10", "18446744073709551615", "18446744073709551616") },
);
const wildcard = fc.constantFrom("x", "X", "*");
const identifier = fc.constantFrom(
  "alpha",
  "beta",
  "rc",
  "0",
  "1",
  "9",
  "01",
  "0a",
  "-",
  "a-b",
  "18446744073709551616",
);
const identifiers = fc.array(identifier, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("."));
const suffix = fc
  .tuple(fc.option(identifiers, { freq: 3 }), fc.option(identifiers, { freq: 8 }))
  .map(([pre, build]) => `${pre === null ? "" : `-${pre}`}${build === null ? "" : `+${build}`}`);
const written = (part: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom("", "", "", "v"), fc.array(part, { minLength: 1, maxLength: 3 }), suffix)
    .map(([prefix, parts, rest]) => `${prefix}${parts.join(".")}${rest}`);
const version = written(number);
const bound = written(fc.oneof({ weight: 5, arbitrary: number }, { weight: 1, arbitrary: wildcard }));
const space = fc.constantFrom("", "", " ", "  ", "\t", "\n", "\f");
const operator = fc.constantFrom("", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^");
const comparison = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(operator, space, bound).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.tuple(bound, fc.constantFrom(" - ", "  -  ", "- ", "-"), bound).map((p) => p.join("")) },
);
const listOf = (item: fc.Arbitrary<string>, separator: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.array(item, { minLength: 1, maxLength: 3 }), separator).map(([items, between]) => items.join(between));
const group = listOf(comparison, fc.constantFrom(" ", ", ", ",", " , "));
const garbage = fc.string({ unit: fc.constantFrom(..."0123456789.xX*v-+<>=!~^|, ab"), maxLength: 14 });
const constraint = fc.oneof(
  { weight: 8, arbitrary: listOf(group, fc.constantFrom(" || ", "||")) },
  { weight: 1, arbitrary: garbage },
);
const anyRow: fc.Arbitrary<SemVerRow> = fc.record({
  constraint,
  version: fc.oneof({ weight: 12, arbitrary: version }, { weight: 1, arbitrary: garbage }),
  includePrerelease: fc.boolean(),
});

/**
 * Where we read more than the library: nothing at all means any release, as the resolver of existing installations has it,
 * and a range may stand directly beside `||`.
 */
const isOurs = (text: string): boolean => text.trim() === "" || (/\S\|\||\|\|\S/.test(text) && /\s-\s/.test(text));

const rows = fc.sample(anyRow, { seed, numRuns: rowCount }).filter((row) => !isOurs(row.constraint));
const theirs = askMasterminds(rows);

test("random constraints are read as Masterminds/semver reads them", {
  skip: typeof theirs === "string" ? theirs : false,
}, () => {
  const differences = rows.flatMap((row, index) => {
    const answer = ask(row);
    return answer === theirs[index] ? [] : [`${JSON.stringify(row)}: ${theirs[index]} there, ${answer} here`];
  });
  assert.deepEqual(differences.slice(0, 20), [], `seed ${seed}: ${differences.length} of ${rows.length} differ`);
  for (const answer of ["true", "false", "constraint refused", "version refused"])
    assert.ok(theirs.includes(answer), `no row was answered with ${answer}`);
});

function ask(row: SemVerRow): string {
  const wanted = parseConstraint(row.constraint);
  const found = parseSemVer(row.version);
  if (!wanted.ok) return "constraint refused";
  if (!found.ok) return "version refused";
  return String(satisfies(found.version, wanted.constraint, row.includePrerelease));
}
