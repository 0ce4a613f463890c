import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { add, ceiling, divide, floor, multiply, round, subtract } from "./arithmetic.ts";
import { compareStrings, compareValues, equalValues } from "./compare.ts";
import { formatValue } from "./format.ts";
import { fromPlain, parseJson, toJsonText, toPlain } from "./json.ts";
import { integerOf, numberFromText, numberText } from "./number.ts";
import { canonicalText, RegoObject, RegoSet, type Value } from "./value.ts";

const numberTexts = fc.oneof(
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.tuple(fc.integer({ min: -10_000, max: 10_000 }), fc.integer({ min: 0, max: 999 })).map(([a, b]) => `${a}.${b}`),
  fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: -20, max: 20 })).map(([a, b]) => `${a}e${b}`),
);

const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Value>(null, true, false),
    numberTexts.map((text): Value => numberFromText(text)),
    fc.string().map((text): Value => text),
    fc.array(tie("value"), { maxLength: 4 }).map((items): Value => items),
    fc.array(tie("value"), { maxLength: 4 }).map((items): Value => new RegoSet(items)),
    fc
      .array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 })
      .map((entries): Value => RegoObject.fromEntries(entries)),
  ),
})).value;

test("the order of values is total", () => {
  fc.assert(
    fc.property(values, values, values, (a, b, c) => {
      assert.equal(Math.sign(compareValues(a, b)), -Math.sign(compareValues(b, a)) || 0);
      if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) assert.ok(compareValues(a, c) <= 0);
    }),
  );
});

test("equal values, and only those, share their canonical text and their place in sets", () => {
  fc.assert(
    fc.property(values, values, (a, b) => {
      const isEqual = compareValues(a, b) === 0;
      assert.equal(equalValues(a, b), isEqual);
      assert.equal(canonicalText(a) === canonicalText(b), isEqual);
      assert.equal(new RegoSet([a]).has(b), isEqual);
      assert.equal(RegoObject.fromEntries([[a, 1]]).has(b), isEqual);
    }),
  );
});

test("JSON text keeps every value that JSON has", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (plain) => {
      const value = fromPlain(plain);
      const parsed = parseJson(toJsonText(value));
      assert.ok(parsed.ok);
      assert.ok(equalValues(parsed.value, value));
      // Integers beyond 2^53 come back as bigints, which JSON.stringify does not take.
      const asNumber = (_: string, member: unknown): unknown => (typeof member === "bigint" ? Number(member) : member);
      assert.deepEqual(JSON.parse(JSON.stringify(toPlain(value), asNumber)), JSON.parse(JSON.stringify(plain)));
    }),
  );
});

test("integers are exact at any size", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
      fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
      (a, b) => {
        const [left, right] = [numberFromText(a.toString()), numberFromText(b.toString())];
        assert.equal(integerOf(add(left, right)), a + b);
        assert.equal(integerOf(subtract(left, right)), a - b);
        assert.equal(integerOf(multiply(left, right)), a * b);
      },
    ),
  );
});

test("strings are ordered by code points", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
      const expected = Buffer.compare(Buffer.from(a), Buffer.from(b));
      assert.equal(Math.sign(compareStrings(a, b)), Math.sign(expected));
    }),
  );
});

const printed: readonly (readonly [string, string])[] = [
  ["1.0", "1.0"],
  ["1e3", "1e3"],
  ["0.10", "0.10"],
  ["123456789012345678901234567890", "123456789012345678901234567890"],
];
for (const [text, expected] of printed) {
  test(`${text} is printed as it was written`, () => {
    assert.equal(numberText(numberFromText(text)), expected);
  });
}

const computed: readonly (readonly [string, () => number | { readonly text: string }, string])[] = [
  ["0.1 + 0.2", () => add(0.1, 0.2), "0.3"],
  ["1 / 3", () => divide(1, 3), "0.33333333333333333334"],
  ["2 / 3", () => divide(2, 3), "0.6666666666666666667"],
  ["22 / 7", () => divide(22, 7), "3.1428571428571428572"],
  ["7 / 2", () => divide(7, 2), "3.5"],
  ["10 / 4 * 4", () => multiply(divide(10, 4), 4), "10"],
  ["round(-2.5)", () => round(-2.5), "-3"],
  ["ceil(-2.5)", () => ceiling(-2.5), "-2"],
  ["floor(-2.5)", () => floor(-2.5), "-3"],
  ["1234567.5 + 1", () => add(1234567.5, 1), "1.2345685e+06"],
];
for (const [name, compute, expected] of computed) {
  test(`${name} is ${expected}`, () => {
    const result = compute();
    assert.equal(typeof result === "number" ? String(result) : result.text, expected);
  });
}

test("values are shown as Rego text", () => {
  const value = RegoObject.fromEntries([
    ["a", new RegoSet([2, 1])],
    ["b", new RegoSet()],
    ["c", ["x\n", null]],
  ]);
  assert.equal(formatValue(value), '{"a": {1, 2}, "b": set(), "c": ["x\\n", null]}');
});
