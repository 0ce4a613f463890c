/**
 * `eval`, `test` and `check` without the terminal: files come in as data, what to print comes out as data.
 * The command line reads files and flags and writes the answer.
 */

import { unmarshalYaml, YamlFault } from "./builtins/yaml.ts";
import { CoverageRecorder, type CoverageReport, combineObservers } from "./coverage.ts";
import { RegoError } from "./evaluate/errors.ts";
import type { Observer } from "./evaluate/frame.ts";
import type { Limits, RegoEnv } from "./evaluate/machine.ts";
import { createTracer, type ExplainMode, formatTrace } from "./explain.ts";
import { loadFiles, type PolicyFile } from "./load.ts";
import { compile } from "./prepare.ts";
import { showAnswers } from "./show-answers.ts";
import type { RegoVersion } from "./syntax/ast.ts";
import { type RegoErrorItem, RegoErrors } from "./syntax/errors.ts";
import { coverageJson, formatLowCoverage, formatTestReport, headline, testReportJson } from "./testing/report.ts";
import { runTests, type TestResult } from "./testing/run.ts";
import { parseJson } from "./values/json.ts";
import type { Value } from "./values/value.ts";

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export type EvalFormat = "json" | "pretty" | "raw" | "values" | "bindings" | "discard";

interface CommonOptions {
  readonly env: RegoEnv;
  readonly version?: RegoVersion;
  readonly strict?: boolean;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
}

export interface EvalOptions extends CommonOptions {
  readonly files: readonly PolicyFile[];
  readonly query: string;
  /** The text of the input document, JSON or YAML. */
  readonly input?: string;
  readonly format?: EvalFormat;
  readonly explain?: ExplainMode;
  readonly coverage?: boolean;
  readonly strictBuiltinErrors?: boolean;
  /** Exit with 1 if the query is undefined. */
  readonly fail?: boolean;
  /** Exit with 1 if the query is defined. */
  readonly failDefined?: boolean;
  readonly package?: string;
}

export function evalCommand(options: EvalOptions): CommandResult {
  const format = options.format ?? "json";
  const printed: string[] = [];
  try {
    const { modules, data } = loadFiles(options.files);
    const policy = compile(modules, { ...options, keepsPrint: true });
    const recorder = options.coverage ? new CoverageRecorder() : undefined;
    const tracer = options.explain === undefined ? undefined : createTracer();
    const observers = [recorder?.observer, tracer?.observer].filter((item): item is Observer => item !== undefined);
    const observer = combineObservers(observers);
    const query = policy.query(options.query, {
      ...(observer && { observer }),
      ...(options.package !== undefined && { package: options.package.split(".") }),
    });
    const input = options.input === undefined ? undefined : parseDocument(options.input);
    const answers = query.evaluate({
      data,
      ...(input !== undefined && { inputValue: input }),
      strictBuiltinErrors: options.strictBuiltinErrors ?? false,
      onPrint: (message) => printed.push(`${message}\n`),
      ...(tracer && { onTrace: tracer.note }),
      ...(options.signal && { signal: options.signal }),
    });
    const trace =
      tracer === undefined || options.explain === undefined ? "" : formatTrace(tracer.events, options.explain);
    const stdout = showAnswers(answers, format, trace, recorder?.report(policy.modules));
    const isDefined = answers.length > 0;
    const exitCode = (options.fail && !isDefined) || (options.failDefined && isDefined) ? 1 : 0;
    return { stdout, stderr: printed.join(""), exitCode };
  } catch (error) {
    return failure(error, format === "json" ? "json" : "text", printed.join(""));
  }
}

export interface TestOptions extends CommonOptions {
  readonly files: readonly PolicyFile[];
  readonly verbose?: boolean;
  /** A pattern for the names of tests to run. */
  readonly run?: string;
  readonly coverage?: boolean;
  readonly format?: "pretty" | "json";
  /** Coverage below this percentage is a failure. */
  readonly threshold?: number;
  /** Tests that are skipped are no reason to exit with 2. */
  readonly exitsZeroOnSkipped?: boolean;
}

