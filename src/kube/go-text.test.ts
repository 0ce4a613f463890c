import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareUtf8, goFloat, goJson, goNumber, goQuote, utf8Length } from "./go-text.ts";

// Asked of Go 1.26.
const floats: readonly (readonly [number, string, string])[] = [
  [1e6, "1e+06", "1000000"],
  [123456789.5, "1.234567895e+08", "123456789.5"],
  [1e20, "1e+20", "100000000000000000000"],
  [1e21, "1e+21", "1e+21"],
  [0.0001, "0.0001", "0.0001"],
  [0.00001, "1e-05", "0.00001"],
  [1e-7, "1e-07", "1e-7"],
  [2.5, "2.5", "2.5"],
];
for (const [value, printed, json] of floats) {
  test(`${value} is ${printed} as a value and ${json} in JSON`, () => {
    assert.equal(goFloat(value), printed);
    assert.equal(goJson(value), json);
  });
}

test("whole numbers are written in full", () => {
  assert.equal(goNumber(10_000_001), "10000001");
  assert.equal(goNumber(-5), "-5");
});

test("texts are quoted as Go quotes them", () => {
  assert.equal(goQuote("plain"), '"plain"');
  assert.equal(goQuote('a"b\\c\n\u0007\u007f'), '"a\\"b\\\\c\\n\\a\\x7f"');
  assert.equal(goQuote("é\u00a0\u200b😀\u{e0001}\u2028\ud800"), '"é\\u00a0\\u200b😀\\U000e0001\\u2028\ufffd"');
});

test("JSON has sorted keys and no HTML, except that a Map keeps its order", () => {
  assert.equal(goJson({ b: [1, null], a: "<&>" }), '{"a":"\\u003c\\u0026\\u003e","b":[1,null]}');
  assert.equal(
    goJson(
      new Map([
        ["b", 1],
        ["a", 2],
      ]),
    ),
    '{"b":1,"a":2}',
  );
});

test("texts are ordered by their bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (left, right) => {
      assert.equal(Math.sign(compareUtf8(left, right)), Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
  );
  assert.equal(utf8Length("é😀"), 6);
});
