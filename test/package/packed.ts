import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";

export const root = resolve(import.meta.dirname, "../..");

export interface Manifest {
  readonly version: string;
  readonly files: readonly string[];
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;

/** What `npm pack` says that it would publish. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[];
}

/** A copy of the project's root with everything but `dist`, so that what lies around there does not count. */
export function copyOfRoot(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-package-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of [
    "package.json",
    "src",
    "test",
    "docs",
    "examples",
    "tsconfig.json",
    "tsconfig.build.json",
    ...manifest.files,
  ])
    if (name !== "dist" && existsSync(join(root, name)))
      cpSync(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

/** The library as it is published, compiled from the sources into the folder's `dist`. */
export function buildLibrary(folder: string): void {
  const args = ["-p", join(root, "tsconfig.build.json"), "--outDir", join(folder, "dist")];
  run(root, join(root, "node_modules", ".bin", "tsc"), args);
}

export function pack(folder: string, ...flags: readonly string[]): Packed {
  const output = run(folder, "npm", ["pack", "--json", "--ignore-scripts", "--loglevel=error", ...flags]);
  const parsed = JSON.parse(output) as readonly Packed[] | Readonly<Record<string, Packed>>;
  const [packed] = Object.values(parsed);
  if (!packed) throw new Error("npm pack named no package");
  return packed;
}

export function run(cwd: string, program: string, args: readonly string[]): string {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const done = spawnSync(program, args, { cwd, env, encoding: "utf8", shell: process.platform === "win32" });
  if (done.status !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${done.status}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Files that nobody who installs the package needs; each with its reason. */
export const unwanted: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /\.(test|machine)\.[cm]?[jt]s$|-for-tests\./, reason: "is a test" },
  { pattern: /\.map$/, reason: "is a source map" },
  { pattern: /^(src|test|bench|scripts|web|node_modules)\//, reason: "is a source or a tool of contributors" },
  { pattern: /(^|\/)\.(env|npmrc|git|capstan)/, reason: "may hold secrets" },
  { pattern: /^dist\/image\//, reason: "is a container image" },
  { pattern: /\.(pem|key|db|log|tgz)$/, reason: "is state or a secret" },
];
