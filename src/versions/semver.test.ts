import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareSemVer, formatSemVer, parseSemVer, type SemVer } from "./semver.ts";

test("versions are read leniently, as authors write them", () => {
  const cases: readonly (readonly [text: string, canonical: string])[] = [
    ["1", "1.0.0"],
    ["v1.2", "1.2.0"],
    ["01.2.3", "1.2.3"],
    ["1.2.3-rc.1+build.7", "1.2.3-rc.1+build.7"],
    ["1.2-beta", "1.2.0-beta"],
    ["18446744073709551615.0.0", "18446744073709551615.0.0"],
  ];
  for (const [text, canonical] of cases) assert.equal(formatSemVer(version(text)), canonical);
});

test("a refusal points at the column", () => {
  const cases: readonly (readonly [text: string, column: number, message: RegExp])[] = [
    ["", 1, /empty/],
    ["abc", 1, /expected a number, found "a"/],
    ["1.2.x", 5, /expected a number, found "x"/],
    ["1.2.3.4", 6, /found "\."/],
    ["1.2.3-01", 7, /begins with a zero/],
    ["1.2.3-", 7, /found the end/],
    ["1.2.3-a..b", 9, /found "\."/],
    ["18446744073709551616", 1, /too large/],
    ["1".repeat(300), 257, /at most 256/],
  ];
  for (const [text, column, message] of cases) {
    const parsed = parseSemVer(text);
    assert.ok(!parsed.ok, text);
    assert.equal(parsed.column, column, text);
    assert.match(parsed.message, message, text);
  }
});

test("precedence follows semver.org's own example", () => {
  const ordered = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
  ];
  const shuffled = [...ordered].reverse();
  assert.deepEqual(shuffled.map(version).sort(compareSemVer).map(formatSemVer), ordered);
});

test("the order is total and agrees with what was parsed", () => {
  const identifier = fc.stringMatching(/^[0-9A-Za-z-]{1,4}$/).filter((text) => !/^0[0-9]+$/.test(text));
  const any = fc
    .record({ numbers: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)), pre: fc.array(identifier, { maxLength: 3 }) })
    .map(({ numbers, pre }) => numbers.join(".") + (pre.length > 0 ? `-${pre.join(".")}` : ""));
  fc.assert(
    fc.property(any, any, any, (a, b, c) => {
      const [x, y, z] = [version(a), version(b), version(c)];
      assert.equal(formatSemVer(x), a);
      assert.equal(Math.sign(compareSemVer(x, y)) + Math.sign(compareSemVer(y, x)), 0);
      if (compareSemVer(x, y) <= 0 && compareSemVer(y, z) <= 0) assert.ok(compareSemVer(x, z) <= 0);
    }),
  );
});

function version(text: string): SemVer {
  const parsed = parseSemVer(text);
  assert.ok(parsed.ok, `${text}: ${parsed.ok ? "" : parsed.message}`);
  return parsed.version;
}
