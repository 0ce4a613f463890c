import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const read = <T>(file: string): T => JSON.parse(readFileSync(file, "utf8")) as T;
const { packages } = read<{ readonly packages: Readonly<Record<string, Locked>> }>("package-lock.json");
const installed = Object.entries(packages).filter(([path]) => path !== "");
const manifest = read<{ readonly dependencies: Readonly<Record<string, string>> }>("package.json");

test("S20: no package runs anything when it is installed, and npm is told not to let one", () => {
  assert.deepEqual(
    installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path),
    [],
  );
  assert.match(readFileSync(".npmrc", "utf8"), /^ignore-scripts=true$/m);
});

test("S20: every package is pinned by version and by hash", () => {
  const loose = Object.entries(manifest.dependencies).filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range));
  assert.deepEqual(loose, []);
  assert.deepEqual(
    // Of tools for other platforms, which are never installed here, the lockfile knows the version only.
    installed.filter(([, { integrity, dev }]) => !dev && !integrity?.startsWith("sha512-")).map(([path]) => path),
    [],
  );
});

test("S20: what runs stays small and free", () => {
  assert.ok(Object.keys(manifest.dependencies).length <= 15, "at most 15 direct dependencies at run time");
  const atRunTime = installed.filter(([, { dev, optional }]) => !dev && !optional);
  const licences = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];
  assert.deepEqual(
    atRunTime.filter(([, { license = "" }]) => !licences.includes(license)).map(([path]) => path),
    [],
  );
});

test("S19: nothing but fixed words is ever put into SQL; values go beside it", () => {
  /** Words of our own code: table and column names from constants, placeholders, names of types, a locking clause. */
  const fixedWords: readonly RegExp[] = [
    /^(table|lock|name|onConflict|conditions|tuples|arrays|pageSize|key|column)$/,
    /^quoted\(channel\)$/,
    /^columns\.join\(", "\)$/,
    /^\w+\.map\(\(\) => "\?"\)\.join\(",? ?"\)$/,
    /^wanted\.map\(\(\[column\]\) => ` AND \$\{column\} = \?`\)\.join\(""\)$/,
  ];
  const strange: string[] = [];
  for (const file of globSync("src/{audit,dashboard,registry,store}/**/*.ts")) {
    if (/\.(test|machine)\.ts$|contract-cases/.test(file)) continue;
    const text = readFileSync(file, "utf8");
    for (const [statement] of text.matchAll(
      /`(?:SELECT|INSERT|UPDATE|DELETE|LISTEN|NOTIFY)\b(?:[^`$]|\$\{(?:[^{}`]|`[^`]*`)*\})*`/g,
    ))
      for (const [, expression = ""] of statement.matchAll(/\$\{((?:[^{}`]|`[^`]*`)*)\}/g))
        if (!fixedWords.some((word) => word.test(expression.trim()))) strange.push(`${file}: ${expression}`);
  }
  assert.deepEqual(strange, []);
});
