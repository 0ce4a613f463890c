// Builds what people run: one file for the command, small ones for the demo's providers and for the solver's thread, and
// the dashboard. Used by bin/capstan.mjs in a checkout whenever a source is newer than the bundle, and by `npm run build`
// for the package.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const commandPath = join(root, "dist", "bundle", "capstan.mjs");
const dashboardPath = join(root, "dist", "web", "assets", "main.js");

/** True when the command or the dashboard is missing, or a source of it or the lockfile has changed since it was written. */
export function isBundleStale() {
  return isCommandStale() || isDashboardStale();
}

const isCommandStale = () => isOlder(commandPath, "src");
const isDashboardStale = () => isOlder(dashboardPath, "web");

function isOlder(built, folder) {
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return statSync(join(root, "package-lock.json")).mtimeMs > builtAt || newestIn(join(root, folder)) > builtAt;
}

export async function bundle() {
  await write(["command", "dashboard"]);
}

async function write(parts) {
  const { rolldown } = await import("rolldown");
  const writers = { command: bundleCommand, dashboard: bundleDashboard };
  await Promise.all(parts.map((part) => writers[part](rolldown)));
}

/** Each is one file of its own: bin/capstan.mjs chooses between the first two, and the first starts the third as a thread. */
const programs = { capstan: "cli/main.ts", provide: "cli/provide-main.ts", "solver-thread": "solver/solver-thread.ts" };

async function bundleCommand(rolldown) {
  await replaceFiles(dirname(commandPath), async (folder) => {
    for (const [name, source] of Object.entries(programs)) await bundleProgram(rolldown, folder, name, source);
    // The solver loads its engine from beside the file that it is in.
    cpSync(join(root, "node_modules", "cadical-wasm", "dist", "cadical.wasm"), join(folder, "cadical.wasm"));
  });
}

/** V8 keeps the source, so it is kept short; but the names stay, because people send us stacks. */
const minify = { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: { removeWhitespace: true } };

async function bundleProgram(rolldown, folder, name, source) {
  const build = await rolldown({
    input: { [name]: join(root, "src", source) },
    platform: "node",
    // Loaded by `pg` only where it happens to be installed.
    external: ["pg-native"],
    logLevel: "warn",
    transform: { target: "node24" },
  });
  await build.write({ dir: folder, format: "esm", entryFileNames: "[name].mjs", codeSplitting: false, minify });
  toAscii(join(folder, `${name}.mjs`));
  await build.close();
}

/** One character beyond Latin-1 would make V8 keep the whole source with two bytes for each. */
function toAscii(file) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  writeFileSync(file, readFileSync(file, "utf8").replace(/[\u0080-\uffff]/g, escaped));
}

async function bundleDashboard(rolldown) {
  const build = await rolldown({
    input: { main: join(root, "web", "main.tsx") },
    platform: "browser",
    logLevel: "warn",
    transform: { target: "es2023" },
  });
  await replaceFiles(dirname(dashboardPath), async (folder) => {
    await build.write({ dir: folder, format: "esm", entryFileNames: "[name].js", codeSplitting: false, minify: true });
    cpSync(join(root, "web", "assets"), folder, { recursive: true });
  });
  await build.close();
}

/** Whole files appear at once, so that a command that starts meanwhile never reads half of one. */
async function replaceFiles(folder, fill) {
  mkdirSync(folder, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    await fill(made);
    const names = readdirSync(made);
    // What is asked for its age comes last: when it is new, everything beside it is.
    const isDated = (name) => [commandPath, dashboardPath].includes(join(folder, name));
    for (const name of names.toSorted((left, right) => isDated(left) - isDated(right))) {
      renameSync(join(made, name), join(folder, name));
    }
    for (const name of readdirSync(folder)) if (!names.includes(name)) rmSync(join(folder, name), { recursive: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
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

if (process.argv[2] === "--write") {
  await write([...(isCommandStale() ? ["command"] : []), ...(isDashboardStale() ? ["dashboard"] : [])]);
}
