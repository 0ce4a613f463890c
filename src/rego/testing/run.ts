/** Runs the `test_` rules of modules: each is a policy decision that has to be true. */
import { RE2JS } from "re2js";
import { dataRef } from "../compile/globals.ts";
import { noteTestCase } from "../compile/test-cases.ts";
import { CoverageRecorder, type CoverageReport, combineObservers } from "../coverage.ts";
import { RegoError } from "../evaluate/errors.ts";
import type { Observer } from "../evaluate/frame.ts";
import { createTracer, type TraceEvent } from "../explain.ts";
import { type EvaluateOptions, type Policy, type PolicyOptions, policyOf } from "../prepare.ts";
import type { Location, Module, Rule } from "../syntax/ast.ts";
import { termExpr } from "../syntax/ast.ts";
import type { Value } from "../values/value.ts";
import { casesOf, hasFailedCase, type TestCases } from "./cases.ts";

export type TestStatus =
  | { readonly kind: "Passed" }
  | { readonly kind: "Failed" }
  | { readonly kind: "Skipped" }
  | { readonly kind: "Errored"; readonly error: RegoError };

export interface TestResult {
  readonly package: string;
  readonly name: string;
  readonly location: Location;
  readonly status: TestStatus;
  readonly durationNs: number;
  /** What the test printed. */
  readonly output: string;
  readonly trace: readonly TraceEvent[];
  /** Empty unless the test has cases. */
  readonly cases: TestCases;
}

export interface TestRunOptions extends PolicyOptions {
  /** Only tests whose full name (`data.pkg.test_x`) matches this pattern. */
  readonly run?: string;
  readonly data?: EvaluateOptions["data"];
  readonly coverage?: boolean;
  readonly trace?: boolean;
  readonly signal?: AbortSignal;
}

export interface TestRun {
  readonly results: readonly TestResult[];
  readonly coverage: CoverageReport | undefined;
}

/** Throws `RegoErrors` if the modules do not compile or the pattern is not valid. */
export function runTests(modules: readonly Module[], options: TestRunOptions): TestRun {
  const pattern = options.run === undefined ? undefined : RE2JS.compile(options.run);
  const recorder = options.coverage ? new CoverageRecorder() : undefined;
  const begun: Value[] = [];
  const noting = {
    arity: 1,
    call: ([path]: readonly Value[]): Value => {
      if (path !== undefined) begun.push(path);
      return true;
    },
  };
  const customBuiltins = new Map([...(options.customBuiltins ?? []), [noteTestCase, noting] as const]);
  const policy = policyOf(modules, { ...options, customBuiltins, keepsPrint: true, notesTestCases: true });
  const results: TestResult[] = [];
  for (const test of findTests(modules)) {
    const fullName = `data.${test.module.packagePath.join(".")}.${test.name}`;
    if (pattern !== undefined && !pattern.matcher(fullName).find()) continue;
    if (options.signal?.aborted) break;
    begun.length = 0;
    results.push(runTest(test, policy, options, recorder, begun));
  }
  return { results, coverage: recorder?.report(modules) };
}

interface FoundTest {
  readonly module: Module;
  readonly rule: Rule;
  readonly name: string;
}

function findTests(modules: readonly Module[]): readonly FoundTest[] {
  const tests: FoundTest[] = [];
  const seen = new Set<string>();
  for (const module of [...modules].sort((left, right) => (left.file < right.file ? -1 : 1))) {
    for (const rule of module.rules) {
      const [head] = rule.head.ref.parts;
      if (head?.kind !== "var" || rule.head.args !== undefined || rule.isDefault) continue;
      if (!/^(todo_)?test_/.test(head.name)) continue;
      const key = [...module.packagePath, head.name].join("\u0000");
      if (seen.has(key)) continue;
      seen.add(key);
      tests.push({ module, rule, name: head.name });
    }
  }
  return tests;
}

function runTest(
  { module, rule, name }: FoundTest,
  policy: Policy,
  options: TestRunOptions,
  recorder: CoverageRecorder | undefined,
  begun: readonly Value[],
): TestResult {
  const base = { package: `data.${module.packagePath.join(".")}`, name, location: rule.loc };
  if (name.startsWith("todo_")) {
    return { ...base, status: { kind: "Skipped" }, durationNs: 0, output: "", trace: [], cases: new Map() };
  }
  const tracer = options.trace ? createTracer() : undefined;
  const observers = [recorder?.observer, tracer?.observer].filter(
    (observer): observer is Observer => observer !== undefined,
  );
  const observer = combineObservers(observers);
  const output: string[] = [];
  const ref = dataRef([...module.packagePath, name]);
  let status: TestStatus;
  let cases: TestCases = new Map();
  const startMs = options.env.monotonicMs();
  try {
    const query = policy.query([termExpr(ref)], observer === undefined ? {} : { observer });
    const answers = query.evaluate({
      data: options.data ?? {},
      onPrint: (message) => output.push(`${message}\n`),
      ...(tracer && { onTrace: tracer.note }),
      ...(options.signal && { signal: options.signal }),
    });
    const value = answers[0]?.expressions[0]?.value;
    if (hasCases(rule) && value !== undefined) cases = casesOf(value, begun);
    const isPassed = hasCases(rule) ? value !== undefined && !hasFailedCase(cases) : value === true;
    status = { kind: isPassed ? "Passed" : "Failed" };
  } catch (error) {
    if (!(error instanceof RegoError)) throw error;
    status = { kind: "Errored", error };
  }
  const durationNs = Math.round((options.env.monotonicMs() - startMs) * 1e6);
  return { ...base, status, durationNs, output: output.join(""), trace: tracer?.events ?? [], cases };
}

/** `test_x[name]` is a document of cases; everything else has to be true as a whole. */
function hasCases({ head }: Rule): boolean {
  return head.ref.parts.length > 1 && head.value !== undefined;
}
