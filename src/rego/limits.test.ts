import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, type EvaluateOptions, type QueryResult, RegoError, RegoErrors } from "./index.ts";
import { manualEnv } from "./manual-env.ts";

function run(source: string, evaluation: EvaluateOptions = {}): unknown {
  const env = manualEnv({ monotonicMs: () => performance.now() });
  return compile([{ file: "p.rego", source }], { env })
    .query("data.a.p")
    .evaluate(evaluation);
}

function limitMessage(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof RegoError, String(error));
    return `${error.code}: ${error.detail}`;
  }
  return "no limit was reached";
}

const product =
  "package a\nxs := numbers.range(1, 2000)\np := count([1 | some a in xs; some b in xs; some c in xs; a + b + c == 0])";

test("instructions are limited", () => {
  const message = limitMessage(() => run(product, { limits: { maxInstructions: 100_000 } }));
  assert.equal(message, "eval_limit_error: instruction limit of 100000 exceeded");
});

test("time is limited", () => {
  const message = limitMessage(() => run(product, { limits: { maxDurationMs: 50 } }));
  assert.equal(message, "eval_limit_error: time limit of 50 ms exceeded");
});

test("the size of results is limited", () => {
  const message = limitMessage(() => run("package a\np := numbers.range(1, 1000000000000)"));
  assert.match(message, /result size limit/);
});

test("expansion of a huge network is limited", () => {
  assert.match(
    limitMessage(() => run('package a\np := net.cidr_expand("2001:db8::/32")')),
    /result size limit/,
  );
});

test("an aborted signal ends the evaluation", () => {
  const controller = new AbortController();
  controller.abort();
  const message = limitMessage(() => run(product, { signal: controller.signal }));
  assert.equal(message, "eval_cancel_error: caller cancelled query execution");
});

test("deep data does not overflow the stack unnoticed", () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 20_000; depth++) deep = [deep];
  const message = limitMessage(() => run("package a\np := count([x | walk(input, [_, x])])", { input: deep }));
  assert.match(message, /eval_limit_error/);
});

test("patterns that make other engines hang are matched in linear time", () => {
  const started = performance.now();
  run(`package a\np if regex.match("^(a+)+$", "${"a".repeat(5000)}b")`);
  assert.ok(performance.now() - started < 2000);
});

/** Sixty lines that each double the value of the line before. */
function doubled(seed: string, double: (value: string) => string, use: (value: string) => string): string {
  const lines = Array.from({ length: 60 }, (_, index) => `  x${index + 1} := ${double(`x${index}`)}`);
  return `package a\np := ${use("x60")} if {\n  x0 := ${seed}\n${lines.join("\n")}\n}`;
}

const shared = (value: string): string => `[${value}, ${value}]`;
const bombs: Readonly<Record<string, string>> = {
  "a value that shares its parts, as an answer": doubled("[1]", shared, (value) => value),
  "a value that shares its parts, as JSON": doubled("[1]", shared, (value) => `json.marshal(${value})`),
  "a value that shares its parts, in a set": doubled("[1]", shared, (value) => `{${value}, 1}`),
  "a value that shares its parts, as text": doubled("[1]", shared, (value) => `sprintf("%v", [${value}])`),
  "a value that shares its parts, walked": doubled("[1]", shared, (value) => `[1 | walk(${value}, [_, 7])]`),
  "text that is joined to itself": doubled(
    '"ab"',
    (value) => `concat("", [${value}, ${value}])`,
    (value) => value,
  ),
  "text that is replaced by itself": doubled(
    '"ab"',
    (value) => `replace(${value}, "a", ${value})`,
    (value) => value,
  ),
  "text that is written as hexadecimal": doubled(
    '"ab"',
    (value) => `hex.encode(${value})`,
    (value) => value,
  ),
  "text that is formatted": doubled(
    '"ab"',
    (value) => `sprintf("%s%s", [${value}, ${value}])`,
    (value) => value,
  ),
  "a template of loops":
    'package a\np := strings.render_template("{{range .x}}{{range $.x}}{{range $.x}}{{range $.x}}{{end}}{{end}}{{end}}{{end}}", {"x": numbers.range(1, 2000)})',
  "paths through a dense graph":
    "package a\ng := {x: numbers.range(1, 22) | some x in numbers.range(1, 22)}\np := graph.reachable_paths(g, {1})",
};

for (const [name, source] of Object.entries(bombs)) {
  test(`a small policy that grows without end is ended: ${name}`, () => {
    const message = limitMessage(() => run(source, { limits: { maxDurationMs: 300, maxResultSize: 5_000_000 } }));
    assert.match(message, /^eval_limit_error: /);
  });
}

test("source that nests deeper than the stack is refused, not a crash", () => {
  const sources: Readonly<Record<string, string>> = {
    sums: `package a\np := 1${" + 1".repeat(50_000)}`,
    every: `package a\np if { ${"every x in [1] { ".repeat(5_000)} true ${"}".repeat(5_000)} }`,
    templates: `package a\np := ${'$"{'.repeat(3_000)}1${'}"'.repeat(3_000)}`,
    arrays: `package a\np := ${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  };
  for (const [name, source] of Object.entries(sources)) assert.throws(() => run(source), RegoErrors, name);
});

test("many occurrences in a long text are found in one pass", () => {
  const source = 'package a\np := count(indexof_n(concat("", [x | numbers.range(1, 200000)[_]; x := "é"]), "é"))';
  const [answer] = run(source, { limits: { maxDurationMs: 20_000 } }) as readonly QueryResult[];
  assert.equal(answer?.expressions[0]?.value, 200_000);
});
