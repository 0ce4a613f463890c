// Runs the test files: everything beside the sources and under test/, or with --machine the *.machine.ts files that need
// more than Node. Names given as arguments narrow the run: `npm run test:unit -- src/rego`.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const args = process.argv.slice(2);
const machine = args.includes("--machine");
const only = args.filter((arg) => !arg.startsWith("--"));
const pattern = machine ? "*.machine.ts" : "*.test.ts";
const files = globSync([`src/**/${pattern}`, `test/**/${pattern}`, `examples/**/${pattern}`, `bench/**/${pattern}`])
  .filter((file) => only.length === 0 || only.some((prefix) => file.startsWith(prefix)))
  .sort();

if (files.length === 0) {
  console.error(`no test file matches ${only.join(" ") || pattern}`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "capstan-tests-"));
const summary = join(folder, "summary");
const run = spawnSync(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${machine ? 1 : 2}`,
    `--test-timeout=${machine ? 1_200_000 : 240_000}`,
    `--test-reporter=${only.length > 0 || machine || process.stdout.isTTY ? "spec" : "dot"}`,
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/summary-reporter.ts",
    `--test-reporter-destination=${summary}`,
    ...files,
  ],
  // Every file is a process of its own, and most of them load the same modules: compiled once, a third of the time is saved.
  { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled") } },
);
// The one line that people and CI read comes last, whatever the reporters print.
console.log(readFileSync(summary, "utf8").trim());
rmSync(folder, { recursive: true, force: true });
process.exit(run.status ?? 1);
