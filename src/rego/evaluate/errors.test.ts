// Which error an evaluation ends with, and its words, as OPA has them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, RegoError } from "../index.ts";
import { manualEnv } from "../manual-env.ts";

interface Case {
  readonly name: string;
  readonly source: string;
  readonly query?: string;
  readonly isStrict?: boolean;
  readonly error: string;
}

const twice = "f(x) := y if y = [1, 2][_]";
const builtinError = "eval_type_error: bits.xor: operand 2 must be integer number but got floating-point number";
const conflictOfF =
  "policy.rego:3: eval_conflict_error: function data.test.f produced conflicting values for the same inputs:\n  1 at policy.rego:3\n  2 at policy.rego:3";

const cases: readonly Case[] = [
  {
    name: "a conflict lists the value of every rule that takes part, in the order of the source",
    source: "p := 1 if input.one\n\np := 2 if input.one\n\np := 1 if input.half\n\np := [3] if input.half",
    error:
      "policy.rego:5: eval_conflict_error: rule data.test.p produced conflicting values:\n  1 at policy.rego:3\n  2 at policy.rego:5\n  [3] at policy.rego:9",
  },
  { name: "a conflict inside one function shows both values", source: `${twice}\n\np := f(1)`, error: conflictOfF },
  {
    name: "a conflict lists ten values and says when there are more",
    source: Array.from({ length: 12 }, (_, index) => `p := ${index} if input.one`).join("\n"),
    error: `policy.rego:4: eval_conflict_error: rule data.test.p produced conflicting values:${Array.from({ length: 10 }, (_, index) => `\n  ${index} at policy.rego:${index + 3}`).join("")}\n  ...`,
  },
  {
    name: "a conflict shortens long values",
    source: 'p := "a" if input.one\n\np := concat("", [x | numbers.range(1, 100)[_]; x := "b"])',
    error: `policy.rego:5: eval_conflict_error: rule data.test.p produced conflicting values:\n  "a" at policy.rego:3\n  "${"b".repeat(79)}... at policy.rego:5`,
  },
  {
    name: "a conflict comes before what follows it as long as built-in errors are not strict",
    source: `${twice}\n\np := bits.xor(1, input.half) if f(1)`,
    error: conflictOfF,
  },
  {
    name: "with strict errors, what follows the first value of a function fails before its second value is found",
    source: `${twice}\n\np := bits.xor(1, input.half) if f(1)`,
    isStrict: true,
    error: `policy.rego:5: ${builtinError}`,
  },
  {
    name: "with strict errors, what follows the first value of a complete rule fails before its second value is found",
    source: "c := y if y = [1, 2][_]\n\np := bits.xor(x, input.half) if x := c",
    isStrict: true,
    error: `policy.rego:5: ${builtinError}`,
  },
  {
    name: "with strict errors, a conflict waits for what follows the rule around it, too",
    source: `${twice}\n\ng(x) := 1 if f(x)\n\np := bits.xor(1, input.half) if g(1)`,
    isStrict: true,
    error: `policy.rego:7: ${builtinError}`,
  },
  {
    name: "with strict errors, a conflict does not wait for other rules of the same set",
    source: `${twice}\n\np contains 1 if f(1)\n\np contains bits.xor(1, input.half)`,
    isStrict: true,
    error: conflictOfF,
  },
  {
    name: "with strict errors, a conflict does not wait for what follows the comprehension around it",
    source: `${twice}\n\np := bits.xor(x[0], input.half) if x := [1 | f(1)]`,
    isStrict: true,
    error: conflictOfF,
  },
  {
    name: "with strict errors, a conflict does not wait for the next rule of its package",
    source: `${twice}\n\na := 1 if f(1)\n\nb := bits.xor(1, input.half)`,
    query: "data.test",
    isStrict: true,
    error: conflictOfF,
  },
  {
    name: "calls in the values of with come before documents there",
    source: 'r if input.missing\n\np if count([1]) == 1 with input.x as r with input.y as hex.decode("zz")',
    isStrict: true,
    error: "policy.rego:5: eval_builtin_error: hex.decode: encoding/hex: invalid byte: U+007A 'z'",
  },
  {
    name: "a number that is too big for policies is refused though it is JSON",
    source: 'p := json.unmarshal("[1e40000]")',
    isStrict: true,
    error: "policy.rego:3: eval_builtin_error: json.unmarshal: invalid number: number too big",
  },
  {
    name: "a number that is too small for policies is refused",
    source: 'p := to_number("1e-40000")',
    isStrict: true,
    error: "policy.rego:3: eval_builtin_error: to_number: invalid number: number too big",
  },
  {
    name: "a second YAML document has to be readable",
    source: 'p := yaml.unmarshal("a: 1\\n---\\n\\tb: 2\\n")',
    isStrict: true,
    error:
      "policy.rego:3: eval_builtin_error: yaml.unmarshal: yaml: line 3: found character that cannot start any token",
  },
  {
    name: "what is not a number in JSON is not one in YAML",
    source: 'p := yaml.unmarshal("[.inf]")',
    isStrict: true,
    error: "policy.rego:3: eval_builtin_error: yaml.unmarshal: json: unsupported value: +Inf",
  },
];

for (const { name, source, query: text = "data.test.p", isStrict = false, error } of cases) {
  test(name, () => {
    const policy = compile([{ file: "policy.rego", source: `package test\n\n${source}\n` }], { env: manualEnv() });
    const query = policy.query(text);
    const input = { one: 1, half: 0.5 };
    assert.throws(
      () => query.evaluate({ input, data: {}, strictBuiltinErrors: isStrict }),
      (thrown: unknown) => {
        assert.ok(thrown instanceof RegoError);
        assert.equal(thrown.message, error);
        return true;
      },
    );
  });
}

test("an evaluation that is done again for the order of its errors prints and draws lots once", () => {
  const source = `package test\n\n${twice}\n\np := bits.xor(1, 2) if {\n\tprint("asked")\n\trand.intn("x", 9) >= 0\n\tf(1)\n}\n`;
  const printed: string[] = [];
  let draws = 0;
  const env = manualEnv({
    random: () => {
      draws++;
      return 0.5;
    },
  });
  const query = compile([{ file: "policy.rego", source }], { env, keepsPrint: true }).query("data.test.p");
  assert.throws(() =>
    query.evaluate({ data: {}, strictBuiltinErrors: true, onPrint: (message) => printed.push(message) }),
  );
  assert.deepEqual(printed, ["asked"]);
  assert.equal(draws, 1);
});

test("an error of a query without a file shows the text of its expression", () => {
  const query = compile([], { env: manualEnv() }).query("x := 1 / 0");
  assert.throws(() => query.evaluate({ strictBuiltinErrors: true }), {
    message: "1 / 0: eval_builtin_error: div: divide by zero",
  });
});
