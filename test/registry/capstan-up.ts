import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

/** The product as its users start it: a process of its own, found through its data directory. */
export interface CapstanProcess {
  readonly dataDir: string;
  /** Where the registry is. */
  readonly http: string;
  readonly child: ChildProcess;
  /** kill -9, and answers when it is gone. */
  kill(): Promise<void>;
}

const entry = resolve(import.meta.dirname, "../../src/cli/main.ts");
const patienceMs = 120_000;

export async function startUp(
  context: TestContext,
  args: readonly string[] = [],
  dataDir = mkdtempSync(join(tmpdir(), "capstan-up-")),
): Promise<CapstanProcess> {
  const ports = ["--api-port=0", "--http-port=0", "--grpc-port=0"];
  const child = spawn(process.execPath, [entry, "up", `--data-dir=${dataDir}`, ...ports, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-10_000);
  });
  context.after(async () => {
    await end(child, "SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  });
  const file = join(dataDir, "ready.json");
  for (let waitedMs = 0; !isReady(file, child); waitedMs += 50) {
    if (child.exitCode !== null || waitedMs > patienceMs) throw new Error(`capstan up did not start:\n${said}`);
    await wait(50);
  }
  const { http } = JSON.parse(readFileSync(file, "utf8")) as { readonly http: string };
  return { dataDir, http, child, kill: () => end(child, "SIGKILL") };
}

/** The file of a killed predecessor names another process. */
function isReady(file: string, { pid }: ChildProcess): boolean {
  if (!existsSync(file)) return false;
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly pid: number }).pid === pid;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await gone;
}
