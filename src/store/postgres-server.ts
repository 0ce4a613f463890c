import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A PostgreSQL server of our own in a temporary folder, for the machine tier's tests and for benchmarks. */
export interface PostgresServer {
  readonly url: string;
  /** kill -9 of the whole server. */
  kill(): Promise<void>;
  /** Starts it again after a kill. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Answers why there is none. */
export function findPostgres(): { readonly bin: string } | { readonly missing: string } {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const bin = versions.map((version) => join(root, version, "bin")).find((path) => existsSync(join(path, "initdb")));
  return bin ? { bin } : { missing: `no PostgreSQL server under ${root}` };
}

export async function startPostgres(): Promise<PostgresServer> {
  const found = findPostgres();
  if ("missing" in found) throw new Error(found.missing);
  const folder = mkdtempSync(join(tmpdir(), "capstan-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data);
  const as = serverUser();
  if (as) for (const path of [folder, data]) chownSync(path, as.uid, as.gid);
  const settings = { ...as, cwd: folder, stdio: "ignore" as const };
  execFileSync(join(found.bin, "initdb"), ["-D", data, "-U", "capstan", "-A", "trust", "-E", "UTF8"], settings);
  const port = await freePort();
  const url = `postgres://capstan@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const args = ["-D", data, "-h", "127.0.0.1", "-p", String(port), "-k", folder];
    const launch = (): ChildProcess => {
      child = spawn(join(found.bin, "postgres"), args, { ...settings, detached: true });
      return child;
    };
    await untilReady(found.bin, port, launch);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (running?.pid === undefined || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    // The group: a postmaster that dies alone leaves its children behind for a moment.
    process.kill(signal === "SIGKILL" ? -running.pid : running.pid, signal);
    await gone;
  };
  await start();
  return {
    url,
    start,
    kill: () => end("SIGKILL"),
    async stop() {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function freePort(): Promise<number> {
  const { Server } = await import("node:net");
  const server = new Server();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

/** After a kill the first one may end again at once: it does not start while a child of its predecessor is still there. */
async function untilReady(bin: string, port: number, launch: () => ChildProcess): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  let child = launch();
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) child = launch();
    try {
      execFileSync(join(bin, "pg_isready"), ["-h", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
      return;
    } catch {
      await wait(100);
    }
  }
  throw new Error("PostgreSQL did not start");
}
