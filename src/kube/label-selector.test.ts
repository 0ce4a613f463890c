import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatFieldErrors } from "./field-error.ts";
import {
  formatLabelSelector,
  labelSelectorRequirements,
  matchesLabels,
  validateLabelSelector,
} from "./label-selector.ts";
import { parseLabelSelector } from "./label-selector-parse.ts";

// Every line below was asked of apimachinery 0.36.3: the text, and either the selector printed again or the error.
const cases: readonly (readonly [string, "OK" | "ERR", string])[] = [
  ["", "OK", ""],
  ["a=b", "OK", "a=b"],
  ["a==b", "OK", "a==b"],
  ["a!=b", "OK", "a!=b"],
  ["a in (x,y)", "OK", "a in (x,y)"],
  ["a in (y, x ,x)", "OK", "a in (x,y)"],
  ["a notin (x)", "OK", "a notin (x)"],
  ["!a", "OK", "!a"],
  ["a", "OK", "a"],
  ["a,!b , c=d", "OK", "a,!b,c=d"],
  ["x in (foo,,baz),y,z notin ()", "OK", "x in (,baz,foo),y,z notin ()"],
  ["a=", "OK", "a="],
  ["a==", "OK", "a=="],
  ["a!=", "OK", "a!="],
  ["a in ()", "OK", "a in ()"],
  ["a in (,)", "OK", "a in ()"],
  ["a>1", "OK", "a>1"],
  ["a<2", "OK", "a<2"],
  [
    "a>x",
    "ERR",
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  ["a in", "ERR", "unable to parse requirement: found '' expected: '('"],
  ["a in (", "ERR", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ["a in x", "ERR", "unable to parse requirement: found 'x' expected: '('"],
  ["a in (x", "ERR", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a,,b", "ERR", "found ',', expected: identifier after ','"],
  ["a,", "ERR", "found '', expected: identifier after ','"],
  [",a", "ERR", "found ',', expected: !, identifier, or 'end of string'"],
  ["!", "ERR", "unable to parse requirement: found '', expected: identifier"],
  ["!a=b", "ERR", "found '=', expected: ',' or 'end of string'"],
  ["!!a", "ERR", "unable to parse requirement: found '!', expected: identifier"],
  ["a=b=c", "ERR", "found '=', expected: ',' or 'end of string'"],
  ["a b", "ERR", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a (x)", "ERR", "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"],
  ["=a", "ERR", "found '=', expected: !, identifier, or 'end of string'"],
  ["a=b c", "ERR", "found 'c', expected: ',' or 'end of string'"],
  ["a in (x y)", "ERR", "unable to parse requirement: found 'y', expected: ',' or ')'"],
  ["a in (x,", "ERR", "unable to parse requirement: found '', expected: ',', or identifier"],
  [
    "a/b/c=d",
    "ERR",
    "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  ],
  [
    "-a=b",
    "ERR",
    "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  [
    "a=-b",
    "ERR",
    "unable to parse requirement: values[0][a]: Invalid value: \"-b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  ["example.com/a=b", "OK", "example.com/a=b"],
  [
    "UPPER.example.com/a=b",
    "ERR",
    "unable to parse requirement: <nil>: Invalid value: \"UPPER.example.com/a\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
  ["in in (in)", "OK", "in in (in)"],
  ["notin notin (notin)", "OK", "notin notin (notin)"],
  ["a=b,a=c", "OK", "a=b,a=c"],
  ["a>=1", "ERR", "unable to parse requirement: found '=', expected: identifier"],
  ["a=(", "ERR", "unable to parse requirement: found '(', expected: identifier"],
  ["a in (>)", "ERR", "unable to parse requirement: found '>', expected: ',', ')' or identifier"],
  ["\ta \n= b", "OK", "a=b"],
  ["a in ((", "ERR", "unable to parse requirement: found '(', expected: ',', ')' or identifier"],
  ["a =! b", "ERR", "unable to parse requirement: found '!', expected: identifier"],
  ["a=!b", "ERR", "unable to parse requirement: found '!', expected: identifier"],
  [
    "a<-5",
    "ERR",
    "unable to parse requirement: values[0][a]: Invalid value: \"-5\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    "a>+5",
    "ERR",
    "unable to parse requirement: values[0][a]: Invalid value: \"+5\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  ["b,a", "OK", "a,b"],
  ["a=b,", "ERR", "found '', expected: identifier after ','"],
  ["a in (x),", "ERR", "found '', expected: identifier after ','"],
  ["/a=b", "ERR", 'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty'],
  [
    "a/=b",
    "ERR",
    "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be non-empty; name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
  ["x in (a) y", "ERR", "found 'y', expected: ',' or 'end of string'"],
];

for (const [text, outcome, expected] of cases) {
  test(`the label selector ${JSON.stringify(text)} is read as the real server reads it`, () => {
    const result = parseLabelSelector(text);
    assert.equal(result.ok ? "OK" : "ERR", outcome);
    assert.equal(result.ok ? formatLabelSelector(result.value) : result.message, expected);
  });
}

const labels = { app: "web", tier: "front", size: "5", empty: "" };
const matching: readonly (readonly [string, boolean])[] = [
  ["", true],
  ["app=web", true],
  ["app=db", false],
  ["app!=db", true],
  ["missing!=db", true],
  ["missing=db", false],
  ["tier in (front,back)", true],
  ["tier notin (front)", false],
  ["missing notin (front)", true],
  ["app", true],
  ["!app", false],
  ["!missing", true],
  ["size>4", true],
  ["size<4", false],
  ["app>4", false],
  ["empty=", true],
  ["app=web,tier=back", false],
  ["constructor", false],
];
for (const [text, expected] of matching) {
  test(`${JSON.stringify(text)} ${expected ? "matches" : "does not match"} the example labels`, () => {
    const selector = parseLabelSelector(text);
    assert.ok(selector.ok);
    assert.equal(matchesLabels(selector.value, labels), expected);
  });
}

test("an empty LabelSelector matches everything and a missing one nothing", () => {
  const everything = labelSelectorRequirements({});
  const nothing = labelSelectorRequirements(undefined);
  assert.ok(everything.ok && nothing.ok);
  assert.equal(matchesLabels(everything.value, undefined), true);
  assert.equal(matchesLabels(nothing.value, labels), false);
});

test("matchLabels and matchExpressions must all hold", () => {
  const selector = labelSelectorRequirements({
    matchLabels: { app: "web" },
    matchExpressions: [
      { key: "tier", operator: "In", values: ["front"] },
      { key: "legacy", operator: "DoesNotExist" },
    ],
  });
  assert.ok(selector.ok);
  assert.equal(formatLabelSelector(selector.value), "app=web,!legacy,tier in (front)");
  assert.equal(matchesLabels(selector.value, labels), true);
  assert.equal(matchesLabels(selector.value, { ...labels, legacy: "" }), false);
});

test("an unknown operator of a matchExpression is named", () => {
  const selector = labelSelectorRequirements({ matchExpressions: [{ key: "a", operator: "Gt", values: ["1"] }] });
  assert.deepEqual(selector, { ok: false, message: '"Gt" is not a valid label selector operator' });
});

test("a wrong LabelSelector object is explained field by field", () => {
  const errors = validateLabelSelector(
    {
      matchExpressions: [
        { key: "a", operator: "In" },
        { key: "b", operator: "Exists", values: ["x"] },
        { key: "c", operator: "Near", values: [] },
      ],
    },
    "spec.selector",
  );
  assert.deepEqual(formatFieldErrors(errors).messages, [
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'spec.selector.matchExpressions[2].operator: Invalid value: "Near": not a valid selector operator',
  ]);
});

test("what is printed is read back as the same selector", () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,5}$/);
  const requirement = fc.oneof(
    word,
    word.map((key) => `!${key}`),
    fc.tuple(word, fc.constantFrom("=", "==", "!="), word).map((parts) => parts.join("")),
    fc
      .tuple(word, fc.constantFrom("in", "notin"), fc.array(word, { maxLength: 4 }))
      .map(([key, operator, values]) => `${key} ${operator} (${values.join(",")})`),
  );
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 5 }), (requirements) => {
      const first = parseLabelSelector(requirements.join(","));
      assert.ok(first.ok);
      const printed = formatLabelSelector(first.value);
      const second = parseLabelSelector(printed);
      assert.ok(second.ok);
      assert.equal(formatLabelSelector(second.value), printed);
    }),
  );
});

test("no text makes the reader throw", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof parseLabelSelector(text).ok === "boolean"));
});

test("a hostile text takes linear time", () => {
  const started = performance.now();
  for (const text of [
    "a in (".repeat(50_000),
    "!".repeat(300_000),
    `a in (${",".repeat(300_000)})`,
    " ".repeat(300_000),
  ]) {
    parseLabelSelector(text);
  }
  assert.ok(performance.now() - started < 5000);
});
