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
    const { stdout, stderr } = failure(error, options.format === "json" ? "json" : "text", "");
    return { stdout: "", stderr: stdout + stderr, exitCode: 1 };
  }
}

function parseDocument(text: string): Value {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : unmarshalYaml(text);
}

function showAnswers(answers: readonly QueryResult[], format: EvalFormat, trace: string, coverage: unknown): string {
  switch (format) {
    case "discard":
      return answers.length === 0 ? "{}\n" : `${block("{", [`"result": "discarded"`], "}", 0)}\n`;
    case "json": {
      const extra: (readonly [string, Value])[] = [];
      if (trace !== "") extra.push(["explanation", trace.trimEnd().split("\n")]);
      if (coverage !== undefined) extra.push(["coverage", fromPlain(coverage)]);
      return `${answersJson(answers, extra)}\n`;
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

/** The result as `opa eval` prints it: the fields stand in the order in which OPA has them, not in that of their names. */
function answersJson(answers: readonly QueryResult[], extra: readonly (readonly [string, Value])[]): string {
  const fields = extra.map(([name, value]) => `"${name}": ${indented(value, 1)}`);
  if (answers.length > 0)
    fields.unshift(
      `"result": ${list(
        answers.map((answer) => answerJson(answer)),
        1,
      )}`,
    );
  return fields.length === 0 ? "{}" : block("{", fields, "}", 0);
}

function answerJson(answer: QueryResult): string {
  const expressions = answer.expressions.map(({ value, location }) =>
    block(
      "{",
      [
        `"value": ${indented(value, 5)}`,
        `"text": ${toJsonText(location.text, { escapeHtml: true })}`,
        `"location": ${block("{", [`"row": ${location.row}`, `"col": ${location.col}`], "}", 5)}`,
      ],
      "}",
      4,
    ),
  );
  const fields = [`"expressions": ${list(expressions, 3)}`];
  if (answer.values.size > 0) fields.push(`"bindings": ${indented(RegoObject.fromEntries(answer.values), 3)}`);
  return block("{", fields, "}", 2);
}

const list = (items: readonly string[], depth: number): string => block("[", items, "]", depth);

function block(open: string, items: readonly string[], close: string, depth: number): string {
  const line = `\n${"  ".repeat(depth + 1)}`;
  return `${open}${line}${items.join(`,${line}`)}\n${"  ".repeat(depth)}${close}`;
}

function indented(value: Value, depth: number): string {
  return toIndentedJson(value, "  ", "  ".repeat(depth), true);
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
  const shown = error instanceof RegoError ? `1 error occurred: ${text}` : text;
  return { stdout: "", stderr: `${stderr}${shown}\n`, exitCode: 2 };
}

function errorItems(error: unknown): readonly (Omit<RegoErrorItem, "code"> & { readonly code: string })[] | undefined {
  if (error instanceof RegoErrors) return error.errors;
  if (error instanceof RegoError) return [{ code: error.code, message: error.detail, location: error.location }];
  if (error instanceof YamlFault) return [{ code: "rego_parse_error", message: error.message, location: undefined }];
  return undefined;
}
