/** The public way to run policies: compile once, prepare queries, evaluate many times. */
import { type CapturedQuery, captureValues } from "./compile/capture.ts";
import {
  type Compiled,
  type CompiledQuery,
  type CompileOptions,
  compileModules,
  compileQuery,
} from "./compile/compile.ts";
import { DeferredConflicts, isConflict } from "./evaluate/deferred-conflicts.ts";
import { RegoError } from "./evaluate/errors.ts";
import { planBody } from "./evaluate/expressions.ts";
import { Bindings, type Exec, type Frame, newFrame, type Observer, Slots } from "./evaluate/frame.ts";
import { RuleEvaluator } from "./evaluate/groups.ts";
import { type BuiltinErrorRecord, defaultLimits, type Limits, Machine, type RegoEnv } from "./evaluate/machine.ts";
import type { Body, Location, Module, RegoVersion } from "./syntax/ast.ts";
import { type RegoErrorItem, RegoErrors } from "./syntax/errors.ts";
import { parseModule, parseQuery } from "./syntax/module.ts";
import { fromPlain, toPlain } from "./values/json.ts";
import { Decimal } from "./values/number.ts";
import { isArray, type PlainValue, type Value } from "./values/value.ts";
import { countWork, visit } from "./values/work.ts";

export interface ModuleSource {
  readonly file: string;
  readonly source: string;
}

export interface PolicyOptions extends CompileOptions {
  readonly version?: RegoVersion;
  readonly env: RegoEnv;
  readonly limits?: Partial<Limits>;
}

export interface EvaluateOptions {
  readonly input?: unknown;
  /** Values that are Rego values already; win over `input`. */
  readonly inputValue?: Value;
  /** Must not change after it was given; for other data give another object. */
  readonly data?: unknown;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** Errors of built-ins end the evaluation instead of making an expression undefined. */
  readonly strictBuiltinErrors?: boolean;
  readonly onPrint?: (message: string, location: Location) => void;
  readonly onTrace?: (message: string, location: Location) => void;
}

/** The value of one expression of a query: what it evaluates to, or `true` for `x = 1` and `not p`. */
export interface ExpressionResult {
  readonly value: Value;
  readonly location: Location;
}

export interface QueryResult {
  readonly bindings: { readonly [name: string]: PlainValue };
  readonly values: ReadonlyMap<string, Value>;
  readonly expressions: readonly ExpressionResult[];
}

export interface QueryOptions {
  readonly package?: readonly string[];
  readonly imports?: Module["imports"];
  readonly version?: RegoVersion;
  readonly futureKeywords?: readonly string[];
  readonly observer?: Observer;
}

/** Modules compiled together. */
export interface Policy {
  readonly compiled: Compiled;
  readonly modules: readonly Module[];
  /** Throws `RegoErrors` if the query does not compile. */
  query(text: string | Body, options?: QueryOptions): PreparedQuery;
}

export interface PreparedQuery {
  /** All answers; throws `RegoError`. */
  evaluate(options?: EvaluateOptions): readonly QueryResult[];
  readonly builtinErrors: readonly BuiltinErrorRecord[];
}

/** Parses and compiles; throws `RegoErrors` with everything that is wrong. */
export function compile(sources: readonly ModuleSource[], options: PolicyOptions): Policy {
  const errors: RegoErrorItem[] = [];
  const modules: Module[] = [];
  for (const { file, source } of sources) {
    try {
      modules.push(
        compiling(file, "rego_parse_error", () => parseModule(file, source, { version: options.version ?? "v1" })),
      );
    } catch (error) {
      if (!(error instanceof RegoErrors)) throw error;
      errors.push(...error.errors);
    }
  }
  if (errors.length > 0) throw new RegoErrors(errors);
  return policyOf(modules, options);
}

export function policyOf(modules: readonly Module[], options: PolicyOptions): Policy {
  const compiled = compiling("", "rego_compile_error", () => compileModules(modules, options));
  return {
    compiled,
    modules,
    query: (text, queryOptions = {}) =>
      compiling("", "rego_compile_error", () => prepareQuery(compiled, text, options, queryOptions)),
  };
}

