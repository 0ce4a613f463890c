/** The report of a test run: text as `opa test` prints it, or JSON. */
import { type CoverageReport, rowSpans } from "../coverage.ts";
import type { RegoError } from "../evaluate/errors.ts";
import { formatTrace } from "../explain.ts";
import { eachCase, type TestCases } from "./cases.ts";
import type { TestResult, TestRun, TestStatus } from "./run.ts";

const rule = "-".repeat(80);

/** With `verbose`, passed tests are listed too, and failures show what happened. */
export function formatTestReport(
  { results }: Pick<TestRun, "results">,
  options: { readonly verbose?: boolean } = {},
): string {
  const lines: string[] = [];
  const shown = results.filter(({ status }) => options.verbose || status.kind !== "Passed");
  shown.forEach((result, index) => {
    const previous = shown[index - 1];
    if (previous !== undefined && previous.location.file !== result.location.file) lines.push("");
    lines.push(...formatResult(result, options.verbose ?? false));
  });
  const failures = results.filter(({ status }) => status.kind === "Failed");
  if (options.verbose && failures.length > 0) {
    lines.push(rule, "FAILURES", rule);
    for (const result of failures) {
      const trace = formatTrace(result.trace, "fails").split("\n").slice(0, -1);
      lines.push(headline(result), "", ...trace.map((line) => `  ${line}`), "", ...failedCases(result));
    }
  }
  if (shown.length > 0) lines.push(rule);
  const outcomes = results.flatMap(outcomesOf);
  for (const [label, kind] of summary) {
    const count = outcomes.filter((outcome) => outcome === kind).length;
    if (count > 0) lines.push(`${label}: ${count}/${outcomes.length}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** Every case counts as a test. */
function outcomesOf({ status, cases }: TestResult): readonly TestStatus["kind"][] {
  if (cases.size === 0) return [status.kind];
  return [...eachCase(cases)].flatMap(({ item }) => (item.cases.size > 0 ? [] : item.failed ? "Failed" : "Passed"));
}

function failedCases({ cases }: TestResult): readonly string[] {
  const failed = [...eachCase(cases)].filter(({ item }) => item.failed);
  const lines = failed.map(({ item, depth }) => `${"  ".repeat(depth + 1)}${item.name}: FAIL`);
  return lines.length === 0 ? lines : [...lines, ""];
}

const summary = [
  ["PASS", "Passed"],
  ["FAIL", "Failed"],
  ["SKIPPED", "Skipped"],
  ["ERROR", "Errored"],
] as const;

export function testReportJson(run: TestRun): string {
  const results = run.results.map(({ location, package: name, name: test, status, durationNs, output, cases }) => ({
    location: { file: location.file, row: location.row, col: location.col },
    package: name,
    name: test,
    ...(status.kind === "Failed" && { fail: true }),
    ...(status.kind === "Skipped" && { skip: true }),
    ...(status.kind === "Errored" && { error: errorJson(status.error) }),
    duration: durationNs,
    ...(output !== "" && { output: Buffer.from(output).toString("base64") }),
    ...casesJson(cases),
  }));
  return `${JSON.stringify(results, undefined, 2)}\n`;
}

function casesJson(cases: TestCases): { readonly sub_results?: object } {
  if (cases.size === 0) return {};
  const items = [...cases].sort(([left], [right]) => (left < right ? -1 : 1));
  const shown = items.map(([name, item]) => [
    name,
    { name, ...(item.failed && { fail: true }), ...casesJson(item.cases) },
  ]);
  return { sub_results: Object.fromEntries(shown) };
}

function errorJson({ code, detail, location }: RegoError): object {
  const place = location && { location: { file: location.file, row: location.row, col: location.col } };
  return { code, message: detail, ...place };
}

export function coverageJson(report: CoverageReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

/** As the user is told when coverage is too low; with `verbose`, also where. */
export function formatLowCoverage(report: CoverageReport, threshold: number, verbose: boolean): string {
  const message = `Code coverage threshold not met: got ${report.coverage.toFixed(2)} instead of ${threshold.toFixed(2)}\n`;
  if (!verbose) return message;
  const places = Object.entries(report.files).flatMap(([file, { not_covered = [] }]) =>
    rowSpans(not_covered).map(([first, last]) => `\t${file}:${first === last ? first : `${first}-${last}`}\n`),
  );
  return `${message}Lines not covered:\n${places.join("")}`;
}

function formatResult(result: TestResult, verbose: boolean): readonly string[] {
  const { location, status, output, cases } = result;
  const lines = [`${location.file}:${location.row}:`, headline(result)];
  for (const { item, depth } of eachCase(cases)) {
    if (item.failed || verbose) lines.push(`${"  ".repeat(depth + 1)}${item.name}: ${item.failed ? "FAIL" : "PASS"}`);
  }
  if (output !== "")
    lines.push(
      "",
      ...output
        .trim()
        .split("\n")
        .map((line) => `  ${line}`),
      "",
    );
  if (status.kind === "Errored") lines.push(`  ${status.error.message}`);
  return lines;
}

/** One line about a result. */
export function headline(result: TestResult): string {
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
