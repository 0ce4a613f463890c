import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { processorMs } from "../../../test/processor-time.ts";
import { RegoErrors } from "./errors.ts";
import { parseModule, parseQuery } from "./module.ts";

const seedPolicy = `package a.b

import data.c as d
import future.keywords.and
import future.keywords.not

# METADATA
# title: t
default allow := false

allow if {
  some i, x in input.xs
  not { x.y == 1; i > 0 } and count([z | z := d[_]; z != "a"]) >= 2
  every k, v in {"a": {1, 2}, "b": set()} { v with input as {"k": k} }
  y := $"a{x}b{{1}}" ; f(y)[0].q == -1.5e3
} else := {k: v | v := input[k]} if true

f(x) := x if true
p[x].q contains $\`raw \\{ {x}\` if x := "\\u00e9\\n"
`;

/** Only `RegoErrors` may come out, whatever goes in. */
function parses(text: string): void {
  for (const version of ["v0", "v1"] as const) {
    for (const parse of [() => parseModule("f.rego", text, { version }), () => parseQuery(text, { version })]) {
      try {
        parse();
      } catch (error) {
        assert.ok(error instanceof RegoErrors, `${error instanceof Error ? error.stack : String(error)}\n${text}`);
        assert.ok(error.errors.length > 0);
      }
    }
  }
}

test("the seed parses", () => {
  assert.equal(parseModule("seed.rego", seedPolicy).rules.length, 4);
});

test("no text crashes the parser", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), parses), { numRuns: 300 });
});

test("no mixture of tokens crashes the parser", () => {
  const tokens = seedPolicy.match(/\w+|\s+|:=|==|./g) ?? [];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 80 }), (parts) => parses(parts.join(""))),
    { numRuns: 500 },
  );
});

test("no mutation of a policy crashes the parser", () => {
  const edits = fc.array(
    fc.tuple(
      fc.nat(seedPolicy.length),
      fc.nat(12),
      fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom("{", "}", "[", "(", '$"', "`", "|", "not ", "\\")),
    ),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(edits, (list) => {
      let text = seedPolicy;
      for (const [at, length, replacement] of list) text = text.slice(0, at) + replacement + text.slice(at + length);
      parses(text);
    }),
    { numRuns: 500 },
  );
});

const longTexts: readonly { name: string; make: (size: number) => string }[] = [
  { name: "many rules", make: (size) => `package a\n${"p if input.x == 1\n".repeat(size)}` },
  { name: "a long body", make: (size) => `package a\np if {\n${"input.x == 1\n".repeat(size)}}` },
  { name: "a long array", make: (size) => `package a\np := [${"1, ".repeat(size)}]` },
  { name: "a long object", make: (size) => `package a\np := {${'"a": 1, '.repeat(size)}}` },
  { name: "a long sum", make: (size) => `package a\np := 1${" + 1".repeat(size)}` },
  { name: "a long ref", make: (size) => `package a\np := input${".a".repeat(size)}` },
  {
    name: "a long chain of or",
    make: (size) => `package a\nimport future.keywords.or\np if { true${" or true".repeat(size)} }`,
  },
  { name: "a long template", make: (size) => `package a\np := $"${"{input.x} ".repeat(size)}"` },
  { name: "a long set", make: (size) => `package a\np := {${"1, ".repeat(size)}}` },
  { name: "a long string", make: (size) => `package a\np := "${"a\\n".repeat(size)}"` },
  { name: "a long raw string", make: (size) => `package a\np := \`${"a\n".repeat(size)}\`` },
  { name: "a long comment", make: (size) => `package a\n${"# a\n".repeat(size)}p := 1` },
  { name: "a long list of arguments", make: (size) => `package a\np := f(${"1, ".repeat(size)}1)` },
  {
    name: "a long chain of else",
    make: (size) => `package a\np := 1 if input.x${" else := 2 if input.y".repeat(size)}`,
  },
  { name: "a long chain of with", make: (size) => `package a\np if input.x${" with input.x as 1".repeat(size)}` },
  { name: "many declarations", make: (size) => `package a\np if {\n${"some x in input.x\n".repeat(size)}}` },
  ...["|", "&", "-", "*", "/", "%", "==", "!=", "<", ">=", "in", "=", ":=", ",", ";", "."].map((operator) => ({
    name: `a long chain of ${operator}`,
    make: (size: number) => `package a\np if { x${` ${operator} x`.repeat(size)} }`,
  })),
  ...["[", "{", "(", '{"a":', "[x | ", "f(", "a[", "not ", "-", "every x in ", '"', "`", '$"{'].map((opening) => ({
    name: `a text that opens ${opening.trim()} and never ends`,
    make: (size: number) => `package a\np if { ${opening.repeat(size)}`,
  })),
];
for (const { name, make } of longTexts) {
  test(`${name} parses in linear time`, () => {
    const timeOf = (size: number): number => {
      const text = make(size);
      // The best of three: garbage collection only ever adds time.
      return Math.min(...[1, 2, 3].map(() => processorMs(() => parses(text))));
    };
    timeOf(500);
    const small = Math.max(timeOf(1_000), 8);
    const large = timeOf(8_000);
    // Eight times the text; quadratic time would be sixty-four times as long.
    assert.ok(large < small * 30, `${small.toFixed(1)} ms became ${large.toFixed(1)} ms`);
  });
}

const deepTexts: readonly { name: string; open: string; close: string }[] = [
  { name: "arrays", open: "[", close: "]" },
  { name: "sets", open: "{", close: "}" },
  { name: "objects", open: '{"a":', close: "}" },
  { name: "parentheses", open: "(", close: ")" },
  { name: "comprehensions", open: "[x | x := ", close: "]" },
  { name: "calls", open: "f(", close: ")" },
  { name: "keys", open: "a[", close: "]" },
  { name: "templates", open: '$"{', close: '}"' },
];
for (const { name, open, close } of deepTexts) {
  for (const keywords of ["", "import future.keywords.and\nimport future.keywords.not\n"]) {
    test(`deeply nested ${name} are refused, not a crash${keywords === "" ? "" : ", with the logical keywords"}`, () => {
      const started = performance.now();
      parses(`package a\n${keywords}p if { ${open.repeat(20_000)}1${close.repeat(20_000)} }`);
      parses(`package a\n${keywords}p if { ${open.repeat(200)}`);
      parses(`package a\n${keywords}p if { ${open.repeat(30)}1${close.repeat(30)} }`);
      assert.ok(performance.now() - started < 10_000);
    });
  }
}
