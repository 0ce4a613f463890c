/** README's numbers are those of the last run of each benchmark, and each row says which one measures it again. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { measuredResults, measuredRows } from "./measured.ts";

const rows = measuredRows(readFileSync("README.md", "utf8"));

test("every row names a benchmark that is there, with the results of its last run", () => {
  assert.ok(rows.length >= 15, `${rows.length} rows`);
  for (const { what, name } of rows) {
    assert.ok(existsSync(`bench/${name}.ts`), `${what}: there is no benchmark ${name}`);
    assert.ok(existsSync(`bench/results/${name}.json`), `${what}: ${name} has no results`);
  }
});

test("every number is the one in bench/results", () => {
  assert.deepEqual(
    rows.map(({ name, result }) => `${name}: ${result}`),
    measuredResults.map(({ name, result }) => `${name}: ${result()}`),
  );
});
