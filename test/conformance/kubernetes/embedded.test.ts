import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allCases } from "./cases/index.ts";
import { runEmbedded } from "./suite.ts";

describe("the embedded API server", () => {
  it("passes the Kubernetes API suite", { timeout: 200_000 }, async () => {
    const failures: string[] = [];
    const result = await runEmbedded(allCases, {
      report(outcome) {
        if (outcome.kind === "failed") failures.push(`${outcome.name}: ${outcome.error}`);
        if (outcome.kind === "skipped") failures.push(`${outcome.name}: skipped`);
      },
    });
    assert.deepEqual(failures, []);
    assert.ok(result.passed >= 250, `only ${result.passed} cases ran`);
  });

  it("has cases with names of their own", () => {
    const names = allCases.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });
});
