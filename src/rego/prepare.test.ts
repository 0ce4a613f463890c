import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CoverageRecorder,
  compile,
  createTracer,
  type EvaluateOptions,
  formatTrace,
  type PolicyOptions,
  RegoError,
  RegoErrors,
  toJsonText,
} from "./index.ts";
import { manualEnv } from "./manual-env.ts";

function answers(
  source: string,
  query: string,
  evaluation: EvaluateOptions = {},
  options: Partial<PolicyOptions> = {},
): string[] {
  const policy = compile([{ file: "policy.rego", source }], { env: manualEnv(), ...options });
  return policy
    .query(query)
    .evaluate(evaluation)
    .map((answer) => toJsonText(answer.expressions[0]?.value ?? null));
}

function compileError(source: string, options: Partial<PolicyOptions> = {}): string {
  try {
    compile([{ file: "policy.rego", source }], { env: manualEnv(), ...options });
  } catch (error) {
    assert.ok(error instanceof RegoErrors);
    return error.message;
  }
  return "compiles";
}

const decisions: readonly {
  name: string;
  source: string;
  query: string;
  input?: unknown;
  data?: unknown;
  expected: string[];
}[] = [
  {
    name: "strings.replace_n puts what replaces nothing before every character, and replaces the characters too",
    source: 'package a\np := strings.replace_n({"": "-", "é": "e"}, "aéb")',
    query: "data.a.p",
    expected: ['"-a-e-b-"'],
  },
  {
    name: "inside a function that replaces another, every function is itself again",
    source:
      "package a\nf(x) := 0\ng(x) := count(x)\np := y if y := q with count as f\nq := y if y := r with object.union_n as g\nr := object.union_n([{}])",
    query: "data.a.p",
    expected: ["1"],
  },
  {
    name: "a default stands in for a rule without an answer",
    source: 'package a\ndefault allow := false\nallow if input.user == "root"',
    query: "data.a.allow",
    input: { user: "guest" },
    expected: ["false"],
  },
  {
    name: "an undefined rule gives no answer at all",
    source: 'package a\nallow if input.user == "root"',
    query: "data.a.allow",
    input: {},
    expected: [],
  },
  {
    name: "false is an answer, undefined is not",
    source: "package a\np := input.x",
    query: "data.a.p",
    input: { x: false },
    expected: ["false"],
  },
  {
    name: "integers beyond 2^53 keep every digit",
    source: "package a\np := 9007199254740993 * 3",
    query: "data.a.p",
    expected: ["27021597764222979"],
  },
  {
    name: "decimals are added as OPA adds them",
    source: "package a\np := 0.1 + 0.2",
    query: "data.a.p",
    expected: ["0.3"],
  },
  {
    name: "sets come out sorted and without repetition",
    source: "package a\np contains x if some x in [3, 1, 2, 1]",
    query: "data.a.p",
    expected: ["[1,2,3]"],
  },
  {
    name: "objects from several rules are one document",
    source: 'package a\np[x] := 1 if some x in ["b", "a"]\np.c := 2',
    query: "data.a.p",
    expected: ['{"a":1,"b":1,"c":2}'],
  },
  {
    name: "a negated call of an undefined operand is undefined, not true",
    source: 'package a\np if not startswith(input.x, "a")',
    query: "data.a.p",
    input: {},
    expected: [],
  },
  {
    name: "a package is an object of rules and base documents",
    source: "package a\np := 1",
    query: "data.a",
    data: { a: { q: 2 } },
    expected: ['{"p":1,"q":2}'],
  },
  {
    name: "with replaces documents and functions only where it stands",
    source: "package a\nf(x) := x\ng(_) := 9\np := [f(1), y, f(2)] if y := f(1) with f as g",
    query: "data.a.p",
    expected: ["[1,9,2]"],
  },
  {
    name: "else is tried in order",
    source: "package a\np := 1 if input.x == 1\nelse := 2 if input.x == 2\nelse := 3",
    query: "data.a.p",
    input: { x: 2 },
    expected: ["2"],
  },
  {
    name: "every holds for an empty domain",
    source: "package a\np if every x in [] { x > 1 }",
    query: "data.a.p",
    expected: ["true"],
  },
];

for (const { name, source, query, input, data, expected } of decisions) {
  test(name, () => {
    assert.deepEqual(answers(source, query, { input, data }), expected);
  });
}

