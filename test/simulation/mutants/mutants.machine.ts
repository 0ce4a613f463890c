import assert from "node:assert/strict";
import { after, test } from "node:test";
import { calmRun, judgePlan } from "../explore.ts";
import { actionAndRegistryMutants } from "./action-and-registry-mutants.ts";
import { mutants } from "./mutants.ts";

const all = [...mutants, ...actionAndRegistryMutants];

let killed = 0;

/** The proof of the tester: every bug of a known shape must be noticed, by the property that is there for it. */
for (const mutant of all)
  test(`a plane that ${mutant.name} is found out`, async () => {
    const { story, seed, plan } = mutant;
    const { violations } = await judgePlan(story, seed, plan, await calmRun(story, seed), mutant);
    assert.ok(
      violations.some((text) => mutant.killedBy.test(text)),
      `it lived; what was noticed: ${violations.join("; ") || "nothing"}`,
    );
    killed++;
  });

after(() => console.log(`${killed} of ${all.length} mutants killed`));
