import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCommand, evalCommand, type PolicyFile, testCommand } from "./index.ts";
import { manualEnv } from "./manual-env.ts";

const env = manualEnv();
const rule = "-".repeat(80);

const policy: PolicyFile = {
  path: "p.rego",
  content: `package authz

default allow := false

allow if input.user == "root"

allow if {
	some role in data.roles
	role == input.role
}
`,
};

const tests: PolicyFile = {
  path: "p_test.rego",
  content: `package authz_test

import data.authz

test_root if authz.allow with input as {"user": "root"}

test_guest if {
	print("guest asks")
	authz.allow with input as {"user": "guest"}
}

todo_test_later if false
`,
};

test("eval prints OPA's JSON", () => {
  const { stdout, exitCode } = evalCommand({
    env,
    files: [policy],
    query: "x := data.authz.allow",
    input: '{"user": "root"}',
  });
  assert.equal(exitCode, 0);
  assert.deepEqual(JSON.parse(stdout), {
    result: [
      {
        expressions: [{ value: true, text: "x := data.authz.allow", location: { row: 1, col: 1 } }],
        bindings: { x: true },
      },
    ],
  });
  assert.ok(stdout.indexOf('"expressions"') < stdout.indexOf('"bindings"'));
});

test("eval answers an empty object for an undefined query, and fails when asked to", () => {
  assert.deepEqual(evalCommand({ env, files: [], query: "input.x" }), { stdout: "{}\n", stderr: "", exitCode: 0 });
  assert.equal(evalCommand({ env, files: [], query: "input.x", fail: true }).exitCode, 1);
  assert.equal(evalCommand({ env, files: [], query: "1 == 1", failDefined: true }).exitCode, 1);
});

test("eval keeps the digits of numbers in input and answers", () => {
  const { stdout } = evalCommand({
    env,
    files: [],
    query: "input.n + 1",
    input: '{"n": 12345678901234567890}',
    format: "raw",
  });
  assert.equal(stdout, "12345678901234567891\n");
});

const formats: readonly { format: "pretty" | "raw" | "values" | "bindings"; query: string; expected: string }[] = [
  { format: "pretty", query: '[1, {"a": 2}]', expected: '[\n  1,\n  {\n    "a": 2\n  }\n]\n' },
  { format: "pretty", query: "x := [1, 2][_]", expected: "┌───┐\n│ x │\n├───┤\n│ 1 │\n│ 2 │\n└───┘\n" },
  {
    format: "pretty",
    query: "1; true",
    expected: "┌───┬──────┐\n│ 1 │ true │\n├───┼──────┤\n│ 1 │ true │\n└───┴──────┘\n",
  },
  { format: "pretty", query: "true; false == false", expected: "true\n" },
  { format: "pretty", query: "input.x", expected: "undefined\n" },
  { format: "raw", query: '"a"', expected: "a\n" },
  { format: "values", query: "1; 2", expected: "[\n  1,\n  2\n]\n" },
  { format: "bindings", query: "x = 1; y = 2", expected: '{\n  "x": 1,\n  "y": 2\n}\n' },
];
for (const { format, query, expected } of formats) {
  test(`eval --format ${format} of ${query}`, () => {
    assert.equal(evalCommand({ env, files: [], query, format }).stdout, expected);
  });
}

test("eval reports errors as JSON with code and place", () => {
  const { stdout, exitCode } = evalCommand({
    env,
    files: [{ path: "bad.rego", content: "package x\np { true }" }],
    query: "data",
  });
  assert.equal(exitCode, 2);
  assert.deepEqual(JSON.parse(stdout), {
    errors: [
      {
        message: "`if` keyword is required before rule body",
        code: "rego_parse_error",
        location: { file: "bad.rego", row: 2, col: 1 },
      },
    ],
  });
});

test("data files are merged, also below the folders that they come from", () => {
  const files: PolicyFile[] = [
    { path: "roles.json", content: '{"roles": ["admin"]}' },
    { path: "a/b/data.yaml", content: "x: 1\n", dataPath: ["a", "b"] },
  ];
  const { stdout } = evalCommand({ env, files, query: "data", format: "raw" });
  assert.equal(stdout, '{"a":{"b":{"x":1}},"roles":["admin"]}\n');
  const twice = evalCommand({ env, files: [...files, { path: "more.json", content: '{"roles": 1}' }], query: "data" });
  assert.equal(twice.exitCode, 2);
  assert.match(twice.stdout, /more\.json/);
});

test("test counts, prints what failed and exits with 2", () => {
  const { stdout, exitCode } = testCommand({ env, files: [policy, tests] });
  assert.equal(exitCode, 2);
  assert.equal(
    stdout.replace(/\([\d.]+[µnm]?s\)/g, "(T)"),
    [
      "p_test.rego:7:",
      "data.authz_test.test_guest: FAIL (T)",
      "",
      "  guest asks",
      "",
      "p_test.rego:12:",
      "data.authz_test.todo_test_later: SKIPPED",
      "-".repeat(80),
      "PASS: 1/3",
      "FAIL: 1/3",
      "SKIPPED: 1/3",
      "",
    ].join("\n"),
  );
});

test("test -r runs the tests whose names match", () => {
  const { stdout, exitCode } = testCommand({ env, files: [policy, tests], run: "root", verbose: true });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^p_test\.rego:5:\ndata\.authz_test\.test_root: PASS \(.*\)\n-{80}\nPASS: 1\/1\n$/);
});

