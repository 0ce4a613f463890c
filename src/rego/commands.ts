/**
 * `eval`, `test` and `check` without the terminal: files come in as data, what to print comes out as data.
 * The command line reads files and flags and writes the answer.
 */

import { unmarshalYaml, YamlFault } from "./builtins/yaml.ts";
import { CoverageRecorder, combineObservers } from "./coverage.ts";
import { RegoError } from "./evaluate/errors.ts";
import type { Observer } from "./evaluate/frame.ts";
import type { Limits, RegoEnv } from "./evaluate/machine.ts";
import { createTracer, type ExplainMode, formatTrace } from "./explain.ts";
import { loadFiles, type PolicyFile } from "./load.ts";
import { compile, type QueryResult } from "./prepare.ts";
import type { RegoVersion } from "./syntax/ast.ts";
import { type RegoErrorItem, RegoErrors } from "./syntax/errors.ts";
import { formatTable } from "./table.ts";
import { coverageJson, formatTestReport, hasFailures, testReportJson } from "./testing/report.ts";
import { runTests } from "./testing/run.ts";
import { fromPlain, parseJson, toIndentedJson, toJsonText } from "./values/json.ts";
import { RegoObject, type Value } from "./values/value.ts";

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
}

export function testCommand(options: TestOptions): CommandResult {
  try {
    const { modules, data } = loadFiles(options.files);
    const policy = compile(modules, options);
    const run = runTests(policy.modules, { ...options, data, trace: options.verbose ?? false });
    const exitCode = hasFailures(run) ? 2 : 0;
    if (run.coverage !== undefined) {
      const isLow = options.threshold !== undefined && run.coverage.coverage < options.threshold;
      const failed = exitCode === 0 ? "" : formatTestReport(run);
      const low = isLow
        ? `Code coverage threshold not met: got ${run.coverage.coverage.toFixed(2)} instead of ${options.threshold?.toFixed(2)}\n`
        : "";
      return { stdout: coverageJson(run.coverage), stderr: failed + low, exitCode: isLow ? 2 : exitCode };
    }
    const stdout =
      options.format === "json" ? testReportJson(run) : formatTestReport(run, { verbose: options.verbose ?? false });
    return { stdout, stderr: "", exitCode };
  } catch (error) {
    return failure(error, "text", "");
  }
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
    const failed = failure(error, options.format === "json" ? "json" : "text", "");
    return { ...failed, exitCode: 1 };
  }
}

function parseDocument(text: string): Value {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : unmarshalYaml(text);
}

function showAnswers(answers: readonly QueryResult[], format: EvalFormat, trace: string, coverage: unknown): string {
  switch (format) {
    case "discard":
      return trace;
    case "json": {
      const document = new RegoObject();
      if (answers.length > 0) document.set("result", answers.map(answerValue));
      if (trace !== "") document.set("explanation", trace.trimEnd().split("\n"));
      if (coverage !== undefined) document.set("coverage", fromPlain(coverage));
      return `${orderedJson(document)}\n`;
    }
    case "raw":
      return (
        trace + answers.map((answer) => `${answer.expressions.map(({ value }) => rawText(value)).join(" ")}\n`).join("")
      );
    case "values":
      return (
        trace +
        answers
          .map(
            (answer) =>
              `${toIndentedJson(
                answer.expressions.map(({ value }) => value),
                "  ",
              )}\n`,
          )
          .join("")
      );
    case "bindings":
      return (
        trace + answers.map((answer) => `${toIndentedJson(RegoObject.fromEntries(answer.values), "  ")}\n`).join("")
      );
    case "pretty":
      return trace + prettyAnswers(answers);
  }
}

function prettyAnswers(answers: readonly QueryResult[]): string {
  const [first] = answers;
  if (first === undefined) return "undefined\n";
  if (answers.length === 1 && first.values.size === 0 && first.expressions.length === 1) {
    return `${toIndentedJson(first.expressions[0]?.value ?? null, "  ")}\n`;
  }
  const names = [...first.values.keys()].sort();
  const shown = first.expressions
    .map(({ location }, index) => ({ text: location.text, index }))
    .filter(({ index }) => answers.some((answer) => answer.expressions[index]?.value !== true));
  const header = [...names, ...shown.map(({ text }) => text)];
  const rows = answers.map((answer) => [
    ...names.map((name) => toJsonText(answer.values.get(name) ?? null)),
    ...shown.map(({ index }) => toJsonText(answer.expressions[index]?.value ?? null)),
  ]);
  return formatTable(header, rows);
}

/** Objects print their keys in order, but `expressions` comes before `bindings` as in OPA. */
function orderedJson(document: RegoObject): string {
  return toIndentedJson(document, "  ").replace(
    /^ {6}"bindings": (\{[\s\S]*?\n {6}\}),\n( {6}"expressions": \[[\s\S]*?\n {6}\])/gm,
    '$2,\n      "bindings": $1',
  );
}

function answerValue(answer: QueryResult): Value {
  const value = new RegoObject();
  value.set(
    "expressions",
    answer.expressions.map(({ value: result, location }) => {
      const place = RegoObject.fromEntries([
        ["row", location.row],
        ["col", location.col],
      ]);
      return RegoObject.fromEntries([
        ["value", result],
        ["text", location.text],
        ["location", place],
      ]);
    }),
  );
  if (answer.values.size > 0) value.set("bindings", RegoObject.fromEntries(answer.values));
  return value;
}

function rawText(value: Value): string {
  return typeof value === "string" ? value : toJsonText(value);
}

function failure(error: unknown, format: "json" | "text", stderr: string): CommandResult {
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
  return { stdout: "", stderr: `${stderr}${text}\n`, exitCode: 2 };
}

function errorItems(error: unknown): readonly (Omit<RegoErrorItem, "code"> & { readonly code: string })[] | undefined {
  if (error instanceof RegoErrors) return error.errors;
  if (error instanceof RegoError) return [{ code: error.code, message: error.detail, location: error.location }];
  if (error instanceof YamlFault) return [{ code: "rego_parse_error", message: error.message, location: undefined }];
  return undefined;
}
