// OPA's own cases, where the folder with them is present; `npm run conformance:rego` prints the full report.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runRegoCases } from "./rego-cases.ts";

const root = process.env["CAPSTAN_CASES"] ?? "../shared/data";

for (const version of ["v1", "v0"]) {
  const folder = join(root, "opa-cases", version);
  test(`every case of OPA's ${version} suite passes`, {
    skip: existsSync(folder) ? false : `no cases in ${folder}`,
  }, () => {
    const outcomes = runRegoCases(folder);
    const failures = outcomes.filter(({ failure }) => failure !== undefined);
    assert.ok(outcomes.length > 0, "the folder has no cases");
    assert.deepEqual(
      failures.map(({ file, note, failure }) => `${file}: ${note}: ${failure}`),
      [],
    );
  });
}
