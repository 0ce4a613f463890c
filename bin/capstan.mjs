#!/usr/bin/env node
// The command `capstan`. Runs on the machine's own Node only as long as it takes to find the Node that we pin, rebuilds
// the bundle when this is a checkout whose sources have changed, and hands over to it.
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Node 24.0, the newest 24 that is packaged for Apple silicon, calls SQLite experimental with every start; later ones do not.
const { emitWarning } = process;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith("SQLite is an experimental feature")) emitWarning.call(process, warning, ...rest);
};

const root = fileURLToPath(new URL("..", import.meta.url));
const oldestNode = 24;

/** Memory that the C library would keep for each thread and for later, a tenth of what the whole product needs when idle. */
const frugal = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "32768", MALLOC_TRIM_THRESHOLD_: "32768" };

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  runOn(pinnedNode());
} else {
  // The C library reads it when a process begins, so the process begins once more, as itself.
  if (process.argv[2] === "up" && !process.env.MALLOC_ARENA_MAX && process.platform === "linux" && process.execve)
    process.execve(process.execPath, [process.argv0, ...process.execArgv, ...process.argv.slice(1)], withFrugal());
  const isCheckout = existsSync(join(root, "src", "cli", "main.ts")) && existsSync(join(root, "scripts", "bundle.mjs"));
  if (isCheckout) {
    const { isBundleStale } = await import("../scripts/bundle.mjs");
    if (isBundleStale()) rebuild();
  }
  const program = process.argv[2] === "provide" ? "provide.mjs" : "capstan.mjs";
  await import(pathToFileURL(join(root, "dist", "bundle", program)).href);
}

/** In a process of its own: the builder needs far more memory than what it builds. */
function rebuild() {
  const built = spawnSync(process.execPath, [join(root, "scripts", "bundle.mjs"), "--write"], {
    stdio: ["ignore", 2, 2],
  });
  if (built.status === 0) return;
  console.error("capstan: the sources could not be bundled; the reason is above");
  process.exit(1);
}

function pinnedNode() {
  const require = createRequire(import.meta.url);
  const names = [
    `node-${process.platform}-${process.arch}`,
    `node-bin-${process.platform}-${process.arch}`,
    `node-win-${process.arch}`,
  ];
  for (const name of names) {
    try {
      const folder = dirname(require.resolve(`${name}/package.json`));
      const program = join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");
      if (existsSync(program)) return program;
    } catch {
      // Not the package of this platform.
    }
  }
  console.error(
    `capstan: needs Node ${oldestNode} or newer; this is ${process.version} and no pinned Node is installed for ${process.platform}-${process.arch}. Install Node ${oldestNode}, or run \`npm ci\` in ${root}.`,
  );
  process.exit(1);
}

function withFrugal() {
  return { ...frugal, ...process.env };
}

function runOn(node) {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(node, [...process.execArgv, self, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: withFrugal(),
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal ? 128 : 1)));
}
