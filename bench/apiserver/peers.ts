// The two servers under comparison, each with everything that it needs to keep what it acknowledged.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { realServerFolder } from "../../scripts/cluster/api-server.ts";

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  /** Of all its processes together. */
  residentBytes(): number;
  /** Processor time that all its processes have used so far. */
  processorSeconds(): number;
  stop(): Promise<void>;
}

export interface Peer {
  readonly name: "embedded" | "real";
  start(): Promise<RunningServer>;
}

/** Bundles the API server once; every start runs the same file. */
export async function embeddedPeer(): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), "capstan-bench-bundle-"));
  const file = join(folder, "serve.mjs");
  const built = await rolldown({
    input: fileURLToPath(new URL("./serve.ts", import.meta.url)),
    platform: "node",
    logLevel: "silent",
  });
  await built.write({ dir: dirname(file), format: "esm", entryFileNames: "serve.mjs", minify: true });
  await built.close();
  return {
    name: "embedded",
    async start() {
      const directory = await mkdtemp(join(tmpdir(), "capstan-bench-data-"));
      const child = spawn(process.execPath, [file, directory, "0"], { stdio: ["ignore", "pipe", "inherit"] });
      const lines = createInterface({ input: child.stdout });
      const [line] = (await Promise.race([
        new Promise<string[]>((resolve) => lines.once("line", (text) => resolve([text]))),
        exited(child, "the embedded server"),
      ])) as string[];
      const { url, token } = JSON.parse(line ?? "{}") as { url: string; token: string };
      return {
        url,
        token,
        residentBytes: () => residentBytes([child]),
        processorSeconds: () => processorSeconds([child]),
        async stop() {
          await end(child);
          await rm(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

/** kube-apiserver and etcd, when somebody has built them here. */
export function realPeer(): Peer | undefined {
  const folder = realServerFolder();
  return folder === undefined ? undefined : { name: "real", start: () => startReal(folder) };
}

async function startReal(folder: string): Promise<RunningServer> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-bench-real-"));
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string): string => join(directory, name);
  execFileSync("openssl", ["genrsa", "-out", file("sa.key"), "2048"], { stdio: "ignore" });
  execFileSync("openssl", ["rsa", "-in", file("sa.key"), "-pubout", "-out", file("sa.pub")], { stdio: "ignore" });
  const token = "benchmark";
  writeFileSync(file("tokens.csv"), `${token},admin,admin,system:masters\n`);
  const etcd = spawn(
    join(folder, "etcd"),
    [
      ["--data-dir", file("etcd")],
      ["--listen-client-urls", `http://127.0.0.1:${client}`, "--advertise-client-urls", `http://127.0.0.1:${client}`],
      ["--listen-peer-urls", `http://127.0.0.1:${peer}`, "--initial-advertise-peer-urls", `http://127.0.0.1:${peer}`],
      ["--initial-cluster", `default=http://127.0.0.1:${peer}`, "--log-level", "error"],
    ].flat(),
    { stdio: "ignore" },
  );
  const api = spawn(
    join(folder, "kube-apiserver"),
    [
      `--etcd-servers=http://127.0.0.1:${client}`,
      `--secure-port=${port}`,
      "--bind-address=127.0.0.1",
      `--cert-dir=${file("certs")}`,
      `--service-account-key-file=${file("sa.pub")}`,
      `--service-account-signing-key-file=${file("sa.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--token-auth-file=${file("tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      "--service-cluster-ip-range=10.0.0.0/24",
    ],
    { stdio: "ignore" },
  );
  return {
    url: `https://127.0.0.1:${port}`,
    token,
    residentBytes: () => residentBytes([etcd, api]),
    processorSeconds: () => processorSeconds([etcd, api]),
    async stop() {
      await end(api);
      await end(etcd);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

function residentBytes(children: readonly ChildProcess[]): number {
  return children.reduce((sum, { pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }, 0);
}

/** Ticks of a hundredth of a second, which is what Linux counts in for everybody. */
function processorSeconds(children: readonly ChildProcess[]): number {
  return children.reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

const exited = (child: ChildProcess, what: string): Promise<never> =>
  new Promise((_resolve, reject) => child.once("exit", (code) => reject(new Error(`${what} ended with ${code}`))));

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
  await gone;
  clearTimeout(timer);
}
