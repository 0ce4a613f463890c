import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { equalJson } from "../apply/json-value.ts";
import { applyMergePatch } from "./merge-patch.ts";

/** The examples of RFC 7386, appendix A. */
const examples: readonly (readonly [string, string, string])[] = [
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', "{}"],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', "null", "null"],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
  ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
];

describe("RFC 7386", () => {
  for (const [document, patch, result] of examples) {
    test(`${document} with ${patch}`, () => {
      assert.equal(JSON.stringify(applyMergePatch(JSON.parse(document), JSON.parse(patch))), result);
    });
  }
});

const json = fc.jsonValue({ maxDepth: 4 });

test("applying a patch twice is applying it once, and changes no input", () => {
  fc.assert(
    fc.property(json, json, (document, patch) => {
      const before = JSON.stringify([document, patch]);
      const once = applyMergePatch(document, patch);
      assert.ok(equalJson(applyMergePatch(once, patch), once));
      assert.equal(JSON.stringify([document, patch]), before);
    }),
  );
});

test("a patch that says what is already so gives back the very document", () => {
  const document = { a: { b: 1, c: [1] }, d: "x" };
  assert.equal(applyMergePatch(document, { a: { b: 1, z: null }, d: "x" }), document);
  assert.equal((applyMergePatch(document, { d: "y" }) as typeof document).a, document.a);
});

test("names that objects inherit are ordinary names", () => {
  const patched = applyMergePatch({ a: 1 }, JSON.parse('{"__proto__":{"x":1},"constructor":null,"toString":2}'));
  assert.equal(JSON.stringify(patched), '{"a":1,"__proto__":{"x":1},"toString":2}');
  assert.equal(({} as Record<string, unknown>)["x"], undefined);
});
