import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findAll, findFirst, parseJsonPath, printValue } from "./json-path.ts";

const document = {
  metadata: { name: "web", annotations: { "capstan.dev/x": "y" } },
  spec: {
    replicas: 3,
    ports: [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
      { name: "c", port: 3 },
    ],
  },
  status: {
    phase: null,
    conditions: [
      { type: "Ready", status: "True", count: 1 },
      { type: "Progressing", status: "False", count: 2 },
    ],
  },
};

const cases: readonly (readonly [string, readonly unknown[]])[] = [
  [".metadata.name", ["web"]],
  ["{.metadata.name}", ["web"]],
  ["$.metadata.name", ["web"]],
  [".spec.missing.more", []],
  [".spec.ports[0].name", ["a"]],
  [".spec.ports[-1].name", ["c"]],
  [".spec.ports[0:2].port", [1, 2]],
  [".spec.ports[::2].port", [1, 3]],
  [".spec.ports[*].port", [1, 2, 3]],
  [".spec.ports[0,2].port", [1, 3]],
  [".spec.ports.*", [document.spec.ports[0], document.spec.ports[1], document.spec.ports[2]]],
  [".metadata.annotations['capstan.dev/x']", ["y"]],
  [".metadata.annotations.capstan\\.dev/x", ["y"]],
  ['.status.conditions[?(@.type=="Ready")].status', ["True"]],
  [".status.conditions[?(@.type == 'Ready')].status", ["True"]],
  ['.status.conditions[?(@.type!="Ready")].status', ["False"]],
  [".status.conditions[?(@.count>1)].type", ["Progressing"]],
  [".status.conditions[?(@.count<=1)].type", ["Ready"]],
  [".status.conditions[?(@.missing)].type", []],
  [".status.conditions[?(@.count)].type", ["Ready", "Progressing"]],
  ['.status.conditions[?(@.type==")")].status', []],
  ["..type", ["Ready", "Progressing"]],
  [".status.phase", [null]],
];
for (const [text, expected] of cases) {
  test(`the path ${text} finds ${JSON.stringify(expected)}`, () => {
    const path = parseJsonPath(text);
    assert.ok(path.ok);
    assert.deepEqual(findAll(path.value, document), { ok: true, value: expected });
  });
}

const unreadable: readonly (readonly [string, string])[] = [
  [".a[", "unterminated array"],
  [".a[x]", "invalid array index x"],
  [".a[]", "invalid array index "],
  ['.a[?(@.b=="x"', "unterminated filter"],
  [".a[?(@.b==1).c", "unclosed array expect ]"],
  [".a[?(@.b=~1)]", "unrecognized filter operator ="],
  [".a[?(@.b=<1)]", "unrecognized filter operator =<"],
  ["spec", "unrecognized character in action: s"],
];
for (const [text, message] of unreadable) {
  test(`the path ${text} is refused`, () => assert.deepEqual(parseJsonPath(text), { ok: false, message }));
}

test("an index out of bounds finds nothing for a column and says why otherwise", () => {
  const path = parseJsonPath(".spec.ports[9].name");
  assert.ok(path.ok);
  assert.deepEqual(findAll(path.value, document), {
    ok: false,
    message: "array index out of bounds: index 9, length 3",
  });
  assert.equal(findFirst(path.value, document), undefined);
});

test("a value is printed as a column prints it", () => {
  assert.equal(printValue("a"), "a");
  assert.equal(printValue(3), "3");
  assert.equal(printValue(true), "true");
  assert.equal(printValue({ b: 1, a: ["<"] }), '{"a":["\\u003c"],"b":1}');
});

test("no path and no document make it throw", () => {
  const piece = fc.constantFrom(
    ".",
    "a",
    "[",
    "]",
    "?(",
    ")",
    "@",
    "'",
    '"',
    "0",
    ":",
    ",",
    "*",
    "-",
    "==",
    "{",
    "}",
    "\\",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.jsonValue(), (pieces, value) => {
      const path = parseJsonPath(pieces.join(""));
      if (path.ok) findAll(path.value, value);
    }),
    { numRuns: 2000 },
  );
});
