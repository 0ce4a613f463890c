// Builds what people run: one file for the command, and the dashboard beside it. Used by bin/capstan.mjs in a checkout
// whenever a source is newer than the bundle, and by `npm run build` for the published package.
import { cpSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bundlePath = join(root, "dist", "bundle", "capstan.mjs");

/** True when the bundle is missing or any source or the lockfile has changed since it was written. */
export function isBundleStale() {
  if (!existsSync(bundlePath)) return true;
  const builtAt = statSync(bundlePath).mtimeMs;
  if (statSync(join(root, "package-lock.json")).mtimeMs > builtAt) return true;
  return ["src", "web"].some((folder) => newestIn(join(root, folder)) > builtAt);
}

export async function bundle() {
  const { rolldown } = await import("rolldown");
  await Promise.all([bundleDashboard(rolldown), bundleCommand(rolldown)]);
}

async function bundleCommand(rolldown) {
  const build = await rolldown({
    input: { capstan: join(root, "src", "cli", "main.ts") },
    platform: "node",
    // Loaded by `pg` only where it happens to be installed.
    external: ["pg-native"],
    logLevel: "warn",
    transform: { target: "node24" },
  });
  await build.write({
    dir: join(root, "dist", "bundle"),
    format: "esm",
    entryFileNames: "[name].mjs",
    codeSplitting: false,
  });
  await build.close();
  // The solver loads its engine from beside the file that it is in.
  cpSync(
    join(root, "node_modules", "cadical-wasm", "dist", "cadical.wasm"),
    join(root, "dist", "bundle", "cadical.wasm"),
  );
}

async function bundleDashboard(rolldown) {
  const folder = join(root, "dist", "web");
  const build = await rolldown({
    input: { main: join(root, "web", "main.tsx") },
    platform: "browser",
    logLevel: "warn",
    transform: { target: "es2023" },
  });
  rmSync(folder, { recursive: true, force: true });
  await build.write({
    dir: join(folder, "assets"),
    format: "esm",
    entryFileNames: "[name].js",
    codeSplitting: false,
    minify: true,
  });
  await build.close();
  cpSync(join(root, "web", "assets"), join(folder, "assets"), { recursive: true });
}

function newestIn(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name.endsWith(".test.ts")) continue;
    const { mtimeMs } = statSync(join(entry.parentPath, entry.name));
    if (mtimeMs > newest) newest = mtimeMs;
  }
  return newest;
}

if (process.argv[2] === "--write") await bundle();