function prepareQuery(
  compiled: Compiled,
  text: string | Body,
  options: PolicyOptions,
  queryOptions: QueryOptions,
): PreparedQuery {
  const version = queryOptions.version ?? options.version ?? "v1";
  const body =
    typeof text === "string"
      ? parseQuery(text, {
          version,
          ...(queryOptions.futureKeywords && { futureKeywords: queryOptions.futureKeywords }),
        })
      : text;
  const captured = captureValues(body);
  const query = compileQuery(captured.body, compiled, queryOptions);
  const machine = new Machine(options.env);
  machine.limits = { ...defaultLimits, ...options.limits };
  let results: QueryResult[] = [];
  let lastData: unknown;
  let lastDataValue: Value | undefined;
  const plan = (extra: { readonly observer?: Observer | undefined; readonly deferred?: DeferredConflicts }) => {
    const evaluator = new RuleEvaluator(compiled.program, machine, {
      customBuiltins: options.customBuiltins,
      ...extra,
    });
    const slots = new Slots();
    const finish: Exec = (frame) => {
      results.push(collect(frame, query, captured, slots));
      return false;
    };
    const start = planBody(query.body, new Bindings(), () => finish, evaluator.context(slots));
    return (): void => {
      start(newFrame(slots));
    };
  };
  const start = plan({ observer: queryOptions.observer });
  /** The same evaluation in OPA's order of errors, and without showing anything twice. */
  const startInOrder = (): void => {
    machine.forget();
    machine.print = undefined;
    machine.trace = undefined;
    plan({ deferred: new DeferredConflicts() })();
  };
  return {
    get builtinErrors() {
      return machine.builtinErrors;
    },
    evaluate: (evaluation = {}) => {
      const run = (): void => {
        machine.input =
          evaluation.inputValue ?? (evaluation.input === undefined ? undefined : fromPlain(evaluation.input));
        // The same document again: what was converted of it the last time is still good.
        if (evaluation.data !== lastData) {
          lastData = evaluation.data;
          lastDataValue = lastData === undefined ? undefined : fromPlain(lastData);
        }
        machine.data = lastDataValue;
        machine.limits = { ...defaultLimits, ...options.limits, ...evaluation.limits };
        machine.signal = evaluation.signal;
        machine.strictBuiltinErrors = evaluation.strictBuiltinErrors ?? false;
        machine.print = evaluation.onPrint;
        machine.trace = evaluation.onTrace;
        results = [];
        machine.begin();
        try {
          start();
        } catch (error) {
          if (machine.strictBuiltinErrors && isConflict(error)) startInOrder();
          throw error;
        }
        for (const { values, expressions } of results) {
          for (const value of values.values()) goThrough(value);
          for (const { value } of expressions) goThrough(value);
        }
      };
      withinLimits(() => countWork(() => machine.step(), run));
      return results;
    },
  };
}

/** Converted only if somebody looks: most callers want one expression's value. */
function collect(frame: Frame, query: CompiledQuery, captured: CapturedQuery, slots: Slots): QueryResult {
  const values = new Map<string, Value>();
  for (const [name, local] of query.variables) {
    const value = frame[slots.of(local)];
    if (value !== undefined) values.set(name, value);
  }
  const expressions = captured.expressions.map(({ variable, location }) => {
    const value = variable === undefined ? true : frame[slots.of(variable)];
    return { value: value === undefined ? true : value, location };
  });
  return {
    values,
    expressions,
    get bindings() {
      return Object.fromEntries([...values].map(([name, value]) => [name, toPlain(value)]));
    },
  };
}

/** A policy that nests deeper than the machine's stack, or makes a longer text than it can hold, ends with an error. */
function withinLimits(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (isStackOverflow(error)) throw new RegoError("eval_limit_error", "call stack limit exceeded");
    if (isTextTooLong(error)) throw new RegoError("eval_limit_error", "text length limit exceeded");
    throw error;
  }
}

/** Source that nests deeper than the machine's stack is refused as any other that does not compile. */
function compiling<T>(file: string, code: "rego_parse_error" | "rego_compile_error", run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    const location = file === "" ? undefined : { file, row: 1, col: 1, offset: 0, text: "" };
    throw new RegoErrors([{ code, message: "max recursion depth exceeded", location }]);
  }
}

const isStackOverflow = (error: unknown): boolean => error instanceof RangeError && /call stack/i.test(error.message);

const isTextTooLong = (error: unknown): boolean =>
  error instanceof Error && (/invalid string length/i.test(error.message) || /string longer than/.test(error.message));

/** What is answered must be small enough to be written out. */
function goThrough(value: Value): void {
  if (value === null || typeof value !== "object" || value instanceof Decimal) return;
  visit();
  if (isArray(value)) for (let index = 0; index < value.length; index++) goThrough(value[index] ?? null);
  else value.eachPart(goThrough);
}
