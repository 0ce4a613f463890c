// Another registry as a process of its own, found by an environment variable, on the PATH, in cargo's folder or where
// build-peers.ts puts it.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface Peer {
  readonly url: string;
  cpuMicroseconds(): number;
  stop(): void;
}

export function findPeer(program: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(":"), join(homedir(), ".cargo", "bin"), peerFolder];
  return [process.env[program.toUpperCase()], ...folders.map((folder) => join(folder, program))].find(
    (file) => file !== undefined && existsSync(file),
  );
}

export const peerFolder = join(homedir(), ".cache", "capstan-bench", "bin");

/** The first line that it says of its version. */
export const versionOf = (file: string, flag: string): string =>
  spawnSync(file, [flag], { encoding: "utf8" }).stdout.split("\n")[0] ?? "unknown";

export interface PeerCommand {
  readonly file: string;
  readonly url: string;
  readonly args: (folder: string) => readonly string[];
  readonly env: (folder: string) => Readonly<Record<string, string>>;
  /** Answers 200 once it serves. */
  readonly readyPath: string;
}

export async function startPeer({ file, url, args, env, readyPath }: PeerCommand): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-peer-"));
  const child: ChildProcess = spawn(file, args(folder), {
    cwd: folder,
    stdio: "ignore",
    env: { ...process.env, ...env(folder) },
  });
  const stop = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; ; attempt++) {
    const isUp = await fetch(url + readyPath).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (attempt > 300) {
      stop();
      throw new Error(`${file} did not start`);
    }
    await wait(200);
  }
  await wait(2_000);
  return {
    url,
    cpuMicroseconds() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10_000;
    },
    stop,
  };
}
