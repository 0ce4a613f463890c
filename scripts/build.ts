// Builds what is published: the library with its declarations, and the bundled command with the dashboard.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { bundle } from "./bundle.mjs";

rmSync("dist", { recursive: true, force: true });
const compiled = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
await bundle();
