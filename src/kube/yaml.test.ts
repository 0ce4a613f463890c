import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseYaml, stringifyYaml, stringifyYamlDocuments } from "./yaml.ts";

const documentOf = (text: string): unknown => {
  const result = parseYaml(text);
  assert.ok(result.ok, JSON.stringify(result));
  return result.documents[0]?.value;
};
const messagesOf = (text: string): readonly string[] => {
  const result = parseYaml(text, { file: "app.yaml" });
  assert.ok(!result.ok);
  return result.problems.map(({ message }) => message);
};

// Asked of sigs.k8s.io/yaml as Kubernetes 1.36.3 uses it.
const scalars: readonly (readonly [string, unknown])[] = [
  ["y", true],
  ["Yes", true],
  ["n", false],
  ["on", true],
  ["Off", false],
  ["oN", "oN"],
  ["~", null],
  ["Null", null],
  ["", null],
  ["1:30", "1:30"],
  ["12:30:45", "12:30:45"],
  ["2001-12-14", "2001-12-14"],
  ["2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"],
  ["0777", 511],
  ["-0777", -511],
  ["0o777", 511],
  ["0b11", 3],
  ["0x1F", 31],
  ["0x_1", 1],
  ["08", 8],
  ["1_000", 1000],
  ["_1", "_1"],
  ["1e3", 1000],
  ["1.e5", 100000],
  ["e3", "e3"],
  [".5", 0.5],
  ["5.", 5],
  ["1e400", "1e400"],
  ["0x", "0x"],
  ["0b2", "0b2"],
  ["=", "="],
  ["inf", "inf"],
  ["!!str 12", "12"],
  ["!!binary aGVsbG8=", "hello"],
  ['!!int "12"', 12],
  ["!!bool yes", true],
];
for (const [text, expected] of scalars) {
  test(`the plain word ${JSON.stringify(text)} is ${JSON.stringify(expected)}, as in Go's tools`, () => {
    assert.deepEqual(documentOf(`a: ${text}\n`), { a: expected });
  });
}

test("keys become text as Go's tools make them text", () => {
  assert.deepEqual(documentOf("{y: 1, 1: 2, 1.5: 3, 0x10: 4, 2001-01-01: 5}"), {
    true: 1,
    1: 2,
    1.5: 3,
    16: 4,
    "2001-01-01": 5,
  });
});

test("merge keys and anchors are followed", () => {
  assert.deepEqual(documentOf("a: &x {b: 1, d: 1}\nc:\n  <<: *x\n  d: 2\n"), { a: { b: 1, d: 1 }, c: { b: 1, d: 2 } });
});

test("documents are counted, empty ones left out", () => {
  const result = parseYaml("# nothing\n---\na: 1\n---\n---\nb: 2\n");
  assert.ok(result.ok);
  assert.deepEqual(
    result.documents.map(({ index, value, line }) => ({ index, value, line })),
    [
      { index: 1, value: { a: 1 }, line: 3 },
      { index: 3, value: { b: 2 }, line: 6 },
    ],
  );
});

const broken: readonly (readonly [string, string, string])[] = [
  [
    "a key that is given twice",
    "a: 1\n---\nb:\n  c: 1\n  c: 2\n",
    'app.yaml: document 2, line 5, column 3: the key "c" is given twice',
  ],
  ["a tab", "a:\n\tb: 1\n", "app.yaml: document 1, line 2, column 1: Tabs are not allowed as indentation"],
  [
    "a number that JSON does not know",
    "a: .inf\n",
    "app.yaml: document 1, line 1, column 4: .inf is not a number that JSON can carry",
  ],
  [
    "an integer that would change",
    "a: 9007199254740993\n",
    "app.yaml: document 1, line 1, column 4: the integer 9007199254740993 cannot be represented exactly",
  ],
  [
    "a key that is a list",
    "? [a]\n: b\n",
    "app.yaml: document 1, line 1, column 1: a key must be a text, a number or a boolean, not a list or an object",
  ],
  [
    "a key that is nothing",
    "~: 1\n",
    "app.yaml: document 1, line 1, column 1: a key must be a text, a number or a boolean, not null",
  ],
  [
    "an alias of itself",
    "a: &a\n  b: *a\n",
    "app.yaml: document 1, line 1, column 1: an alias contains itself, or the document is nested too deeply",
  ],
];
for (const [name, text, expected] of broken) {
  test(`${name} is refused with file, document, line and column`, () => assert.equal(messagesOf(text)[0], expected));
}

