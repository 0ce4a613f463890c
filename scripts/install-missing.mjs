// Installs the dependencies when they are missing or older than the lockfile. Plain JavaScript that the machine's own
// Node 20 can run: the Node that we pin is one of the things this installs.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = join(root, "node_modules", ".capstan-installed");
const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
  console.error("capstan: installing dependencies (once; about half a minute)…");
  const npm = process.env.npm_execpath;
  const [command, args] = npm ? [process.execPath, [npm]] : ["npm", []];
  const installed = spawnSync(command, [...args, "ci", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32" && !npm,
  });
  if (installed.status !== 0) {
    console.error("capstan: `npm ci` failed; its message is above. Run it by hand in this folder, then try again.");
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}
