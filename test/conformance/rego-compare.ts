/** One question to this engine and to OPA, and whether the answers are the same. */
import { compile, RegoError, RegoErrors } from "../../src/rego/index.ts";
import { manualEnv } from "../../src/rego/manual-env.ts";
import { compareValues } from "../../src/rego/values/compare.ts";
import { parseJson, toJsonText } from "../../src/rego/values/json.ts";
import { RegoObject, RegoSet, type Value } from "../../src/rego/values/value.ts";
import type { OpaAnswer, OpaQuestion } from "./rego-opa.ts";

export interface Outcome {
  /** Of all errors, each once and sorted; none means that there is an answer. */
  readonly codes: readonly string[];
  readonly answers: RegoSet;
  readonly text: string;
}

export function askOurs(question: OpaQuestion): Outcome {
  const env = manualEnv({ monotonicMs: () => performance.now() });
  try {
    const sources = question.Modules.map((source, index) => ({ file: `test-${index}.rego`, source }));
    const policy = compile(sources, {
      env,
      version: question.V0 ? "v0" : "v1",
      strict: question.CompileStrict ?? false,
      limits: { maxDurationMs: 4000 },
    });
    const results = policy.query(question.Query).evaluate({
      input: question.Input,
      data: question.Data ?? {},
      strictBuiltinErrors: question.Strict ?? false,
    });
    const answers = new RegoSet(results.map(({ values }) => asJson(RegoObject.fromEntries(values))));
    return { codes: [], answers, text: toJsonText(answers) };
  } catch (error) {
    if (error instanceof RegoErrors) {
      return { codes: sorted(error.errors.map(({ code }) => code)), answers: new RegoSet(), text: error.message };
    }
    if (error instanceof RegoError) return { codes: [error.code], answers: new RegoSet(), text: error.message };
    throw error;
  }
}

function asJson(value: Value): Value {
  const parsed = parseJson(toJsonText(value));
  return parsed.ok ? parsed.value : null;
}

export function outcomeOf({ code, codes, line }: OpaAnswer): Outcome {
  const parsed = parseJson(line);
  const results = parsed.ok && parsed.value instanceof RegoObject ? parsed.value.field("results") : undefined;
  return {
    codes: sorted(codes ?? (code === undefined ? [] : [code])),
    answers: new RegoSet(Array.isArray(results) ? results : []),
    text: line,
  };
}

const sorted = (codes: readonly string[]): readonly string[] => [...new Set(codes)].sort();

export function isSame(ours: Outcome, theirs: Outcome): boolean {
  if (ours.codes.length > 0 || theirs.codes.length > 0) return ours.codes.join() === theirs.codes.join();
  return compareValues(ours.answers, theirs.answers) === 0;
}
