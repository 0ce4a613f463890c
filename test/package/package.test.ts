/** What package.json promises, without building anything; package.machine.ts builds, packs and uses the package. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
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
