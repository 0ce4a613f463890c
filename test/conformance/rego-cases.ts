/** OPA's test cases (YAML files) run on our engine, as OPA's own runner does it. */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parseDocument } from "yaml";
import {
  compile,
  parseTermText,
  type RegoEnv,
  RegoError,
  RegoErrors,
  type RegoVersion,
  termValue,
} from "../../src/rego/index.ts";
import { compareValues } from "../../src/rego/values/compare.ts";
import { formatValue } from "../../src/rego/values/format.ts";
import { parseJson, toJsonText } from "../../src/rego/values/json.ts";
import { numberFromText } from "../../src/rego/values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../../src/rego/values/value.ts";

export interface Outcome {
  readonly folder: string;
  readonly file: string;
  readonly note: string;
  /** Why it failed; undefined if it passed. */
  readonly failure: string | undefined;
}

interface Case {
  readonly note: string;
  readonly query: string;
  readonly modules?: readonly string[];
  readonly want_error?: string;
  readonly want_error_code?: string;
  readonly strict_error?: boolean;
  readonly sort_bindings?: boolean;
  readonly ignore_generated_vars?: boolean;
  readonly input_term?: string;
  readonly env?: { readonly [name: string]: string };
  readonly data?: Value;
  readonly input?: Value;
  readonly want_result?: Value;
}

export function runRegoCases(folder: string, filter: (file: string) => boolean = () => true): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  for (const file of yamlFiles(folder)) {
    if (!filter(file)) continue;
    const version: RegoVersion = /(^|\/)v0(\/|$)/.test(file) ? "v0" : "v1";
    const shown = relative(folder, file) || basename(file);
    const where = `${version}/${basename(dirname(file))}`;
    for (const testCase of readCases(file)) {
      outcomes.push({ folder: where, file: shown, note: testCase.note, failure: runCase(testCase, version) });
    }
  }
  return outcomes;
}

function* yamlFiles(path: string): IterableIterator<string> {
  if (statSync(path).isFile()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    const inner = join(path, name);
    if (statSync(inner).isDirectory()) yield* yamlFiles(inner);
    else if (/\.ya?ml$/.test(name)) yield inner;
  }
}

/** Fields with documents are read from the YAML's own number texts, so that no digit is lost. */
function readCases(file: string): readonly Case[] {
  const document = parseDocument(readFileSync(file, "utf8"), { intAsBigInt: true });
  const cases = document.toJS().cases as readonly Case[];
  return cases.map((testCase) => {
    const { data, input, want_result, ...rest } = testCase;
    return {
      ...rest,
      ...(data !== undefined && { data: toValue(data) }),
      ...(input !== undefined && { input: toValue(input) }),
      ...(want_result !== undefined && { want_result: toValue(want_result) }),
    };
  });
}

function toValue(plain: unknown): Value {
  if (typeof plain === "bigint") return numberFromText(plain.toString());
  if (typeof plain === "number") return numberFromText(String(plain));
  if (plain === null || plain === undefined) return null;
  if (typeof plain === "string" || typeof plain === "boolean") return plain;
  if (Array.isArray(plain)) return plain.map(toValue);
  return RegoObject.fromEntries(Object.entries(plain).map(([key, value]) => [key, toValue(value)]));
}

const env: RegoEnv = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
  random: Math.random,
  uuid: randomUUID,
};

/** OPA's runner brings this one too; the clock of an evaluation stands still, so there is nothing to wait for. */
const customBuiltins = new Map([["test.sleep", { arity: 1, call: () => null }]]);

function runCase(testCase: Case, version: RegoVersion): string | undefined {
  let results: readonly Value[];
  try {
    const sources = (testCase.modules ?? []).map((source, index) => ({ file: `test-${index}.rego`, source }));
    const runtime = testCase.env && RegoObject.fromEntries([["env", toValue(testCase.env)]]);
    const runtimeEnv = { ...env, ...(runtime && { runtime }) };
    const policy = compile(sources, { version, env: runtimeEnv, customBuiltins });
    const inputValue =
      testCase.input_term === undefined ? testCase.input : termValue(parseTermText(testCase.input_term), env);
    const answers = policy.query(testCase.query).evaluate({
      ...(inputValue !== undefined && { inputValue }),
      data: testCase.data ?? new RegoObject(),
      strictBuiltinErrors: testCase.strict_error ?? false,
    });
    results = answers.map((answer) => RegoObject.fromEntries(answer.values));
  } catch (error) {
    if (error instanceof RegoErrors) {
      if (testCase.want_error_code === undefined && testCase.want_error === undefined)
        return `does not compile: ${error.message}`;
      return checkError(testCase, error.errors[0]?.code ?? "", error.message);
    }
    if (error instanceof RegoError) return checkError(testCase, error.code, error.message);
    return `crashed: ${error instanceof Error ? error.stack : String(error)}`;
  }
  if (testCase.want_error_code !== undefined || testCase.want_error !== undefined) {
    return `expected error ${testCase.want_error_code ?? ""} ${testCase.want_error ?? ""}, got ${results.map(formatValue).join(" ")}`;
  }
  if (testCase.want_result === undefined || testCase.want_result === null)
    return results.length === 0 ? undefined : undefinedExpected(results);
  const wanted = isArray(testCase.want_result) ? testCase.want_result : [];
  const normalise = (value: Value): Value => (testCase.sort_bindings ? sortBindings(jsonOf(value)) : jsonOf(value));
  const got = new RegoSet(results.map(normalise));
  const expected = new RegoSet(wanted.map((value) => (testCase.sort_bindings ? sortBindings(value) : value)));
  if (compareValues(got, expected) === 0) return undefined;
  return `expected ${formatValue(expected)}\ngot      ${formatValue(got)}`;
}

function undefinedExpected(results: readonly Value[]): string {
  return `expected no answer, got ${results.map(formatValue).join(" ")}`;
}

function checkError(testCase: Case, code: string, message: string): string | undefined {
  if (testCase.want_error_code !== undefined && testCase.want_error_code !== code) {
    return `expected error code ${testCase.want_error_code}, got ${message}`;
  }
  if (testCase.want_error !== undefined && !message.includes(currentWording(testCase.want_error))) {
    return `expected an error with ${testCase.want_error}, got ${message}`;
  }
  if (testCase.want_error_code === undefined && testCase.want_error === undefined) return `unexpected error ${message}`;
  return undefined;
}

/** OPA 1.22 names conflicts in other words than the suites of earlier versions, which count as well. */
const rewordings: readonly (readonly [RegExp, string])[] = [
  [/^.*complete rules must not produce multiple outputs/, "produced conflicting values"],
  [/^.*functions must not produce multiple outputs for same inputs/, "produced conflicting values for the same inputs"],
];

function currentWording(wanted: string): string {
  return rewordings.reduce((text, [old, current]) => text.replace(old, current), wanted);
}

/** As the answer looks in JSON: sets are arrays, keys are strings. */
function jsonOf(value: Value): Value {
  const parsed = parseJson(toJsonText(value));
  return parsed.ok ? parsed.value : null;
}

function sortBindings(binding: Value): Value {
  if (!(binding instanceof RegoObject)) return binding;
  return RegoObject.fromEntries(
    [...binding.entries()].map(([key, value]) => [key, isArray(value) ? [...value].sort(compareValues) : value]),
  );
}