test("duplicate keys can be reported instead of refused", () => {
  const result = parseYaml("a: 1\nb:\n- c: 1\n  c: 2\n", { duplicateKeys: "report" });
  assert.ok(result.ok);
  assert.deepEqual(result.documents[0]?.duplicates, [{ path: "b[0].c", key: "c", line: 4 }]);
  assert.deepEqual(result.documents[0]?.value, { a: 1, b: [{ c: 2 }] });
});

test("hostile texts are refused quickly and never throw", () => {
  const started = performance.now();
  const aliases = ["a: &a [x,x,x,x,x,x,x,x,x]", ..."bcdefgh"].map((name, index) =>
    index === 0 ? name : `${name}: &${name} [${`*${"abcdefgh"[index - 1]},`.repeat(9)}]`,
  );
  const hostile = [
    "[".repeat(1_000_000),
    "- ".repeat(1_000_000),
    "? ".repeat(1_000_000),
    '{"a": '.repeat(500_000),
    `${'{"a":'.repeat(300_000)}1${"}".repeat(300_000)}`,
    "a: ".repeat(1_000_000),
    `[${",".repeat(50_000)}]`,
    "}".repeat(2_000_000),
    `${"&a ".repeat(20_000)}x`,
    `${"!!str ".repeat(20_000)}x`,
    aliases.join("\n"),
  ];
  for (const text of hostile) assert.equal(parseYaml(text).ok, false);
  assert.ok(performance.now() - started < 20_000);
});

test("the complaint about a hopeless document names it and the place", () => {
  const [deep, ...others] = messagesOf(`a: 1\n---\n${"[".repeat(5000)}`);
  assert.equal(deep, "app.yaml: document 2, line 3, column 1001: nested too deeply");
  assert.deepEqual(others, []);
  const broken = messagesOf(`a: 1\n---\n[${",".repeat(5000)}]`);
  assert.equal(broken.length, 10);
  assert.match(broken[0] ?? "", /^app\.yaml: document 2, line 3, column 3: /);
});

test("what comes after the documents that were asked for is not read", () => {
  const result = parseYaml(`a: 1\n---\nb: 2\n---\n${"[".repeat(5000)}`, { maxDocuments: 1 });
  assert.ok(result.ok);
  assert.deepEqual(
    result.documents.map(({ value }) => value),
    [{ a: 1 }],
  );
});

test("words that some reader takes for something else are quoted", () => {
  const tricky = ["y", "no", "on", "1:30", "0o17", "1e3", "2001-01-01", "~", "", "1_000", "0x1F", "null", "true", ".5"];
  for (const word of tricky) assert.equal(stringifyYaml({ a: word }), `a: ${JSON.stringify(word)}\n`);
});

test("several documents are separated", () => {
  assert.equal(stringifyYamlDocuments([{ a: 1 }, { b: [1, { c: "x" }] }]), "---\na: 1\n---\nb:\n- 1\n- c: x\n");
});

test("what is written is read back", () => {
  const anyJson = fc.jsonValue({ maxDepth: 4, noUnicodeString: false }).filter((value) => value !== null);
  fc.assert(
    fc.property(anyJson, (value) => {
      const json: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(documentOf(stringifyYaml(json)), json);
    }),
  );
});
