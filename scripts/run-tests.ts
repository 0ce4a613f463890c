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
/** Answers the exit code and how many tests passed, failed and were skipped. */
function run(
  some: readonly string[],
  concurrency: number,
): { readonly status: number; readonly counts: readonly number[] } {
  if (some.length === 0) return { status: 0, counts: [0, 0, 0] };
  const summary = join(folder, `summary-${concurrency}`);
  const { status } = spawnSync(
    process.execPath,
    [
      "--test",
      `--test-concurrency=${concurrency}`,
      `--test-timeout=${machine ? 1_200_000 : 240_000}`,
      `--test-reporter=${only.length > 0 || machine || process.stdout.isTTY ? "spec" : "dot"}`,
      "--test-reporter-destination=stdout",
      "--test-reporter=./scripts/summary-reporter.ts",
      `--test-reporter-destination=${summary}`,
      ...some,
    ],
    // Every file is a process of its own, and most of them load the same modules: compiled once, a third of the time is saved.
    { stdio: "inherit", env: { ...process.env, NODE_COMPILE_CACHE: resolve("node_modules/.cache/compiled") } },
  );
  const counts = readFileSync(summary, "utf8").match(/\d+/g)?.map(Number) ?? [];
  return { status: status ?? 1, counts };
}

// What needs more than Node mostly measures, kills or waits, and wants the machine for itself; the rest of it only computes.
const computes = (file: string): boolean =>
  /^(src\/(rego|versions)|test\/(conformance|kubectl|simulation))\//.test(file);
const runs = machine
  ? [
      run(files.filter(computes), 2),
      run(
        files.filter((file) => !computes(file)),
        1,
      ),
    ]
  : [run(files, 2)];
const [passed = 0, failed = 0, skipped = 0] = [0, 1, 2].map((index) =>
  runs.reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0),
);
// The one line that people and CI read comes last, whatever the reporters print.
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
rmSync(folder, { recursive: true, force: true });
process.exit(runs.find(({ status }) => status !== 0)?.status ?? 0);
