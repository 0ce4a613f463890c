// Runs the test files: everything beside the sources and under test/, or with --machine the *.machine.ts files that need
// more than Node. Names given as arguments narrow the run: `npm run test:unit -- src/rego`.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

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
const reporter = process.stdout.isTTY ? "spec" : "dot";
const run = spawnSync(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${machine ? 1 : 2}`,
    "--test-timeout=240000",
    `--test-reporter=${only.length > 0 ? "spec" : reporter}`,
    "--test-reporter-destination=stdout",
    "--test-reporter=./scripts/summary-reporter.ts",
    "--test-reporter-destination=stdout",
    ...files,
  ],
  { stdio: "inherit" },
);
process.exit(run.status ?? 1);
