// Builds the one file that people run. Used by bin/capstan.mjs in a checkout whenever a source is newer than the bundle,
// and by `npm run build` for the published package.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
export const bundlePath = join(root, "dist", "bundle", "capstan.mjs");

/** True when the bundle is missing or any source or the lockfile has changed since it was written. */
export function isBundleStale() {
  if (!existsSync(bundlePath)) return true;
  const builtAt = statSync(bundlePath).mtimeMs;
  if (statSync(join(root, "package-lock.json")).mtimeMs > builtAt) return true;
  return newestIn(join(root, "src")) > builtAt;
}

export async function bundle() {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: { capstan: join(root, "src", "cli", "main.ts") },
    platform: "node",
    // Optional native or cluster-only parts are loaded by their own packages when asked for.
    external: ["pg-native"],
    logLevel: "warn",
    resolve: { conditionNames: ["node", "import", "default"] },
    transform: { target: "node24" },
  });
  const folder = join(root, "dist", "bundle");
  rmSync(folder, { recursive: true, force: true });
  await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    minify: false,
    sourcemap: false,
  });
  await build.close();
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
