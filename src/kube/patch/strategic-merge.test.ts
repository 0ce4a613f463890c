import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { equalJson } from "../apply/json-value.ts";
import type { Definitions, Schema } from "../schema/schema.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const text: Schema = { type: "string" };
const byName = { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" } as const;
const definitions: Definitions = {
  Item: {
    type: "object",
    properties: {
      name: text,
      value: text,
      args: { type: "array", items: text },
      env: { type: "array", items: { $ref: "#/definitions/Item" }, ...byName },
      caps: { type: "array", items: text, "x-kubernetes-patch-strategy": "merge" },
    },
  },
  Root: {
    type: "object",
    properties: {
      items: { type: "array", items: { $ref: "#/definitions/Item" }, ...byName },
      finalizers: { type: "array", items: text, "x-kubernetes-patch-strategy": "merge" },
      args: { type: "array", items: text },
      strategy: { $ref: "#/definitions/Item", "x-kubernetes-patch-strategy": "retainKeys" },
      whole: { $ref: "#/definitions/Item", "x-kubernetes-patch-strategy": "replace" },
      volumes: {
        type: "array",
        items: { $ref: "#/definitions/Item" },
        ...byName,
        "x-kubernetes-patch-strategy": "merge,retainKeys",
      },
      labels: { type: "object", additionalProperties: text },
      noKey: { type: "array", items: { type: "object" }, "x-kubernetes-patch-strategy": "merge" },
    },
  },
};
const root = { schema: { $ref: "#/definitions/Root" }, definitions };
const named = (...names: readonly string[]) => names.map((name) => ({ name }));

interface Case {
  readonly name: string;
  readonly before: unknown;
  readonly patch: unknown;
  readonly after: unknown;
}

/** All but the last were also given to Kubernetes' own implementation, which answered the same. */
const cases: readonly Case[] = [
  {
    name: "lists are merged by their key, in the order of the patch",
    before: {
      items: [
        { name: "a", value: "1" },
        { name: "b", value: "2" },
      ],
    },
    patch: {
      items: [
        { name: "c", value: "3" },
        { name: "a", value: "9" },
      ],
    },
    after: {
      items: [
        { name: "c", value: "3" },
        { name: "a", value: "9" },
        { name: "b", value: "2" },
      ],
    },
  },
  {
    name: "lists inside of items are merged, too",
    before: { items: [{ name: "a", env: [{ name: "X", value: "1" }], args: ["1"], caps: ["p"] }] },
    patch: { items: [{ name: "a", env: [{ name: "Y", value: "2" }], args: ["2"], caps: ["q"] }] },
    after: {
      items: [
        {
          name: "a",
          env: [
            { name: "Y", value: "2" },
            { name: "X", value: "1" },
          ],
          args: ["2"],
          caps: ["q", "p"],
        },
      ],
    },
  },
  {
    name: "an item is deleted by its key",
    before: { items: [{ name: "a" }, { name: "b" }, { name: "a", value: "again" }] },
    patch: {
      items: [
        { $patch: "delete", name: "a" },
        { $patch: "delete", name: "none" },
      ],
    },
    after: { items: [{ name: "b" }] },
  },
  {
    name: "a list is replaced as a whole",
    before: { items: [{ name: "a" }] },
    patch: { items: [{ name: "b" }, { $patch: "replace" }, { name: "c" }] },
    after: { items: [{ name: "b" }, { name: "c" }] },
  },
  {
    name: "a map is replaced",
    before: { labels: { a: "1" } },
    patch: { labels: { $patch: "replace", b: "2" } },
    after: { labels: { b: "2" } },
  },
  {
    name: "a map is emptied",
    before: { labels: { a: "1" } },
    patch: { labels: { $patch: "delete" } },
    after: { labels: {} },
  },
  {
    name: "null deletes",
    before: { labels: { a: "1", b: "2" }, args: ["x"] },
    patch: { labels: { a: null, z: null }, args: null },
    after: { labels: { b: "2" } },
  },
  {
    name: "lists without a strategy are replaced",
    before: { args: ["a", "b"] },
    patch: { args: ["c"] },
    after: { args: ["c"] },
  },
  {
    name: "scalars are merged without duplicates",
    before: { finalizers: ["a", "b"] },
    patch: { finalizers: ["c", "a"] },
    after: { finalizers: ["c", "a", "b"] },
  },
  {
    name: "scalars are deleted by value",
    before: { finalizers: ["a", "b", "c"] },
    patch: { "$deleteFromPrimitiveList/finalizers": ["b", "z"] },
    after: { finalizers: ["a", "c"] },
  },
  {
    name: "deleting from a list that is not there does nothing",
    before: {},
    patch: { "$deleteFromPrimitiveList/finalizers": ["b"] },
    after: {},
  },
  {
    name: "the order of elements is set",
    before: { items: named("a", "b", "c") },
    patch: { "$setElementOrder/items": named("c", "a") },
    after: { items: named("b", "c", "a") },
  },
  {
    name: "an item that only the server has stays behind its neighbour",
    before: { items: named("a", "server", "b") },
    patch: { "$setElementOrder/items": named("a", "new", "b"), items: [{ name: "new" }] },
    after: { items: named("a", "new", "server", "b") },
  },
  {
    name: "a new item takes the place of a deleted one",
    before: { items: named("server", "old") },
    patch: { "$setElementOrder/items": named("new"), items: [{ name: "new" }, { $patch: "delete", name: "old" }] },
    after: { items: named("server", "new") },
  },
  {
    name: "the order of scalars is set",
    before: { finalizers: ["a", "b"] },
    patch: { "$setElementOrder/finalizers": ["c", "b", "a"], finalizers: ["c"] },
    after: { finalizers: ["c", "b", "a"] },
  },
  {
    name: "keys that are not retained go",
    before: { strategy: { name: "rolling", value: "25%", args: ["x"] } },
    patch: { strategy: { $retainKeys: ["name"], name: "recreate" } },
    after: { strategy: { name: "recreate" } },
  },
  {
    name: "keys of a list item are retained in the same way",
    before: { volumes: [{ name: "v", value: "1", args: ["x"] }] },
    patch: { volumes: [{ name: "v", $retainKeys: ["name", "args"], args: ["y"] }] },
    after: { volumes: [{ name: "v", args: ["y"] }] },
  },
  {
    name: "a field with the strategy replace is not merged",
    before: { whole: { name: "a", value: "1" } },
    patch: { whole: { name: "b" } },
    after: { whole: { name: "b" } },
  },
  {
    name: "what is new comes without directives and nulls",
    before: {},
    patch: {
      items: [
        { name: "a", value: null },
        { $patch: "delete", name: "b" },
      ],
      strategy: { name: "x", env: [{ $patch: "replace" }], args: null },
    },
    after: { items: [{ name: "a" }], strategy: { name: "x", env: [] } },
  },
  { name: "another type replaces", before: { labels: { a: "1" } }, patch: { labels: "x" }, after: { labels: "x" } },
  {
    name: "a field that the schema does not know is merged as plain JSON",
    before: { other: { a: [1], b: 1 } },
    patch: { other: { a: [2] } },
    after: { other: { a: [2], b: 1 } },
  },
];

const freeze = <T>(value: T): T => {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
};

for (const { name, before, patch, after } of cases) {
  test(name, () => {
    assert.deepEqual(applyStrategicMergePatch(freeze(before), freeze(patch), root), { ok: true, value: after });
  });
}

const refusals: readonly (readonly [string, unknown, unknown, string, RegExp])[] = [
  ["a patch that is no object", {}, [], "Malformed", /invalid JSON document/],
  ["an unknown directive", { labels: {} }, { labels: { $patch: "spam" } }, "Unsupported", /unknown patch type: spam/],
  [
    "merge is no directive for maps",
    { labels: {} },
    { labels: { $patch: "merge" } },
    "Unsupported",
    /unknown patch type: merge/,
  ],
  [
    "merge is no directive for lists",
    { items: [{ name: "a" }] },
    { items: [{ $patch: "merge" }] },
    "Unsupported",
    /merging lists cannot yet be specified/,
  ],
  [
    "an item without its key",
    { items: [{ name: "a" }] },
    { items: [{ value: "1" }] },
    "Unsupported",
    /does not contain declared merge key: name/,
  ],
  [
    "retained keys that are no list",
    { strategy: {} },
    { strategy: { $retainKeys: "name" } },
    "Malformed",
    /format of retainKeys/,
  ],
  [
    "a change that is not retained",
    { strategy: {} },
    { strategy: { $retainKeys: ["name"], value: "1" } },
    "Malformed",
    /format of retainKeys/,
  ],
  [
    "an order that is no list",
    { items: [] },
    { "$setElementOrder/items": "x" },
    "Malformed",
    /format of setElementOrder list/,
  ],
  [
    "items in another order than the one that is set",
    { items: named("a") },
    { "$setElementOrder/items": named("b", "c"), items: named("c", "b") },
    "Unsupported",
    /doesn't match/,
  ],
  ["a list without a key", { noKey: [{ a: 1 }] }, { noKey: [{ b: 1 }] }, "Unsupported", /without merge key/],
  ["lists of lists", { finalizers: [["a"]] }, { finalizers: [["b"]] }, "Inapplicable", /lists of lists/],
  ["mixed items", { items: [{ name: "a" }] }, { items: ["x"] }, "Unsupported", /not identical/],
];

for (const [name, before, patch, reason, message] of refusals) {
  test(`refused: ${name}`, () => {
    const result = applyStrategicMergePatch(before, patch, root);
    assert.ok(!result.ok, JSON.stringify(result));
    assert.equal(result.reason, reason);
    assert.match(result.message, message);
  });
}

test("without lists it is a merge patch", () => {
  const maps = fc.letrec((tie) => ({
    map: fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.oneof({ maxDepth: 3 }, fc.constant(null), fc.integer(), tie("map")),
    ),
  })).map;
  fc.assert(
    fc.property(maps, maps, (document, patch) => {
      const result = applyStrategicMergePatch(document, patch, { schema: {} });
      assert.ok(result.ok && equalJson(result.value, applyMergePatch(document, patch)));
    }),
  );
});

test("any patch is answered, never thrown at", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (document, patch) => {
      for (const name of [
        "items",
        "finalizers",
        "strategy",
        "$setElementOrder/items",
        "$deleteFromPrimitiveList/finalizers",
      ]) {
        const result = applyStrategicMergePatch({ items: document, strategy: document }, { [name]: patch }, root);
        assert.equal(typeof result.ok, "boolean");
      }
    }),
  );
});