export function testCommand(options: TestOptions): CommandResult {
  const verbose = options.verbose ?? false;
  try {
    const { modules, data } = loadFiles(options.files);
    const policy = compile(modules, options);
    const run = runTests(policy.modules, { ...options, data, trace: verbose });
    if (run.coverage !== undefined) return coverageResult(run.results, run.coverage, options);
    const stdout = options.format === "json" ? testReportJson(run) : formatTestReport(run, { verbose });
    const isGood = ({ status }: TestResult): boolean =>
      status.kind === "Passed" || (status.kind === "Skipped" && (options.exitsZeroOnSkipped ?? false));
    return { stdout, stderr: "", exitCode: run.results.every(isGood) ? 0 : 2 };
  } catch (error) {
    return { ...failure(error, "loading", ""), exitCode: 1 };
  }
}

/** Coverage counts only when all tests passed; otherwise what failed is said instead. */
function coverageResult(
  results: readonly TestResult[],
  coverage: CoverageReport,
  { verbose = false, threshold = 0 }: TestOptions,
): CommandResult {
  for (const { status } of results) {
    if (status.kind === "Errored") return { stdout: "", stderr: `${status.error.message}\n`, exitCode: 1 };
  }
  const failures = results.filter(({ status }) => status.kind === "Failed");
  const [first] = failures;
  if (first !== undefined) {
    const stdout = formatTestReport({ results: failures }, { verbose });
    return { stdout, stderr: `${headline(first)}\n\n`, exitCode: 1 };
  }
  if (coverage.coverage < threshold)
    return { stdout: "", stderr: formatLowCoverage(coverage, threshold, verbose), exitCode: 2 };
  return { stdout: coverageJson(coverage), stderr: "", exitCode: 0 };
}

export interface CheckOptions extends CommonOptions {
  readonly files: readonly PolicyFile[];
  readonly format?: "pretty" | "json";
}

/** Says nothing when everything compiles. */
export function checkCommand(options: CheckOptions): CommandResult {
  try {
    const { modules } = loadFiles(options.files);
    compile(modules, options);
    return { stdout: "", stderr: "", exitCode: 0 };
  } catch (error) {
    const { stdout, stderr } = failure(error, options.format === "json" ? "json" : "loading", "");
    return { stdout: "", stderr: stdout + stderr, exitCode: 1 };
  }
}

function parseDocument(text: string): Value {
  const parsed = parseJson(text);
  if (parsed.ok && parsed.rangeFault !== undefined) throw new YamlFault(`invalid number: ${parsed.rangeFault}`);
  return parsed.ok ? parsed.value : unmarshalYaml(text);
}

/** `loading` is text that tells mistakes in a file from those that show when all files are put together. */
function failure(error: unknown, format: "json" | "text" | "loading", stderr: string): CommandResult {
  const errors = errorItems(error);
  if (errors === undefined) throw error;
  if (format === "json") {
    const items = errors.map(({ message, code, location, details }) => ({
      message,
      code,
      ...(location && { location: { file: location.file, row: location.row, col: location.col } }),
      ...(details !== undefined &&
        details.length > 0 &&
        code === "rego_parse_error" && { details: { line: details[0], idx: (details[1] ?? "").length - 1 } }),
    }));
    return { stdout: `${JSON.stringify({ errors: items }, undefined, 2)}\n`, stderr, exitCode: 2 };
  }
  const text = error instanceof Error ? error.message : String(error);
  const isLoading = format === "loading" && errors.every(({ code }) => code === "rego_parse_error");
  const shown =
    error instanceof RegoError
      ? `1 error occurred: ${text}`
      : isLoading
        ? text.replace(/^\d+ errors? occurred/, "$& during loading")
        : text;
  return { stdout: "", stderr: `${stderr}${shown}\n`, exitCode: 2 };
}

function errorItems(error: unknown): readonly (Omit<RegoErrorItem, "code"> & { readonly code: string })[] | undefined {
  if (error instanceof RegoErrors) return error.errors;
  if (error instanceof RegoError) return [{ code: error.code, message: error.detail, location: error.location }];
  if (error instanceof YamlFault) return [{ code: "rego_parse_error", message: error.message, location: undefined }];
  return undefined;
}
