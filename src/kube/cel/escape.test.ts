import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeField, unescapeField } from "./escape.ts";

const cases: readonly (readonly [string, string | undefined])[] = [
  ["plain", "plain"],
  ["my-field", "my__dash__field"],
  ["a.b/c", "a__dot__b__slash__c"],
  ["un__der", "un__underscores__der"],
  ["namespace", "__namespace__"],
  ["1st", undefined],
  ["sp ace", undefined],
  ["", undefined],
];
for (const [name, expected] of cases) {
  test(`the field ${JSON.stringify(name)} is ${expected ?? "beyond"} in an expression`, () => {
    assert.equal(escapeField(name), expected);
    if (expected !== undefined) assert.equal(unescapeField(expected), name);
  });
}

test("every name that can be escaped comes back", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "Z", "0", "_", "-", ".", "/", "é"), maxLength: 12 }), (name) => {
      const escaped = escapeField(name);
      if (escaped !== undefined && !/_{3,}/.test(name)) assert.equal(unescapeField(escaped), name);
    }),
  );
});
