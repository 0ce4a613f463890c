// Answers that were once different from OPA's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, toJsonText } from "../index.ts";
import { manualEnv } from "../manual-env.ts";

const cases: readonly { readonly name: string; readonly source: string; readonly answer: string }[] = [
  { name: "a float times a negative float is a negative zero", source: "p := input.zero * -2.5", answer: "-0" },
  { name: "of equal numbers, max takes the last as it is written", source: "p := max([1.0, 1])", answer: "1" },
  { name: "of equal numbers, min takes the last as it is written", source: "p := min([1, 1.0])", answer: "1.0" },
  { name: "a number just below zero is rounded up to one", source: "p := ceil(-0.5)", answer: "1" },
  { name: "a number just below zero is rounded down to zero", source: "p := floor(-0.5)", answer: "0" },
  { name: "numbers without digits before the point are numbers", source: 'p := to_number(".5") + 1', answer: "1.5" },
  {
    name: "keys that read the same are one field of JSON",
    source: 'p := json.marshal({1: 2, "1": 3})',
    answer: '"{\\"1\\":3}"',
  },
  {
    name: "fields of JSON are in the order of their text",
    source: 'p := json.marshal({null: 1, "a": 2})',
    answer: '"{\\"a\\":2,\\"null\\":1}"',
  },
  {
    name: "characters beyond the first plane are escapes in YAML",
    source: 'p := yaml.marshal("😀")',
    answer: '"\\"\\\\U0001F600\\"\\n"',
  },
  {
    name: "integers of more than 64 bits are doubles in YAML",
    source: "p := [yaml.marshal(18446744073709551615), yaml.marshal(18446744073709551616)]",
    answer: '["18446744073709551615\\n","1.8446744073709552e+19\\n"]',
  },
  {
    name: "doubles from a million on have an exponent in YAML",
    source: "p := [yaml.marshal(999999.5), yaml.marshal(1e6)]",
    answer: '["999999.5\\n","1e+06\\n"]',
  },
  {
    name: "nothing is also found between the bytes of a character",
    source: 'p := [replace("é", "", "-"), strings.replace_n({"": "-"}, "é"), replace("é", "", "")]',
    answer: '["-\ufffd-\ufffd-","-\ufffd-\ufffd-","é"]',
  },
  {
    name: "bytes that are no character are no YAML",
    source: 'p := yaml.is_valid(replace("é", "", "-"))',
    answer: "false",
  },
  {
    name: "a number with an exponent has 64 exact bits when it is formatted as an integer",
    source: "p := [format_int(1e40, 10), format_int(18446744073709551617, 16)]",
    answer: '["9999999999999999999783686092270256259072","10000000000000001"]',
  },
  {
    name: "a big integer says its own name when a verb does not fit",
    source: 'p := sprintf("%+30q", [12345678901234567890])',
    answer: '"%!q(big.Int=12345678901234567890)"',
  },
  { name: "an address alone keeps its digits", source: 'p := net.cidr_merge(["10.1.2.3"])', answer: '["10.1.2.3/8"]' },
  {
    name: "a function is computed once for numbers that are equal",
    source: "f(x) := x\n\np := [f(2.0), f(2)]",
    answer: "[2.0,2.0]",
  },
  {
    name: "patterns that share only the empty text do not meet",
    source: 'p := regex.globs_match("a*", "b*")',
    answer: "false",
  },
  {
    name: "members of a set literal are evaluated in their order as terms",
    source: "p := {json.marshal(input.missing), abs(input.zero)} if input.zero == 1\n\nelse := 1",
    answer: "1",
  },
  {
    name: "a rule in a built-in's place is evaluated only when the built-in is called",
    source: "r if input.missing\n\np := 1 if 2 > 1 with lower as data.test.r",
    answer: "1",
  },
  {
    name: "a rule in a built-in's place gives its value",
    source: 'r := 7\n\np := x if x := lower("A") with lower as data.test.r',
    answer: "7",
  },
  {
    name: "of rules with the same constant, those after the first that holds are not evaluated",
    source: "p := 1 if input.zero == 0\n\np := 1 if 1 / input.zero == 1",
    answer: "1",
  },
  {
    name: "objects with a fixed place exist even without fields",
    source: 'p[1]["z"][true] := 3 if input.missing\n\np[2][x] := 3 if x := input.missing\n\np["a"] := 1',
    answer: '{"1":{"z":{}},"2":{},"a":1}',
  },
  {
    name: "a rule is not started if a base document that it takes is missing",
    source: "p if {\n\tcount(input.zero) == 1\n\tx := data.missing\n\tx == 1\n}",
    answer: "undefined",
  },
];

for (const { name, source, answer } of cases) {
  test(name, () => {
    const policy = compile([{ file: "policy.rego", source: `package test\n\n${source}\n` }], { env: manualEnv() });
    const [result] = policy.query("data.test.p").evaluate({ input: { zero: 0 }, data: {}, strictBuiltinErrors: true });
    const value = result?.expressions[0]?.value;
    assert.equal(value === undefined ? "undefined" : toJsonText(value), answer);
  });
}
