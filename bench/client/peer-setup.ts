// What the benchmarks beside @kubernetes/client-node share: the peer itself, and the server that both ask.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const peerVersion = "2.0.1";

export async function installPeer(): Promise<string> {
  const folder = join(tmpdir(), `capstan-bench-client-node-${peerVersion}`);
  if (existsSync(join(folder, "node_modules", "@kubernetes", "client-node", "package.json"))) return folder;
  console.error(`installing @kubernetes/client-node ${peerVersion} into a temporary folder…`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  const npm = process.env["npm_execpath"];
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `@kubernetes/client-node@${peerVersion}`];
  await promisify(execFile)(npm ? process.execPath : "npm", npm ? [npm, ...args] : args, { cwd: folder });
  return folder;
}

export async function startServer(): Promise<{ readonly url: string; readonly ca: string; stop(): void }> {
  const program = fileURLToPath(new URL("server.ts", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, ca } = JSON.parse(line) as { url: string; ca: string };
    return { url, ca, stop: () => void child.kill() };
  }
  throw new Error("the benchmark's server did not start");
}
