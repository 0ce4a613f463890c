import assert from "node:assert/strict";
import { test } from "node:test";
import { bootstrapThroughPipeline } from "../../scripts/generate-builtin/bootstrap.ts";
import { bootstrapEntries } from "./bootstrap-entries.ts";

test("what a server starts with is what its pipeline makes of it", async () => {
  assert.deepEqual(
    bootstrapEntries(),
    await bootstrapThroughPipeline(),
    "bootstrap.generated.json is out of date: run scripts/generate-builtin/bootstrap.ts",
  );
});
