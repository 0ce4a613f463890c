import assert from "node:assert/strict";
import { test } from "node:test";
import { readSources } from "./sources.ts";

const publicIndexes = ["src/index.ts", "src/rego/index.ts", "src/testing/index.ts", "src/registry/client/index.ts"];

test("public indexes list their names one by one", () => {
  const wrong = readSources()
    .filter(({ path }) => publicIndexes.includes(path))
    .filter(({ code }) => /export\s*\*/.test(code))
    .map(
      ({ path }) => `${path} has an \`export *\`: list the names, so that a change of the public API is seen in review`,
    );
  assert.deepEqual(wrong, []);
});

test("files are named after their idea", () => {
  const vague = /\/(utils?|helpers?|common|misc|manager-?utils?)\.ts$/;
  const wrong = readSources()
    .filter(({ path }) => vague.test(path))
    .map(({ path }) => `${path}: a file with this name has not found its idea yet`);
  assert.deepEqual(wrong, []);
});