test("test --coverage reports lines, and a threshold", () => {
  const { stdout } = testCommand({ env, files: [policy, tests], run: "root", coverage: true });
  const report = JSON.parse(stdout) as { files: { [file: string]: { coverage: number } } };
  assert.ok((report.files["p.rego"]?.coverage ?? 0) > 0);
  assert.equal(testCommand({ env, files: [policy, tests], run: "root", coverage: true, threshold: 100 }).exitCode, 2);
});

test("test --format json has OPA's fields", () => {
  const { stdout } = testCommand({ env, files: [policy, tests], run: "guest", format: "json" });
  const [result] = JSON.parse(stdout) as { package: string; name: string; fail: boolean; output: string }[];
  assert.equal(result?.package, "data.authz_test");
  assert.equal(result?.name, "test_guest");
  assert.equal(result?.fail, true);
  assert.equal(Buffer.from(result?.output ?? "", "base64").toString(), "guest asks\n");
});

test("a test that ends in an error is an error, not a failure", () => {
  const content = "package t\ntest_x if c == 1\nc := 1\nc := 2 if true";
  const { stdout, exitCode } = testCommand({ env, files: [{ path: "t.rego", content }] });
  assert.equal(exitCode, 2);
  assert.match(stdout, /data\.t\.test_x: ERROR[\s\S]*eval_conflict_error[\s\S]*ERROR: 1\/1/);
});

test("skipped tests are not passed ones, unless the caller says so", () => {
  const files = [{ path: "t.rego", content: "package t\ntodo_test_x if false\ntest_y if true" }];
  assert.equal(testCommand({ env, files }).exitCode, 2);
  assert.equal(testCommand({ env, files, exitsZeroOnSkipped: true }).exitCode, 0);
});

const caseTests: readonly { readonly name: string; readonly content: string; readonly report: readonly string[] }[] = [
  {
    name: "a case that fails is found although the document of the test has no place for it",
    content:
      'test_sum[c.note] if {\n\tsome c in [{"note": "a", "n": 1}, {"note": "b", "n": 2}]\n\tx := c.n\n\tx == 1\n}',
    report: ["t.rego:2:", "data.t.test_sum: FAIL (T)", "  b: FAIL", rule, "PASS: 1/2", "FAIL: 1/2"],
  },
  {
    name: "cases may be in groups",
    content: 'test_deep[a][b] if {\n\tsome a in ["x"]\n\tsome b in [1, 2]\n\tb == 1\n}',
    report: ["t.rego:2:", "data.t.test_deep: FAIL (T)", "  x: FAIL", "    2: FAIL", rule, "PASS: 1/2", "FAIL: 1/2"],
  },
  { name: "all cases hold", content: 'test_all[x] if some x in ["a", "b"]', report: ["PASS: 2/2"] },
  {
    name: "a test has to be true, not only defined",
    content: "test_set contains 1",
    report: ["t.rego:2:", "data.t.test_set: FAIL (T)", rule, "FAIL: 1/1"],
  },
];
for (const { name, content, report } of caseTests) {
  test(`test: ${name}`, () => {
    const { stdout } = testCommand({ env, files: [{ path: "t.rego", content: `package t\n${content}` }] });
    assert.deepEqual(
      stdout
        .replace(/\([\d.]+[µnm]?s\)/g, "(T)")
        .trimEnd()
        .split("\n"),
      report,
    );
  });
}

test("with coverage, a failed test is reported instead of it", () => {
  const { stdout, stderr, exitCode } = testCommand({ env, files: [policy, tests], coverage: true });
  assert.equal(exitCode, 1);
  assert.match(stdout, /^p_test\.rego:7:\ndata\.authz_test\.test_guest: FAIL/);
  assert.match(stderr, /^data\.authz_test\.test_guest: FAIL \(.*\)\n\n$/);
});

test("coverage that is too low says where when asked to", () => {
  const options = { env, files: [policy, tests], run: "root", threshold: 100, coverage: true };
  const { stdout, stderr } = testCommand({ ...options, verbose: true });
  assert.equal(stdout, "");
  assert.match(
    stderr,
    /^Code coverage threshold not met: got [\d.]+ instead of 100\.00\nLines not covered:\n\tp\.rego:/,
  );
  assert.doesNotMatch(testCommand(options).stderr, /Lines/);
});

test("what does not parse is an error of loading, for test and check", () => {
  const files = [{ path: "b.rego", content: "package b\np if {" }];
  const prefix = /^1 error occurred during loading: b\.rego:2: rego_parse_error/;
  assert.match(checkCommand({ env, files }).stderr, prefix);
  const { stderr, exitCode } = testCommand({ env, files });
  assert.match(stderr, prefix);
  assert.equal(exitCode, 1);
});

test("check says nothing about good policies and everything about bad ones", () => {
  assert.deepEqual(checkCommand({ env, files: [policy] }), { stdout: "", stderr: "", exitCode: 0 });
  const bad = checkCommand({ env, files: [{ path: "b.rego", content: "package b\np if x > 1" }] });
  assert.deepEqual(bad, {
    stdout: "",
    stderr: "1 error occurred: b.rego:2: rego_unsafe_var_error: var x is unsafe\n",
    exitCode: 1,
  });
});
