/**
 * A Rego engine: compile modules once, prepare queries, evaluate them as often as you like.
 * Pure: time, chance and the network come from the caller's `RegoEnv`.
 */
export type { HttpRequest, HttpResponse } from "./builtins/http.ts";
export type { Builtin } from "./builtins/operands.ts";
export {
  type CheckOptions,
  type CommandResult,
  checkCommand,
  type EvalFormat,
  type EvalOptions,
  evalCommand,
  type TestOptions,
  testCommand,
} from "./commands.ts";
export type { CompileOptions, CustomBuiltin } from "./compile/compile.ts";
export { CoverageRecorder, type CoverageReport, combineObservers } from "./coverage.ts";
export { type EvalErrorCode, RegoError } from "./evaluate/errors.ts";
export type { Observer } from "./evaluate/frame.ts";
export { type BuiltinErrorRecord, defaultLimits, type Limits, type RegoEnv } from "./evaluate/machine.ts";
export { createTracer, type ExplainMode, formatTrace, type TraceEvent, type Tracer } from "./explain.ts";
export { type Loaded, loadFiles, type PolicyFile } from "./load.ts";
export {
  compile,
  type EvaluateOptions,
  type ExpressionResult,
  type ModuleSource,
  type Policy,
  type PolicyOptions,
  type PreparedQuery,
  policyOf,
  type QueryOptions,
  type QueryResult,
} from "./prepare.ts";
export type { Location, Module, RegoVersion } from "./syntax/ast.ts";
export { type CompileErrorCode, formatError, formatErrors, type RegoErrorItem, RegoErrors } from "./syntax/errors.ts";
export { type ParseOptions, parseModule, parseQuery, parseTermText } from "./syntax/module.ts";
export { termValue } from "./term-value.ts";
export { formatTestReport, testReportJson } from "./testing/report.ts";
export { runTests, type TestResult, type TestRun, type TestRunOptions, type TestStatus } from "./testing/run.ts";
export { fromPlain, toJsonText, toPlain } from "./values/json.ts";
export { type PlainValue, RegoObject, RegoSet, type Value } from "./values/value.ts";
