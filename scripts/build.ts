// Builds what is published: the library with its declarations, the registry's client for pages, and the bundled command with the dashboard.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { bundle } from "./bundle.mjs";
import { bundleRegistryClient } from "./registry-client.ts";

rmSync("dist", { recursive: true, force: true });
const compiled = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
writeFileSync("dist/registry/client/browser.js", (await bundleRegistryClient()).code);
await bundle();
