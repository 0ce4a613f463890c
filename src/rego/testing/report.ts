/** The report of a test run: text as `opa test` prints it, or JSON. */
import type { CoverageReport } from "../coverage.ts";
import { formatTrace } from "../explain.ts";
import type { TestResult, TestRun } from "./run.ts";

const rule = "-".repeat(80);

/** With `verbose`, passed tests are listed too, and failures show what happened. */
export function formatTestReport(run: TestRun, options: { readonly verbose?: boolean } = {}): string {
  const lines: string[] = [];
  const shown = run.results.filter(({ status }) => options.verbose || status.kind !== "Passed");
  for (const result of shown) lines.push(...formatResult(result));
  const failures = run.results.filter(({ status, trace }) => status.kind === "Failed" && trace.length > 0);
  if (options.verbose && failures.length > 0) {
    lines.push(rule, "FAILURES", rule);
    for (const result of failures) {
      const trace = formatTrace(result.trace, "fails").trimEnd().split("\n");
      lines.push(headline(result), "", ...trace.map((line) => `  ${line}`), "");
    }
  }
  if (shown.length > 0) lines.push(rule);
  const total = run.results.length;
  for (const [label, kind] of [
    ["PASS", "Passed"],
    ["FAIL", "Failed"],
    ["SKIPPED", "Skipped"],
    ["ERROR", "Errored"],
  ] as const) {
    const count = run.results.filter(({ status }) => status.kind === kind).length;
    if (count > 0 || (kind === "Passed" && total > 0 && run.results.every(({ status }) => status.kind === "Passed"))) {
      lines.push(`${label}: ${count}/${total}`);
    }
  }
  if (total === 0) lines.push("no test cases found");
  return `${lines.join("\n")}\n`;
}

export function testReportJson(run: TestRun): string {
  const results = run.results.map(({ location, package: name, name: test, status, durationNs, output }) => ({
    location: { file: location.file, row: location.row, col: location.col },
    package: name,
    name: test,
    ...(status.kind === "Failed" && { fail: true }),
    ...(status.kind === "Skipped" && { skip: true }),
    ...(status.kind === "Errored" && { error: { message: status.message } }),
    duration: durationNs,
    ...(output !== "" && { output: Buffer.from(output).toString("base64") }),
  }));
  return `${JSON.stringify(results, undefined, 2)}\n`;
}

export function coverageJson(report: CoverageReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

export function hasFailures(run: TestRun): boolean {
  return run.results.some(({ status }) => status.kind === "Failed" || status.kind === "Errored");
}

function formatResult(result: TestResult): readonly string[] {
  const { location, status, output } = result;
  const lines = [`${location.file}:${location.row}:`, headline(result)];
  if (status.kind === "Errored") lines.push(...status.message.split("\n").map((line) => `  ${line}`));
  if (output !== "")
    lines.push(
      "",
      ...output
        .trimEnd()
        .split("\n")
        .map((line) => `  ${line}`),
      "",
    );
  return lines;
}

function headline(result: TestResult): string {
  const words = { Passed: "PASS", Failed: "FAIL", Skipped: "SKIPPED", Errored: "ERROR" };
  const word = words[result.status.kind];
  const time = result.status.kind === "Skipped" ? "" : ` (${goDuration(result.durationNs)})`;
  return `${result.package}.${result.name}: ${word}${time}`;
}

/** Go prints durations in the largest unit that fits. */
export function goDuration(ns: number): string {
  if (ns < 1000) return `${ns}ns`;
  const text = (value: number): string => String(Number(value.toFixed(6)));
  if (ns < 1e6) return `${text(ns / 1e3)}µs`;
  if (ns < 1e9) return `${text(ns / 1e6)}ms`;
  return `${text(ns / 1e9)}s`;
}
