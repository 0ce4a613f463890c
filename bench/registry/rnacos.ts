// r-nacos (Rust) as a peer, if it has been built: `cargo install rnacos --version 0.8.5`, found by RNACOS, on the PATH or
// in cargo's folder.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface Rnacos {
  readonly url: string;
  cpuMicroseconds(): number;
  rss(): number;
  stop(): void;
}

export function findRnacos(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(":"), join(homedir(), ".cargo", "bin")];
  return [process.env["RNACOS"], ...folders.map((folder) => join(folder, "rnacos"))].find(
    (file) => file !== undefined && existsSync(file),
  );
}

export async function startRnacos(file: string): Promise<Rnacos> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-rnacos-"));
  const port = 18_848;
  const child: ChildProcess = spawn(file, [], {
    cwd: folder,
    stdio: "ignore",
    env: {
      ...process.env,
      RNACOS_HTTP_PORT: String(port),
      RNACOS_GRPC_PORT: String(port + 1000),
      RNACOS_HTTP_CONSOLE_PORT: String(port + 2000),
      RNACOS_DATA_DIR: folder,
      RNACOS_HTTP_WORKERS: "1",
      RNACOS_ENABLE_NO_AUTH_CONSOLE: "true",
    },
  });
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt++) {
    const isUp = await fetch(`${url}/nacos/v1/ns/operator/metrics`).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (attempt > 100) throw new Error("rnacos did not start");
    await wait(100);
  }
  await wait(2_000);
  return {
    url,
    cpuMicroseconds() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10_000;
    },
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) * 1024,
    stop() {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
