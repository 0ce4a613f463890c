import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { defaultCasesFile, runCases } from "../../../test/conformance/apply.ts";

const file = defaultCasesFile();

test("every recorded operation of structured-merge-diff leads to the recorded outcome", (context) => {
  if (!existsSync(file)) {
    context.skip("the case file is not here; set CAPSTAN_CASES to its folder");
    return;
  }
  const { passed, failures } = runCases(readFileSync(file, "utf8"));
  assert.deepEqual(failures, []);
  assert.ok(passed > 1000, `only ${passed} operations were found`);
});
