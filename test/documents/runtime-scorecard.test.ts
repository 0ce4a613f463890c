/** The scorecard says what it says because of tests: they must be there, and its sum must be one. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync("docs/runtime-scorecard.md", "utf8");
const tests = globSync(["src/**/*.{test,machine}.ts", "test/**/*.ts"])
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

test("its sum counts its rows", () => {
  const scores = [...page.matchAll(/^\| \d+ \|[^|]*\| ([✔◐✘])/gm)].map(([, score]) => score);
  const count = (score: string): number => scores.filter((each) => each === score).length;
  assert.equal(scores.length, 42);
  assert.ok(page.includes(`Sum: ${count("✔")} ✔, ${count("◐")} ◐, ${count("✘")} ✘.`), `${count("✔")} ✔`);
});

test("the tests that it names exist, and so do their files", () => {
  const names = [...page.matchAll(/"([^"\n]{12,})"/g)].flatMap(([, name = ""]) => name.split("…"));
  assert.deepEqual(
    names.filter((part) => !tests.includes(part)),
    [],
  );
  const files = [...page.matchAll(/`([\w./-]+\.(?:test|machine)\.ts)`/g)].map(([, file = ""]) => file);
  assert.deepEqual(
    files.filter((file) => !existsSync(file) && !existsSync(`src/runtime/${file}`)),
    [],
  );
});
