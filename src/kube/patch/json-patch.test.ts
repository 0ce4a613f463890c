import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { applyJsonPatch, type JsonPatchOptions } from "./json-patch.ts";

const document = { l: [1, 2, 3], n: null, o: { x: 1 }, "a/b": 1, "c~d": 2 };

interface Case {
  readonly name: string;
  readonly patch: unknown;
  /** The new document, or undefined when the patch does not apply. */
  readonly rfc: unknown;
  /** What a real server makes of it, where that is something else. */
  readonly kubernetes?: unknown;
}

const refused = undefined;
const cases: readonly Case[] = [
  { name: "add to a map", patch: [{ op: "add", path: "/p", value: 1 }], rfc: { ...document, p: 1 } },
  { name: "add replaces a name", patch: [{ op: "add", path: "/o", value: 1 }], rfc: { ...document, o: 1 } },
  { name: "add at an index", patch: [{ op: "add", path: "/l/1", value: 9 }], rfc: { ...document, l: [1, 9, 2, 3] } },
  { name: "add at the end", patch: [{ op: "add", path: "/l/-", value: 9 }], rfc: { ...document, l: [1, 2, 3, 9] } },
  {
    name: "add behind the last",
    patch: [{ op: "add", path: "/l/3", value: 9 }],
    rfc: { ...document, l: [1, 2, 3, 9] },
  },
  { name: "add beyond the end", patch: [{ op: "add", path: "/l/4", value: 9 }], rfc: refused },
  { name: "add below nothing", patch: [{ op: "add", path: "/q/w", value: 1 }], rfc: refused },
  { name: "add below a scalar", patch: [{ op: "add", path: "/o/x/y", value: 1 }], rfc: refused },
  {
    name: "add without a value",
    patch: [{ op: "add", path: "/p" }],
    rfc: refused,
    kubernetes: { ...document, p: null },
  },
  { name: "replace the document", patch: [{ op: "replace", path: "", value: { r: 1 } }], rfc: { r: 1 } },
  {
    name: "remove",
    patch: [
      { op: "remove", path: "/n" },
      { op: "remove", path: "/l/0" },
    ],
    rfc: omit({ ...document, l: [2, 3] }, "n"),
  },
  { name: "remove nothing", patch: [{ op: "remove", path: "/zz" }], rfc: refused },
  { name: "remove everything", patch: [{ op: "remove", path: "" }], rfc: refused },
  {
    name: "remove from the end",
    patch: [{ op: "remove", path: "/l/-1" }],
    rfc: refused,
    kubernetes: { ...document, l: [1, 2] },
  },
  {
    name: "add counted from the end",
    patch: [{ op: "add", path: "/l/-1", value: 9 }],
    rfc: refused,
    kubernetes: { ...document, l: [1, 2, 3, 9] },
  },
  {
    name: "replace counted from the end",
    patch: [{ op: "replace", path: "/l/-1", value: 9 }],
    rfc: refused,
    kubernetes: { ...document, l: [1, 2, 9] },
  },
  {
    name: "a leading zero",
    patch: [{ op: "replace", path: "/l/01", value: 9 }],
    rfc: refused,
    kubernetes: { ...document, l: [1, 9, 3] },
  },
  { name: "replace null", patch: [{ op: "replace", path: "/n", value: 1 }], rfc: { ...document, n: 1 } },
  {
    name: "replace nothing",
    patch: [{ op: "replace", path: "/q", value: 1 }],
    rfc: refused,
    kubernetes: { ...document, q: 1 },
  },
  {
    name: "escaped names",
    patch: [
      { op: "replace", path: "/a~1b", value: 9 },
      { op: "remove", path: "/c~0d" },
    ],
    rfc: omit({ ...document, "a/b": 9 }, "c~d"),
  },
  { name: "test an equal value", patch: [{ op: "test", path: "/o", value: { x: 1 } }], rfc: document },
  { name: "test another value", patch: [{ op: "test", path: "/o", value: { x: 2 } }], rfc: refused },
  { name: "test null", patch: [{ op: "test", path: "/n", value: null }], rfc: document },
  {
    name: "test nothing against null",
    patch: [{ op: "test", path: "/zz", value: null }],
    rfc: refused,
    kubernetes: document,
  },
  { name: "move", patch: [{ op: "move", from: "/o", path: "/p" }], rfc: omit({ ...document, p: { x: 1 } }, "o") },
  { name: "move to its own place", patch: [{ op: "move", from: "/o", path: "/o" }], rfc: document },
  { name: "move into itself", patch: [{ op: "move", from: "/o", path: "/o/x" }], rfc: refused },
  { name: "copy", patch: [{ op: "copy", from: "/o", path: "/p" }], rfc: { ...document, p: { x: 1 } } },
  {
    name: "copy nothing",
    patch: [{ op: "copy", from: "/zz", path: "/p" }],
    rfc: refused,
    kubernetes: { ...document, p: null },
  },
  {
    name: "a copy and its origin change apart",
    patch: [
      { op: "add", path: "/o/y", value: [1] },
      { op: "copy", from: "/o", path: "/p" },
      { op: "add", path: "/o/y/-", value: 2 },
    ],
    rfc: { ...document, o: { x: 1, y: [1, 2] }, p: { x: 1, y: [1] } },
  },
  {
    name: "members that nobody knows",
    patch: [{ op: "add", path: "/p", value: 1, foo: 2 }],
    rfc: { ...document, p: 1 },
  },
  { name: "no op", patch: [{ path: "/p", value: 1 }], rfc: refused },
  { name: "an unknown op", patch: [{ op: "spam", path: "/p" }], rfc: refused },
  { name: "no path", patch: [{ op: "add", value: 1 }], rfc: refused },
  { name: "no from", patch: [{ op: "move", path: "/p" }], rfc: refused },
  { name: "a path without a slash", patch: [{ op: "add", path: "p", value: 1 }], rfc: refused },
  { name: "an operation that is null", patch: [null], rfc: refused },
];

