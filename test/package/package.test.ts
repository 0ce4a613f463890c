/** What package.json promises, without building anything; package.machine.ts builds, packs and uses the package. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { copyOfRoot, manifest, pack, root, unwanted } from "./packed.ts";

test("every export of package.json is built from a source that exists, with its types", () => {
  const build = JSON.parse(readFileSync(join(root, "tsconfig.build.json"), "utf8")) as {
    readonly files: readonly string[];
  };
  for (const [name, target] of Object.entries(manifest.exports)) {
    if (typeof target === "string") continue;
    const source = target.default.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");
    assert.ok(build.files.includes(source), `${name}: tsconfig.build.json does not build ${source}`);
    assert.equal(target.types, target.default.replace(/\.js$/, ".d.ts"), `${name}: types are not those of the code`);
    // Resolvers take the first condition that fits; after another one, types would never be reached.
    assert.equal(Object.keys(target)[0], "types", `${name}: types must come first`);
  }
});

test("npm pack takes no test, source, map or secret of the checkout", { timeout: 120_000 }, (context) => {
  const { files, unpackedSize } = pack(copyOfRoot(context), "--dry-run");
  const paths = files.map(({ path }) => path);
  for (const wanted of ["package.json", "README.md", "LICENSE", "CHANGELOG.md", ...Object.values(manifest.bin)])
    assert.ok(paths.includes(wanted), `${wanted} is missing`);
  const wrong = paths.flatMap((path) =>
    unwanted.filter(({ pattern }) => pattern.test(path)).map(({ reason }) => `${path} ${reason}`),
  );
  assert.deepEqual(wrong, []);
  assert.ok(unpackedSize < maxBytesWithoutCode, `${unpackedSize} bytes besides dist`);
});

const maxBytesWithoutCode = 256 * 1024;

test("dependencies have exact versions", () => {
  for (const [name, version] of Object.entries(manifest.dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test("after a first installation the scripts go on with the Node that it brought", {
  skip: process.platform === "win32" ? "cmd.exe remembers no places of programs" : false,
}, (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-scripts-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const place of ["before", "after", "scripts"]) mkdirSync(join(folder, place));
  // The machine's Node installs another one in front of itself, as `npm ci` does.
  const other = `#!/bin/sh\\necho the new one: "$@"\\n`;
  writeProgram(join(folder, "before", "node"), `#!/bin/sh\nprintf '${other}' > after/node && chmod 755 after/node\n`);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const installing = Object.entries(scripts).filter(([, script]) => script.includes("install-missing.mjs) && node "));
  assert.ok(installing.length >= 5, `${installing.length} scripts`);
  for (const [name, script] of installing) {
    rmSync(join(folder, "after", "node"), { force: true });
    const PATH = `${join(folder, "after")}:${join(folder, "before")}:/usr/bin:/bin`;
    const { stdout, stderr } = spawnSync("/bin/sh", ["-c", script], { cwd: folder, env: { PATH }, encoding: "utf8" });
    assert.match(stdout, /^the new one: /, `npm run ${name}: ${stderr}`);
  }
});

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
