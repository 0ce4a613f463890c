/**
 * Runs OPA's own test cases: `node test/conformance/rego.ts [DIR…]`. Prints every case that fails with its reason, the
 * counts per folder, and as its last line `N passed, N failed`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runRegoCases } from "./rego-cases.ts";

const root = process.env.CAPSTAN_CASES ?? "../shared/data";
const given = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const folders = given.length > 0 ? given : [join(root, "opa-cases/v1"), join(root, "opa-cases/v0")];
const missing = folders.filter((folder) => !existsSync(folder));
if (missing.length > 0) {
  console.error(`no such folder: ${missing.join(", ")}`);
  process.exit(2);
}
const outcomes = folders.flatMap((folder) => runRegoCases(folder));
const perFolder = new Map<string, { passed: number; failed: number }>();
for (const outcome of outcomes) {
  const counts = perFolder.get(outcome.folder) ?? { passed: 0, failed: 0 };
  if (outcome.failure === undefined) counts.passed++;
  else {
    counts.failed++;
    console.log(`FAIL ${outcome.file}: ${outcome.note}\n     ${outcome.failure.replaceAll("\n", "\n     ")}`);
  }
  perFolder.set(outcome.folder, counts);
}
console.log("");
for (const [folder, { passed, failed }] of [...perFolder].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${folder}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ""}`);
}
const failed = outcomes.filter((outcome) => outcome.failure !== undefined).length;
console.log(`${outcomes.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