function omit(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

const dialects = ["Rfc6902", "Kubernetes"] as const;

for (const dialect of dialects) {
  describe(dialect, () => {
    for (const { name, patch, rfc, kubernetes } of cases) {
      test(name, () => {
        const frozen = JSON.stringify(document);
        const result = applyJsonPatch(document, patch, { dialect });
        const expected = dialect === "Kubernetes" && kubernetes !== undefined ? kubernetes : rfc;
        if (expected === undefined) assert.ok(!result.ok && result.reason === "Inapplicable", JSON.stringify(result));
        else assert.deepEqual(result, { ok: true, value: expected });
        assert.equal(JSON.stringify(document), frozen);
      });
    }
  });
}

const reasons: readonly (readonly [string, unknown, JsonPatchOptions, string, RegExp])[] = [
  ["a patch that is no list", { op: "add" }, {}, "Malformed", /list of operations/],
  [
    "too many operations",
    Array.from({ length: 3 }, () => ({})),
    { maxOperations: 2 },
    "TooLarge",
    /maximum operations in a JSON patch is 2, got 3/,
  ],
  [
    "copies that grow without end",
    Array.from({ length: 40 }, (_, index) => ({ op: "copy", from: "", path: `/o/${index}` })),
    {},
    "TooLarge",
    /copies more than/,
  ],
  [
    "an operation is named by its place",
    [
      { op: "test", path: "/l", value: [1, 2, 3] },
      { op: "remove", path: "/q~1r" },
    ],
    {},
    "Inapplicable",
    /^operation 1 finds nothing at "\/q~1r"$/,
  ],
];

for (const [name, patch, options, reason, message] of reasons) {
  test(name, () => {
    const result = applyJsonPatch(document, patch, options);
    assert.ok(!result.ok);
    assert.equal(result.reason, reason);
    assert.match(result.message, message);
  });
}

test("what is added and then removed leaves the document as it was", () => {
  const value = fc.jsonValue({ maxDepth: 2 }).filter((candidate) => candidate !== undefined);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), fc.string(), value, (object, name, added) => {
      fc.pre(!Object.hasOwn(object, name));
      const path = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const patch = [
        { op: "add", path, value: added },
        { op: "test", path, value: added },
        { op: "remove", path },
      ];
      const result = applyJsonPatch(object, patch);
      assert.ok(result.ok);
      assert.equal(JSON.stringify(result.value), JSON.stringify(object));
    }),
  );
});

test("any patch is answered, never thrown at", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (object, patch) => {
      for (const dialect of dialects) assert.equal(typeof applyJsonPatch(object, patch, { dialect }).ok, "boolean");
    }),
  );
});
