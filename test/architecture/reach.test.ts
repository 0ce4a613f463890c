import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readSources } from "./sources.ts";

/** Where the product is entered: the commands, the thread that they start, and what the package exports. */
const { exports: exported } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};
const entries = [
  "src/cli/main.ts",
  "src/cli/provide-main.ts",
  "src/solver/solver-thread.ts",
  ...Object.values(exported).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts")],
  ),
];

/** Stands beside what it tests, because tests of several rooms share it. */
const isForTests = (file: string): boolean =>
  /(-cases|-for-tests)\.ts$|\/example-[\w-]+\.ts$/.test(file) || sharedByTests.has(file);
const sharedByTests: ReadonlySet<string> = new Set([
  "src/kube/apply/managed-times.ts",
  "src/registry/dialects/exchanges.ts",
  "src/registry/storage/memory-log.ts",
  "src/rego/manual-env.ts",
  "src/store/postgres-server.ts",
]);
/** What is generated from them is reached. */
const isForGenerators = (file: string): boolean =>
  ["src/apiserver/bootstrap.ts", "src/apiserver/auth/bootstrap-policy.ts"].includes(file);

test("everything that was built is reached from the command or from an export", () => {
  const sources = new Map(readSources().map((source) => [source.path, source]));
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    for (const target of sources.get(file)?.imports ?? [])
      if (target.startsWith(".")) waiting.push(path.posix.join(path.posix.dirname(file), target));
  }
  assert.deepEqual(
    [...sources.keys()].filter((file) => !reached.has(file) && !isForTests(file) && !isForGenerators(file)),
    [],
    "join the part to what people run, or remove it",
  );
});
