// What is refused and why, in the cases where it takes more than one rule of the language to know: each was a difference to OPA.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, RegoErrors } from "../index.ts";
import { manualEnv } from "../manual-env.ts";

interface Case {
  readonly name: string;
  readonly source: string;
  readonly strict?: boolean;
  readonly version?: "v0" | "v1";
  /** `code: message` of every error; none means that the module compiles. */
  readonly refused: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: "an argument with the name of the input is all that is reported",
    source: "f([input]) := 1 if x",
    refused: ["rego_compile_error: args must not shadow input (use a different variable name)"],
  },
  {
    name: "no argument has the name of a document, not even in v0",
    source: "f(data) = 1 { true }",
    version: "v0",
    refused: ["rego_compile_error: args must not shadow data (use a different variable name)"],
  },
  {
    name: "a variable that is assigned from an unsafe one is not called unsafe itself",
    source: "p if {\n\tx := y\n\tx > 1\n}",
    refused: ["rego_unsafe_var_error: var y is unsafe"],
  },
  {
    name: "a variable that not mentions cannot be declared below it",
    source: "import future.keywords.not\n\np if {\n\tnot x != 1\n\tx := 2\n}",
    refused: ["rego_compile_error: var x referenced above"],
  },
  {
    name: "a variable that an operand in braces mentions cannot be declared below it",
    source: "import future.keywords.and\n\np if {\n\t{ x != 1 } and input.y\n\tx := 2\n}",
    refused: ["rego_compile_error: var x referenced above"],
  },
  {
    name: "a part of a rule with the name of the input cannot be replaced",
    source: "input := 1\n\np { count([1]) == 1 with input.x as 2 }",
    version: "v0",
    refused: ["rego_compile_error: with keyword cannot partially replace virtual document(s)"],
  },
  {
    name: "of unused variables, those of an expression are reported before those of its with",
    source: "p if count([1 | x := 1]) == 1 with input as [1 | y := 2]",
    strict: true,
    refused: ["rego_compile_error: assigned var x unused"],
  },
  {
    name: "an else branch does not compute the ref of its head",
    source: 'q[sprintf("", [])].c := 1 if input.x\n\nelse := 2',
    refused: ["rego_unsafe_var_error: var sprintf is unsafe"],
  },
  {
    name: "an else branch does not look up the ref of its head",
    source: "q[[input.x, data.y]] := 1 if input.x\n\nelse := 2",
    refused: ["rego_unsafe_var_error: var data is unsafe", "rego_unsafe_var_error: var input is unsafe"],
  },
  {
    name: "an else branch may have a collection of constants in the ref of its head",
    source: 'q[[1, {"a": {2}}]].d := 1 if input.x\n\nelse := 2',
    refused: [],
  },
  {
    name: "a rule with a variable in the ref of its head has no else",
    source: "q[x].c := 1 if x := input.x\n\nelse := 2",
    refused: ["rego_parse_error: else keyword cannot be used on rules with variables in head"],
  },
  {
    name: "a function's arguments have the types that its body needs",
    source: "f(x) := lower(x)\n\np if f(1)",
    refused: ["rego_type_error: data.test.f: invalid argument(s)"],
  },
  {
    name: "a function's result is compared with what the caller wants",
    source: "f(x) := [x]\n\np if f(1) == 2",
    refused: ["rego_type_error: match error"],
  },
  {
    name: "every rule of a document adds to its type",
    source: 'default p := 1\n\np := {2} if input.x\n\nq if "x" in data.test.p',
    refused: ["rego_type_error: match error"],
  },
  {
    name: "inside every, only refs that lead nowhere are refused",
    source: "p if every x in [1] {\n\tx == 1\n\t1 == [x]\n}",
    refused: [],
  },
  {
    name: "a function is no document",
    source: "f(x) := x\n\np := data.test.f.a",
    refused: ["rego_type_error: function data.test.f.a used as reference, not called"],
  },
  {
    name: "a document that with replaces may have the type of its replacement",
    source: 'r := 1\n\nq if data.test.r == "x" with data.test.r as "x"',
    refused: [],
  },
  {
    name: "rules that depend on a replaced document may have any type",
    source: 'r := 1\n\ns := r\n\nq if data.test.s == "x" with data.test.r as "x"',
    refused: [],
  },
  {
    name: "a replacement of a function takes as many operands",
    source: 'f(x, y) := x\n\np if lower("A") with lower as f',
    refused: ["rego_type_error: lower: arity mismatch"],
  },
  {
    name: "two point zero is no index of an array",
    source: 'p := split("a.b", ".")[2.0]',
    refused: ['rego_type_error: undefined ref: split("a.b", ".")[2.0]'],
  },
  {
    name: "nothing can be selected from an empty collection",
    source: "p if some x in []",
    refused: ["rego_type_error: undefined ref: [][_]"],
  },
  {
    name: "calls cannot be negated assignments",
    source: "p if not x := 1",
    refused: ["rego_compile_error: cannot assign vars inside negated expression"],
  },
  {
    name: "a variable is no function",
    source: "p if {\n\tx := 1\n\tcount(x(2)) > 1\n}",
    refused: ["rego_compile_error: called function x shadowed"],
  },
  {
    name: "a variable is no function in the ref of a head either, because that is computed in the body",
    source: 'p[sprintf("a", [])] := 1 if not sprintf',
    refused: ["rego_compile_error: called function sprintf shadowed"],
  },
  {
    name: "a name in the ref of a head hides a built-in in the body",
    source: "p[[count]] := 1 if x := count(input) + 1",
    refused: ["rego_compile_error: called function count shadowed"],
  },
  {
    name: "the value of a head does not know that its function is a variable",
    source: 'p := sprintf("a", []) if not sprintf',
    refused: ["rego_type_error: undefined function sprintf"],
  },
  {
    name: "a rule without arguments can be called with a place for its value, and then depends on itself",
    source: "p if p(1)",
    refused: ["rego_recursion_error: rule data.test.p is recursive: data.test.p -> data.test.p"],
  },
  {
    name: "some in cannot bind what its collection is made of",
    source: "p if some x in [x]",
    refused: ["rego_compile_error: var x assigned before"],
  },
  {
    name: "a variable in the domain of some in is the one that it declares",
    source: "p if some x, y in [1 | x = 2]\n",
    refused: ["rego_unsafe_var_error: var y is unsafe", "rego_unsafe_var_error: var x is unsafe"],
  },
  {
    name: "the body of every cannot assign its variable",
    source: "p if every x in [1] {\n\tx := 2\n}",
    refused: ["rego_compile_error: var x declared above"],
  },
  {
    name: "the name of a built-in was used when it was called",
    source: 'p if {\n\tglob.match("a", [], "a")\n\tglob := 1\n}',
    refused: ["rego_compile_error: var glob referenced above"],
  },
  {
    name: "a template string only takes variables that are bound elsewhere",
    source: 'p := $"{input.xs[_]}"',
    refused: ["rego_compile_error: var _ is undeclared"],
  },
  {
    name: "a template string takes variables that a comprehension around it binds",
    source: 'p := [$"{x + 1}" | some x in [1, 2]]',
    refused: [],
  },
  {
    name: "v0 has no template strings",
    source: 'p { $"{1}" }',
    version: "v0",
    refused: ["rego_parse_error: template strings are not supported by current capabilities"],
  },
  {
    name: "v0 lets a variable have the name of a document",
    source: "p { input := 1; input == 1 }",
    version: "v0",
    refused: [],
  },
  {
    name: "a rule that takes names from a list depends only on those",
    source: 'a := 1\n\nb := x if {\n\tsome name in ["a"]\n\tx := data.test[name]\n}',
    refused: [],
  },
  {
    name: "one unused variable speaks for a rule",
    source: "p if {\n\tx := 1\n\tcount([1 | y := 2]) == 1\n}",
    strict: true,
    refused: ["rego_compile_error: assigned var y unused"],
  },
  {
    name: "an expression with a comprehension over the body's variables may leave other variables open",
    source: "p if {\n\ty := 1\n\tnot [y | y > 0] == input.xs[_]\n}",
    refused: [],
  },
];

for (const { name, source, strict, version, refused } of cases) {
  test(name, () => {
    assert.deepEqual(
      refusals(`package test\n\n${source}\n`, { strict: strict ?? false, version: version ?? "v1" }),
      refused,
    );
  });
}

test("ten errors are enough", () => {
  const source = Array.from({ length: 12 }, (_, index) => `p${index} if x${index} == 1`).join("\n\n");
  const found = refusals(`package test\n\n${source}\n`, { strict: false, version: "v1" });
  assert.equal(found.length, 11);
  assert.equal(found.at(-1), "rego_compile_error: error limit reached");
});

function refusals(
  source: string,
  options: { readonly strict: boolean; readonly version: "v0" | "v1" },
): readonly string[] {
  try {
    compile([{ file: "policy.rego", source }], { env: manualEnv(), ...options });
    return [];
  } catch (error) {
    if (!(error instanceof RegoErrors)) throw error;
    return error.errors.map(({ code, message }) => `${code}: ${message}`);
  }
}
