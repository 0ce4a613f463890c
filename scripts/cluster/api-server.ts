// Starts a real kube-apiserver with etcd on free loopback ports and stops both again. The generators and the machine tests
// ask it what the real answer is; CAPSTAN_REAL_BIN names the folder with the two programs.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const startTimeoutMs = 90_000;
const requestTimeoutMs = 30_000;

export interface RealAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  json(): unknown;
}

export interface RealServer extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<RealAnswer>;
  stop(): Promise<void>;
}

/** Where `npm run cluster -- --build` has put etcd and kube-apiserver, of the newest version; `CAPSTAN_REAL_BIN` names another folder. */
export function realServerFolder(version = "*"): string | undefined {
  const cluster = process.env["CAPSTAN_CLUSTER_DIR"] ?? join(homedir(), ".cache", "capstan-cluster");
  const { CAPSTAN_REAL_BIN: named } = process.env;
  const folders =
    named === undefined
      ? globSync(join(cluster, `bin-${version}`))
          .sort()
          .reverse()
      : [named];
  return folders.find((folder) => ["kube-apiserver", "etcd"].every((name) => existsSync(join(folder, name))));
}

/** Why a test that needs it is skipped. */
export const missingRealServer: string | false =
  realServerFolder() === undefined &&
  "no etcd and kube-apiserver are built on this machine (npm run cluster -- --build)";

export async function startRealServer(
  folder: string | undefined = realServerFolder(),
  extraFlags: readonly string[] = [],
): Promise<RealServer> {
  if (folder === undefined) throw new Error(String(missingRealServer));
  const directory = mkdtempSync(join(tmpdir(), "capstan-real-"));
  const [clientPort, peerPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const token = randomBytes(16).toString("hex");
  makeKeys(directory, token);
  const children = [
    run(join(folder, "etcd"), directory, "etcd", [
      `--data-dir=${join(directory, "etcd")}`,
      `--listen-client-urls=http://127.0.0.1:${clientPort}`,
      `--advertise-client-urls=http://127.0.0.1:${clientPort}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peerPort}`,
      `--initial-cluster=default=http://127.0.0.1:${peerPort}`,
      "--unsafe-no-fsync",
    ]),
    run(join(folder, "kube-apiserver"), directory, "kube-apiserver", [
      `--etcd-servers=http://127.0.0.1:${clientPort}`,
      `--secure-port=${apiPort}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none",
      `--tls-cert-file=${join(directory, "server.crt")}`,
      `--tls-private-key-file=${join(directory, "server.key")}`,
      `--service-account-key-file=${join(directory, "sa.pub")}`,
      `--service-account-signing-key-file=${join(directory, "sa.key")}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--token-auth-file=${join(directory, "tokens.csv")}`,
      "--authorization-mode=Node,RBAC",
      "--service-cluster-ip-range=10.0.0.0/24",
      "--allow-privileged=true",
      ...extraFlags,
    ]),
  ];
  const certificate = readFileSync(join(directory, "server.crt"), "utf8");
  const stop = async (): Promise<void> => {
    await Promise.all(children.reverse().map(end));
    rmSync(directory, { recursive: true, force: true });
  };
  const call: RealServer["call"] = (method, path, body, headers = {}) =>
    ask({ certificate, token, port: apiPort, method, path, body, headers });
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(apiPort, join(directory, "server.crt"), token), { mode: 0o600 });
  try {
    await untilReady(call, children);
  } catch (cause) {
    await stop();
    throw new Error("the real kube-apiserver did not become ready", { cause });
  }
  return { url: `https://127.0.0.1:${apiPort}`, kubeconfig, call, stop, [Symbol.asyncDispose]: stop };
}

async function untilReady(call: RealServer["call"], children: readonly ChildProcess[]): Promise<void> {
  for (let waited = 0; waited < startTimeoutMs; waited += 200) {
    const ended = children.find((child) => child.exitCode !== null);
    if (ended) throw new Error(`${ended.spawnfile} ended with code ${ended.exitCode}`);
    const answer = await call("GET", "/readyz").catch(() => undefined);
    const namespace =
      answer?.text === "ok" ? await call("GET", "/api/v1/namespaces/default").catch(() => undefined) : undefined;
    if (namespace?.status === 200) return;
    await delay(200);
  }
  throw new Error(`not ready in ${startTimeoutMs} ms`);
}

interface Ask {
  readonly certificate: string;
  readonly token: string;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

function ask({ certificate, token, port, method, path, body, headers }: Ask): Promise<RealAnswer> {
  const payload =
    body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        method,
        path,
        ca: certificate,
        timeout: requestTimeoutMs,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          ...(payload !== undefined && {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(payload),
          }),
          ...headers,
        },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: () => JSON.parse(text) });
        });
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${path}`)));
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
}

function makeKeys(directory: string, token: string): void {
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): unknown => execFileSync("openssl", args, { stdio: "ignore" });
  mkdirSync(directory, { recursive: true });
  openssl("genrsa", "-out", at("sa.key"), "2048");
  openssl("rsa", "-in", at("sa.key"), "-pubout", "-out", at("sa.pub"));
  openssl(
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("server.key"), "-out", at("server.crt")],
    ...["-days", "2", "-subj", "/CN=real", "-addext", "subjectAltName=IP:127.0.0.1,IP:10.0.0.1"],
  );
  writeFileSync(at("tokens.csv"), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
}

const kubeconfigText = (port: number, certificate: string, token: string): string => `apiVersion: v1
kind: Config
clusters: [{name: real, cluster: {server: "https://127.0.0.1:${port}", certificate-authority: "${certificate}"}}]
users: [{name: admin, user: {token: "${token}"}}]
contexts: [{name: real, context: {cluster: real, user: admin}}]
current-context: real
`;

function run(program: string, directory: string, name: string, args: readonly string[]): ChildProcess {
  const child = spawn("sh", ["-c", `exec "$0" "$@" > "${join(directory, `${name}.log`)}" 2>&1`, program, ...args], {
    stdio: "ignore",
  });
  child.on("error", () => undefined);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const killer = delay(5_000).then(() => child.kill("SIGKILL"));
  await Promise.race([ended, killer]);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
