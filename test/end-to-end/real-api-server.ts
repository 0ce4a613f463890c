import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { eventually } from "./class-runtime-world.ts";

/** etcd and kube-apiserver without a node: what the API itself does with our objects, and nothing that runs them. */
const folder = process.env["REAL_CLUSTER_DIR"] ?? join(homedir(), ".cache/real-cluster");
const binaries = globSync(join(folder, "bin-*")).sort().at(-1) ?? "";

export const missingApiServer: string | false = ["etcd", "kube-apiserver"].every((name) =>
  existsSync(join(binaries, name)),
)
  ? false
  : "there are no etcd and kube-apiserver on this machine";

export async function startRealApiServer(context: TestContext): Promise<Client> {
  const home = mkdtempSync(join(tmpdir(), "capstan-real-api-"));
  const running: ChildProcess[] = [];
  const [clientPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string): string => join(home, name);
  const openssl = (args: string): unknown => execFileSync("openssl", args.split(" "), { cwd: home, stdio: "ignore" });
  openssl(
    "req -x509 -newkey rsa:2048 -nodes -keyout server.key -out server.crt -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1",
  );
  openssl("genrsa -out sa.key 2048");
  writeFileSync(file("tokens.csv"), "admin-token,admin,admin,system:masters\n");
  const etcd = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const start = (name: string, options: Readonly<Record<string, string>>): void => {
    const args = Object.entries(options).map(([key, value]) => `--${key}=${value}`);
    running.push(spawn(join(binaries, name), args, { cwd: home, stdio: "ignore" }));
  };
  start("etcd", {
    "data-dir": "etcd",
    "listen-client-urls": etcd,
    "advertise-client-urls": etcd,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `default=${peer}`,
    "unsafe-no-fsync": "true",
  });
  start("kube-apiserver", {
    "etcd-servers": etcd,
    "secure-port": String(port),
    "bind-address": "127.0.0.1",
    "tls-cert-file": "server.crt",
    "tls-private-key-file": "server.key",
    "service-account-key-file": "sa.key",
    "service-account-signing-key-file": "sa.key",
    "service-account-issuer": "https://kubernetes.default.svc",
    "token-auth-file": "tokens.csv",
    "authorization-mode": "RBAC",
    "service-cluster-ip-range": "10.0.0.0/24",
  });
  writeFileSync(file("kubeconfig"), kubeconfig(port, readFileSync(file("server.crt"))));
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [file("kubeconfig")] });
  context.after(async () => {
    await close();
    for (const child of running.toReversed()) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  await eventually(
    () => client.get(Namespace, { name: "default" }),
    () => undefined,
  );
  return client;
}

const kubeconfig = (port: number, certificate: Buffer): string => `apiVersion: v1
kind: Config
current-context: real
contexts: [{ name: real, context: { cluster: real, user: admin } }]
users: [{ name: admin, user: { token: admin-token } }]
clusters:
  - name: real
    cluster: { server: "https://127.0.0.1:${port}", certificate-authority-data: ${certificate.toString("base64")} }
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
