import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseJson } from "./json.ts";

test("fields that are given twice are named by their path, and the last one counts", () => {
  const result = parseJson(
    '{"metadata":{"labels":{"a/b.c":"1","a/b.c":"2"},"owners":[{"x":1},{"name":"a","n\\u0061me":"b"}]},"data":{},"data":1}',
  );
  assert.ok(result.ok);
  assert.deepEqual(result.duplicates, ["metadata.labels.a/b.c", "metadata.owners[1].name", "data"]);
  assert.equal((result.value as { data: number }).data, 1);
});

test("an integer that would change is reported, one that is exact is not", () => {
  const result = parseJson(
    '{"a":9007199254740993,"b":[9007199254740992,143302961571533220,143302961571533216,1.5,1e30,123456789012345678901234]}',
  );
  assert.ok(result.ok);
  assert.deepEqual(result.inexactIntegers, ["a", "b[2]"]);
});

// The words are those of Go's decoder.
const broken: readonly (readonly [string, string, number])[] = [
  ["", "unexpected end of JSON input", 1],
  ["{", "unexpected end of JSON input", 2],
  ['{"a":}', "invalid character '}' looking for beginning of value", 6],
  ["{a:1}", "invalid character 'a' looking for beginning of object key string", 2],
  ['{"a" 1}', "invalid character '1' after object key", 6],
  ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair", 8],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 8],
  ["[1 2]", "invalid character '2' after array element", 4],
  ["[1,]", "invalid character ']' looking for beginning of value", 4],
  ["1 2", "invalid character '2' after top-level value", 3],
  ["tru", "unexpected end of JSON input", 4],
  ["trux", "invalid character 'x' in literal true (expecting 'e')", 4],
  ["nul!", "invalid character '!' in literal null (expecting 'l')", 4],
  ['"a\nb"', "invalid character '\\n' in string literal", 3],
  ['"\\x"', "invalid character 'x' in string escape code", 3],
  ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape", 6],
  ["-", "unexpected end of JSON input", 2],
  ["-a", "invalid character 'a' in numeric literal", 2],
  ["1.", "unexpected end of JSON input", 3],
  ["1.x", "invalid character 'x' after decimal point in numeric literal", 3],
  ["1ex", "invalid character 'x' in exponent of numeric literal", 3],
  ["01", "invalid character '1' after top-level value", 2],
  ["'a'", "invalid character '\\'' looking for beginning of value", 1],
];
for (const [text, message, column] of broken) {
  test(`${JSON.stringify(text)} is refused with its place`, () => {
    const result = parseJson(text);
    assert.ok(!result.ok);
    assert.equal(result.problem.reason, "Syntax");
    assert.equal(result.problem.message, message);
    assert.equal(result.problem.column, column);
  });
}

test("lines are counted", () => {
  const result = parseJson('{\n  "a": 1,\n  b\n}');
  assert.ok(!result.ok);
  assert.deepEqual([result.problem.line, result.problem.column], [3, 3]);
});

test("depth, size and numbers have limits", () => {
  const reason = (result: ReturnType<typeof parseJson>): string => (result.ok ? "none" : result.problem.reason);
  assert.equal(reason(parseJson("[".repeat(100_000))), "TooDeep");
  assert.equal(reason(parseJson(`${"[".repeat(5)}${"]".repeat(5)}`, { maxDepth: 5 })), "none");
  assert.equal(reason(parseJson(`${"[".repeat(6)}${"]".repeat(6)}`, { maxDepth: 5 })), "TooDeep");
  assert.equal(reason(parseJson(new TextEncoder().encode('"éé"'), { maxBytes: 5 })), "TooLarge");
  assert.equal(reason(parseJson("1e400")), "NumberOutOfRange");
});

test("bytes that are no UTF-8 become the replacement character, as in Go", () => {
  const result = parseJson(new Uint8Array([0x22, 0xff, 0x22]));
  assert.ok(result.ok);
  assert.equal(result.value, "\ufffd");
});

test("every JSON value is read as JSON.parse reads it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const result = parseJson(text);
      assert.ok(result.ok);
      assert.deepEqual(result.value, JSON.parse(text));
    }),
  );
});

test("the scanner and JSON.parse agree on what is JSON", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    ".",
    "e",
    "true",
    "nul",
    " ",
    "\\",
    "\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("");
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      assert.equal(parseJson(text).ok, isJson, text);
    }),
    { numRuns: 3000 },
  );
});
