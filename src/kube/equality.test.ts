import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { contains, deepEqual, sameContent } from "./equality.ts";

const cases: readonly (readonly [string, unknown, unknown, boolean])[] = [
  ["the order of keys does not count", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ["an undefined member is a missing one", { a: 1, b: undefined }, { a: 1 }, true],
  ["a missing member is not null", { a: null }, {}, false],
  ["lists have an order", [1, 2], [2, 1], false],
  ["a list is not an object", [], {}, false],
  ["null is not an object", null, {}, false],
  ["an inherited name is no member", { constructor: 1 }, {}, false],
];
for (const [name, left, right, expected] of cases) {
  test(name, () => {
    assert.equal(deepEqual(left, right), expected);
    assert.equal(deepEqual(right, left), expected);
  });
}

test("every value equals its copy, and differs once something is added", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.ok(deepEqual(value, structuredClone(value)));
      assert.ok(!deepEqual([value], [value, value]));
    }),
  );
});

test("what the server stamps on every write does not make two versions differ", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", resourceVersion: "1" },
    data: { x: "1" },
  };
  assert.ok(
    sameContent(object, { ...object, metadata: { name: "a", resourceVersion: "2", managedFields: [], generation: 4 } }),
  );
  assert.ok(!sameContent(object, { ...object, metadata: { name: "a", labels: { x: "y" } } }));
  assert.ok(!sameContent(object, { ...object, data: { x: "2" } } as typeof object));
});

test("an object contains what is wanted when every stated field agrees", () => {
  assert.ok(contains({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: 1 }, d: [1] }));
  assert.ok(!contains({ a: { b: 1 } }, { a: { b: 2 } }));
  assert.ok(!contains({ a: "x" }, { a: { b: 2 } }));
});
