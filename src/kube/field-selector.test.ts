import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { exactFieldValue, formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";

// Asked of apimachinery 0.36.3.
const cases: readonly (readonly [string, "OK" | "ERR", string])[] = [
  ["", "OK", ""],
  ["a=b", "OK", "a=b"],
  ["a==b", "OK", "a=b"],
  ["a!=b", "OK", "a!=b"],
  ["b=1,a=2", "OK", "a=2,b=1"],
  ["a", "ERR", "invalid selector: 'a'; can't understand 'a'"],
  ["a=b,", "OK", "a=b"],
  ["a=b\\,c", "OK", "a=b\\,c"],
  ["a=\\=", "OK", "a=\\="],
  ["a=b=c", "ERR", "invalid field selector: unescaped character in value: 61"],
  ["a=\\x", "ERR", "invalid field selector: invalid escape sequence: \\x"],
  ["a=\\", "ERR", "invalid field selector: invalid escape sequence: \\"],
  ["a!b=c", "OK", "a!b=c"],
  ["a=,b!=", "OK", "a=,b!="],
  ["metadata.name=x,,", "OK", "metadata.name=x"],
  ["=x", "OK", "=x"],
];

for (const [text, outcome, expected] of cases) {
  test(`the field selector ${JSON.stringify(text)} is read as the real server reads it`, () => {
    const result = parseFieldSelector(text);
    assert.equal(result.ok ? "OK" : "ERR", outcome);
    assert.equal(result.ok ? formatFieldSelector(result.value) : result.message, expected);
  });
}

test("a missing field counts as the empty text", () => {
  const selector = parseFieldSelector("spec.nodeName=,status.phase!=Failed");
  assert.ok(selector.ok);
  const fields = (known: Record<string, string>) => (field: string) => known[field];
  assert.equal(matchesFields(selector.value, fields({ "status.phase": "Running" })), true);
  assert.equal(matchesFields(selector.value, fields({ "spec.nodeName": "n", "status.phase": "Running" })), false);
  assert.equal(matchesFields(selector.value, fields({ "status.phase": "Failed" })), false);
});

test("the one value that a selector asks for can be told", () => {
  const selector = parseFieldSelector("metadata.name=web,status.phase!=Failed");
  assert.ok(selector.ok);
  assert.equal(exactFieldValue(selector.value, "metadata.name"), "web");
  assert.equal(exactFieldValue(selector.value, "status.phase"), undefined);
});

test("any value survives being printed and read", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom("=" as const, "!=" as const), (value, operator) => {
      const selector = [{ field: "metadata.name", operator, value }];
      assert.deepEqual(parseFieldSelector(formatFieldSelector(selector)), { ok: true, value: selector });
    }),
  );
});