const refusals: readonly {
  name: string;
  source: string;
  expected: string | RegExp;
  options?: Partial<PolicyOptions>;
}[] = [
  {
    name: "a parse error names file, line and place",
    source: "package a\np := [1, 2",
    expected:
      /^2 errors occurred:\npolicy\.rego:2: rego_parse_error: unexpected eof token: expected "," or "\]"\n\tp := \[1, 2\n\t {9}\^/,
  },
  {
    name: "v1 wants if before a body",
    source: "package a\np { true }",
    expected: "1 error occurred: policy.rego:2: rego_parse_error: `if` keyword is required before rule body",
  },
  {
    name: "a variable without values is unsafe",
    source: "package a\np if x > 1",
    expected: "1 error occurred: policy.rego:2: rego_unsafe_var_error: var x is unsafe",
  },
  {
    name: "rules may not depend on themselves",
    source: "package a\np if q\nq if p",
    expected:
      "2 errors occurred:\npolicy.rego:2: rego_recursion_error: rule data.a.p is recursive: data.a.p -> data.a.q -> data.a.p\npolicy.rego:3: rego_recursion_error: rule data.a.q is recursive: data.a.q -> data.a.p -> data.a.q",
  },
  {
    name: "a set and a value cannot share a name",
    source: "package a\np := 1\np contains 2",
    expected: "1 error occurred: policy.rego:2: rego_type_error: conflicting rules data.a.p found",
  },
  {
    name: "operands that a built-in never accepts are refused",
    source: 'package a\np := startswith(1, "a")',
    expected: /rego_type_error: startswith: invalid argument\(s\)\n\thave: \(number, string, \?\?\?\)/,
  },
  {
    name: "comparisons that never hold are refused",
    source: 'package a\np if { x := 1; x == "a" }',
    expected: /rego_type_error: match error\n\tleft {2}: number\n\tright : string/,
  },
  {
    name: "unknown functions are refused",
    source: "package a\np := frobnicate(1)",
    expected: "1 error occurred: policy.rego:2: rego_type_error: undefined function frobnicate",
  },
  {
    name: "strict mode reports unused assignments",
    source: "package a\np if { x := 1; true }",
    options: { strict: true },
    expected: "1 error occurred: policy.rego:2: rego_compile_error: assigned var x unused",
  },
  {
    name: "strict mode reports unused imports",
    source: "package a\nimport data.b\np := 1",
    options: { strict: true },
    expected: "1 error occurred: policy.rego:2: rego_compile_error: import data.b unused",
  },
  {
    name: "a variable is declared once per body",
    source: "package a\np if { x := 1; x := 2; x > 0 }",
    expected: "1 error occurred: policy.rego:2: rego_compile_error: var x assigned above",
  },
];

for (const { name, source, expected, options } of refusals) {
  test(name, () => {
    const message = compileError(source, options);
    if (typeof expected === "string") assert.equal(message, expected);
    else assert.match(message, expected);
  });
}

test("v0 modules need no if, and their rules may be called with v0 queries", () => {
  assert.deepEqual(answers("package a\np[x] { x = 1 }", "data.a.p", {}, { version: "v0" }), ["[1]"]);
});

test("a rule that is null says null, and not true", () => {
  assert.deepEqual(answers("package p\nallow := null", "data.p.allow"), ["null"]);
  assert.deepEqual(answers("package p", "x := null"), ["true"]);
});

test("empty parentheses behind a name make a rule, not a function", () => {
  assert.deepEqual(answers("package a\nf() = 1", "data.a", {}, { version: "v0" }), ['{"f":1}']);
});

test("two values for one rule are a conflict", () => {
  assert.throws(
    () => answers("package a\np := x if some x in [1, 2]", "data.a.p"),
    (error: unknown) => error instanceof RegoError && error.code === "eval_conflict_error",
  );
});

test("built-in errors are undefined, or errors when asked for", () => {
  const source = "package a\np := 1 / input.x";
  assert.deepEqual(answers(source, "data.a.p", { input: { x: 0 } }), []);
  assert.throws(
    () => answers(source, "data.a.p", { input: { x: 0 }, strictBuiltinErrors: true }),
    (error: unknown) =>
      error instanceof RegoError && error.code === "eval_builtin_error" && /div: divide by zero/.test(error.message),
  );
});

test("a query with several answers gives bindings for each", () => {
  const query = compile([], { env: manualEnv() }).query("x := [1, 2][_]; y := x * 2");
  assert.deepEqual(
    query.evaluate().map(({ bindings }) => bindings),
    [
      { x: 1, y: 2 },
      { x: 2, y: 4 },
    ],
  );
});

test("a prepared query answers for each input on its own", () => {
  const query = compile([{ file: "p.rego", source: "package a\np := input.x + 1" }], { env: manualEnv() }).query(
    "data.a.p",
  );
  assert.deepEqual(
    [1, 5, 3].map((x) => query.evaluate({ input: { x } })[0]?.expressions[0]?.value),
    [2, 6, 4],
  );
});

test("the network is closed unless the caller opens it", () => {
  const source = 'package a\np := http.send({"method": "get", "url": "http://example.com"}).status_code';
  assert.throws(
    () => answers(source, "data.a.p", { strictBuiltinErrors: true }),
    (error: unknown) => error instanceof RegoError && /network access is not allowed/.test(error.message),
  );
});

test("http.send asks the caller's transport once and decodes JSON", () => {
  let calls = 0;
  const env = manualEnv({
    httpSend: ({ method, url }) => {
      calls++;
      return {
        status: 200,
        statusText: "OK",
        headers: { "Content-Type": "application/json" },
        body: `{"m":"${method}","u":"${url}"}`,
      };
    },
  });
  const source =
    'package a\nreq := {"method": "get", "url": "http://h"}\np := [http.send(req).body, http.send(req).status_code]';
  assert.deepEqual(answers(source, "data.a.p", {}, { env }), ['[{"m":"GET","u":"http://h"},200]']);
  assert.equal(calls, 1);
});

test("the clock stands still during one evaluation", () => {
  let calls = 0n;
  const env = manualEnv({ nowNs: () => 1000n + calls++ });
  const policy = compile([{ file: "p.rego", source: "package a\np if time.now_ns() == time.now_ns()" }], { env });
  assert.equal(policy.query("data.a.p").evaluate()[0]?.expressions[0]?.value, true);
});

test("custom built-ins are called like any other", () => {
  const customBuiltins = new Map([
    ["greet", { arity: 1, call: ([name]: readonly unknown[]) => `hello ${String(name)}` }],
  ]);
  assert.deepEqual(answers('package a\np := greet("you")', "data.a.p", {}, { customBuiltins }), ['"hello you"']);
});

test("a trace tells which expression failed", () => {
  const tracer = createTracer();
  const source = "package a\nallow if {\n  input.x > 1\n  input.y > 1\n}";
  const policy = compile([{ file: "p.rego", source }], { env: manualEnv() });
  policy.query("data.a.allow", { observer: tracer.observer }).evaluate({ input: { x: 2, y: 0 } });
  assert.match(formatTrace(tracer.events, "fails"), /p\.rego:4 +\| Fail input\.y > 1/);
});

test("a trace does not call failed what was satisfied", () => {
  const tracer = createTracer();
  const source = "package a\nf(x) := y if y := x + 1\nallow if {\n  some x in [1, 2]\n  f(x) == 3\n}";
  const policy = compile([{ file: "p.rego", source }], { env: manualEnv() });
  policy.query("data.a.allow; data.a.f(1) == 2", { observer: tracer.observer }).evaluate();
  const failed = tracer.events.filter(({ op }) => op === "Fail").map(({ text }) => text);
  assert.deepEqual(failed, ["f(x) == 3"]);
});

test("a rule that the input cannot fit is not even started, and so not covered", () => {
  const recorder = new CoverageRecorder();
  const source = 'package a\np if {\n  input.x\n  input.y == "z"\n}';
  const policy = compile([{ file: "p.rego", source }], { env: manualEnv() });
  policy.query("data.a.p", { observer: recorder.observer }).evaluate({ input: { x: true, y: "a" } });
  assert.equal(recorder.report(policy.modules).files["p.rego"]?.covered, undefined);
});

test("coverage counts heads and expressions", () => {
  const recorder = new CoverageRecorder();
  const source = "package a\np if {\n  input.x\n  input.y\n}\nq := 1";
  const policy = compile([{ file: "p.rego", source }], { env: manualEnv() });
  policy.query("data.a", { observer: recorder.observer }).evaluate({ input: { x: true, y: false } });
  const report = recorder.report(policy.modules).files["p.rego"];
  assert.deepEqual(
    report?.not_covered?.map(({ start }) => start.row),
    [2],
  );
  assert.equal(report?.coverage, 75);
});
