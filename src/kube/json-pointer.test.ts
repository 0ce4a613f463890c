import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatPointer, parsePointer, valueAt } from "./json-pointer.ts";

test("pointers are read and written with their escapes", () => {
  assert.deepEqual(parsePointer("/a~1b/0/~0c"), { ok: true, value: ["a/b", "0", "~c"] });
  assert.equal(formatPointer(["a/b", 0, "~c"]), "/a~1b/0/~0c");
  assert.deepEqual(parsePointer(""), { ok: true, value: [] });
});

test("what is no pointer is refused", () => {
  assert.equal(parsePointer("a").ok, false);
  assert.equal(parsePointer("/a~2").ok, false);
});

test("values are found by keys and indexes, and nothing else", () => {
  const document = { a: [{ b: 1 }], "": 2 };
  assert.equal(valueAt(document, ["a", "0", "b"]), 1);
  assert.equal(valueAt(document, [""]), 2);
  for (const tokens of [["a", "-"], ["a", "01"], ["a", "length"], ["toString"], ["a", "0", "b", "c"]]) {
    assert.equal(valueAt(document, tokens), undefined);
  }
});

test("every pointer survives being written and read", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), (tokens) => {
      assert.deepEqual(parsePointer(formatPointer(tokens)), { ok: true, value: tokens });
    }),
  );
});
