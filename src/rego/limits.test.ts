import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, type EvaluateOptions, RegoError } from "./index.ts";
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
