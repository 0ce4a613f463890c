// The same questions to this engine and to OPA itself: same answers, or the same kind of error. Needs Go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type OpaPeer, type OpaQuestion, startOpaPeer } from "../../test/conformance/rego-opa.ts";
import {
  chanceFrom,
  mutate,
  randomCall,
  randomData,
  randomInput,
  randomPolicy,
} from "../../test/conformance/rego-random.ts";
import { compile, RegoError, RegoErrors } from "./index.ts";
import { manualEnv } from "./manual-env.ts";
import { compareValues } from "./values/compare.ts";
import { parseJson, toJsonText } from "./values/json.ts";
import { RegoObject, RegoSet, type Value } from "./values/value.ts";

const peer = startOpaPeer();
const skip = typeof peer === "string" ? peer : false;
const seed = Number(process.env["CAPSTAN_SEED"] ?? "1");

/** How many of a hundred questions may differ: mutations find places where OPA itself contradicts its rules. */
const allowed = { calls: 0.5, policies: 1, mutations: 1.5 };

interface Outcome {
  readonly code: string | undefined;
  readonly answers: RegoSet;
  readonly text: string;
}

function ask(question: OpaQuestion): Outcome {
  const env = manualEnv({ monotonicMs: () => performance.now() });
  try {
    const sources = question.Modules.map((source, index) => ({ file: `test-${index}.rego`, source }));
    const query = compile(sources, { env, limits: { maxDurationMs: 4000 } }).query(question.Query);
    const results = query.evaluate({
      input: question.Input,
      data: question.Data ?? {},
      strictBuiltinErrors: question.Strict ?? false,
    });
    const answers = new RegoSet(results.map(({ values }) => asJson(RegoObject.fromEntries(values))));
    return { code: undefined, answers, text: toJsonText(answers) };
  } catch (error) {
    if (error instanceof RegoErrors)
      return { code: error.errors[0]?.code ?? "", answers: new RegoSet(), text: error.message };
    if (error instanceof RegoError) return { code: error.code, answers: new RegoSet(), text: error.message };
    throw error;
  }
}

function asJson(value: Value): Value {
  const parsed = parseJson(toJsonText(value));
  return parsed.ok ? parsed.value : null;
}

async function askOpa(opa: OpaPeer, question: OpaQuestion): Promise<Outcome> {
  const { code, line } = await opa.ask(question);
  const parsed = parseJson(line);
  const results = parsed.ok && parsed.value instanceof RegoObject ? parsed.value.field("results") : undefined;
  return { code, answers: new RegoSet(Array.isArray(results) ? results : []), text: line };
}

function agrees(ours: Outcome, theirs: Outcome): boolean {
  if (theirs.code === "panic" || theirs.code === "error") return true;
  if (theirs.code === "eval_cancel_error") return ours.code === "eval_limit_error" || ours.code === undefined;
  if (ours.code !== undefined || theirs.code !== undefined) return ours.code === theirs.code;
  return compareValues(ours.answers, theirs.answers) === 0;
}

async function compareMany(count: number, allowedPercent: number, next: () => OpaQuestion): Promise<void> {
  if (typeof peer === "string") return;
  const differences: string[] = [];
  let answered = 0;
  for (let index = 0; index < count; index++) {
    const question = next();
    const theirs = await askOpa(peer, question);
    const ours = ask(question);
    if (ours.code === undefined && theirs.code === undefined) answered++;
    if (!agrees(ours, theirs))
      differences.push(`${question.Modules.join("\n")}\nOPA : ${theirs.text}\nours: ${ours.text}`);
  }
  const percent = (100 * differences.length) / count;
  console.log(
    `seed ${seed}: ${count} questions, ${answered} answered by both, ${differences.length} differ (${percent.toFixed(2)} %)`,
  );
  assert.ok(answered > 0, "no question was answered, so nothing was compared");
  assert.ok(
    percent <= allowedPercent,
    `seed ${seed}, ${differences.length} of ${count} differ:\n${differences.slice(0, 5).join("\n\n")}`,
  );
}

test("calls of built-ins answer as OPA's do", { skip }, async () => {
  const chance = chanceFrom(seed);
  await compareMany(3000, allowed.calls, () => ({
    Modules: [randomCall(chance).module],
    Query: "data.t.p = x",
    Strict: true,
  }));
});

test("random policies decide as in OPA", { skip }, async () => {
  const chance = chanceFrom(seed + 1);
  await compareMany(3000, allowed.policies, () => ({
    Modules: [randomPolicy(chance)],
    Query: "data.test = x",
    Input: randomInput,
    Data: randomData,
    Strict: chance() < 0.5,
  }));
});

test("mutated policies decide or are refused as in OPA", { skip }, async () => {
  const chance = chanceFrom(seed + 2);
  await compareMany(3000, allowed.mutations, () => ({
    Modules: [mutate(randomPolicy(chance), chance)],
    Query: "data.test = x",
    Input: randomInput,
    Data: randomData,
    Strict: chance() < 0.5,
  }));
});

test("the peer ends", { skip }, () => {
  if (typeof peer !== "string") peer.close();
});
