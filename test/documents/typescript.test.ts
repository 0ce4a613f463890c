/** The TypeScript in the documents compiles against the public API, and its tests pass. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { codeBlocks, executedDocuments } from "./markdown.ts";

const root = resolve(import.meta.dirname, "../..");

for (const document of executedDocuments) {
  // Only blocks that name their file are whole; others are excerpts.
  const files = codeBlocks(readFileSync(document, "utf8")).flatMap(({ info, text }) => {
    const name = /^ts (\S+\.ts)$/.exec(info)?.[1];
    return name ? [{ name, text: `${text}\n` }] : [];
  });
  if (files.length === 0) continue;
  test(`the TypeScript of ${document} compiles and its tests pass`, { timeout: 120_000 }, (context) => {
    const folder = mkdtempSync(join(tmpdir(), "capstan-typescript-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    // A package of that name whose files are the sources, so that nothing has to be built first.
    const capstan = join(folder, "packages", "capstan");
    mkdirSync(capstan, { recursive: true });
    const exports = {
      ".": "./src/index.ts",
      "./testing": "./src/testing/index.ts",
      "./rego": "./src/rego/index.ts",
      "./registry-client": "./src/registry/client/index.ts",
      "./registry-client/node": "./src/registry/client/node.ts",
    };
    writeFileSync(join(capstan, "package.json"), JSON.stringify({ name: "capstan", type: "module", exports }));
    symlinkSync(join(root, "src"), join(capstan, "src"));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(capstan, join(folder, "node_modules", "capstan"));
    mkdirSync(join(folder, "node_modules", "@types"));
    symlinkSync(join(root, "node_modules", "@types", "node"), join(folder, "node_modules", "@types", "node"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: join(root, "tsconfig.json"),
        include: ["*.ts", join(root, "src/**/*.d.ts")],
        // Pages use the client of the registry, too.
        compilerOptions: { lib: ["ES2024", "ESNext.Collection", "DOM"] },
      }),
    );
    for (const { name, text } of files) writeFileSync(join(folder, name), text);

    const compiled = run(folder, join(root, "node_modules", ".bin", "tsc"), ["--noEmit"]);
    assert.equal(compiled.status, 0, compiled.stdout);
    const tests = files.filter(({ name }) => name.endsWith(".test.ts")).map(({ name }) => name);
    if (tests.length === 0) return;
    const tested = run(folder, process.execPath, ["--test", "--test-timeout=60000", ...tests]);
    assert.equal(tested.status, 0, tested.stdout);
  });
}

function run(
  cwd: string,
  program: string,
  args: readonly string[],
): { readonly status: number | null; readonly stdout: string } {
  // A test that is started by a test reports to it instead of printing, unless it does not know.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(program, args, { cwd, env, encoding: "utf8", shell: process.platform === "win32" });
}
