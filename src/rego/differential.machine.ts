// The same questions to this engine and to OPA itself: same answers, or the same kinds of errors. Needs Go.
import assert from "node:assert/strict";
import { test } from "node:test";
import { askOurs, isSame, outcomeOf } from "../../test/conformance/rego-compare.ts";
import { excuseFor } from "../../test/conformance/rego-excuses.ts";
import { type OpaQuestion, startOpaPeer } from "../../test/conformance/rego-opa.ts";
import { type Chance, chanceFrom, mutate, pick, randomCall } from "../../test/conformance/rego-random.ts";
import { randomPolicy } from "../../test/conformance/rego-random-policy.ts";
import { randomDocuments, randomInputs } from "../../test/conformance/rego-random-terms.ts";

const peer = startOpaPeer();
const skip = typeof peer === "string" ? peer : false;
const seed = Number(process.env["CAPSTAN_SEED"] ?? "1");
const count = Number(process.env["CAPSTAN_COUNT"] ?? "3000");

interface Kind {
  readonly name: string;
  /** How many of a hundred questions both have to answer, so that the comparison says something. */
  readonly minAnsweredPercent: number;
  next(chance: Chance): OpaQuestion;
}

const kinds: readonly Kind[] = [
  {
    name: "calls of built-ins answer as OPA's do",
    minAnsweredPercent: 50,
    next: (chance) => ({ Modules: [randomCall(chance).module], Query: "data.t.p = x", Strict: true }),
  },
  { name: "random policies decide as in OPA", minAnsweredPercent: 70, next: (chance) => policyQuestion(chance, false) },
  {
    name: "mutated policies decide or are refused as in OPA",
    minAnsweredPercent: 20,
    next: (chance) => policyQuestion(chance, true),
  },
];

function policyQuestion(chance: Chance, isMutated: boolean): OpaQuestion {
  const { modules, query, isV0 } = randomPolicy(chance);
  const [first = "", ...rest] = modules;
  return {
    Modules: [isMutated ? mutate(first, chance) : first, ...rest],
    Query: query,
    V0: isV0,
    Input: pick(chance, randomInputs),
    Data: pick(chance, randomDocuments),
    Strict: chance() < 0.2,
    CompileStrict: chance() < 0.05,
  };
}

kinds.forEach(({ name, minAnsweredPercent, next }, index) => {
  test(name, { skip }, async () => {
    if (typeof peer === "string") return;
    const chance = chanceFrom(seed * kinds.length + index);
    const differences: string[] = [];
    const excused = new Map<string, number>();
    let [answered, refused] = [0, 0];
    for (let number = 0; number < count; number++) {
      const question = next(chance);
      const theirs = outcomeOf(await peer.ask(question));
      const ours = askOurs(question);
      if (isSame(ours, theirs)) {
        if (ours.codes.length === 0) answered++;
        else refused++;
        continue;
      }
      const excuse = await excuseFor({ question, ours, theirs });
      if (excuse !== undefined) excused.set(excuse, (excused.get(excuse) ?? 0) + 1);
      else differences.push(`${JSON.stringify(question)}\nOPA : ${theirs.text}\nours: ${ours.text}`);
    }
    console.log(
      `seed ${seed}: ${count} questions, ${answered} answered the same by both, ${refused} refused with the same codes, ${differences.length} differ`,
    );
    for (const [excuse, times] of excused) console.log(`  not counted, ${times}: ${excuse}`);
    assert.ok((100 * answered) / count >= minAnsweredPercent, `only ${answered} of ${count} were answered by both`);
    assert.equal(differences.length, 0, `seed ${seed}:\n${differences.slice(0, 5).join("\n\n")}`);
  });
});

const wrongAnswers: readonly { readonly name: string; readonly source: string; readonly ours: string }[] = [
  {
    name: "beside a body that OPA drops",
    source: "p := count([1]) if not true\n\nq := 1",
    ours: "p := count([1]) if not true\n\nq := 2",
  },
  {
    name: "where a function walks, but has one value",
    source: "f(x) := 1 if walk([x], [_, _])\n\nq if f(1)",
    ours: "f(x) := y if y = [1, 2][_]\n\nq if f(1)",
  },
];
for (const { name, source, ours } of wrongAnswers) {
  test(`a wrong answer ${name} is not excused`, { skip }, async () => {
    if (typeof peer === "string") return;
    const asking = (text: string): OpaQuestion => ({ Modules: [`package t\n\n${text}`], Query: "data.t = x" });
    const theirs = outcomeOf(await peer.ask(asking(source)));
    assert.equal(await excuseFor({ question: asking(source), ours: askOurs(asking(ours)), theirs }), undefined);
  });
}

test("the peer ends", { skip }, () => {
  if (typeof peer !== "string") peer.close();
});
