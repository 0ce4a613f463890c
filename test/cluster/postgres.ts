import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificateAuthority, issueCertificate } from "../../src/http/x509.ts";
import { findPostgres } from "../../src/store/postgres-server.ts";
import { pause } from "./world.ts";

/** A PostgreSQL that speaks TLS only, on the address by which pods see this machine. */
export interface SecurePostgres {
  readonly url: string;
  /** The authority that signed its certificate. */
  readonly certificate: string;
  /** kill -9 of the whole server, then started again. */
  restart(): Promise<void>;
  /** One value, asked as its administrator. */
  ask(sql: string): string;
  stop(): Promise<void>;
}

export async function startSecurePostgres(address: string): Promise<SecurePostgres> {
  const found = findPostgres();
  if ("missing" in found) throw new Error(found.missing);
  const folder = mkdtempSync(join(tmpdir(), "capstan-cluster-postgres-"));
  const data = join(folder, "data");
  mkdirSync(data);
  const user = postgresUser();
  const port = await freePort(address);
  const validity = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 86_400_000) };
  const authority = createCertificateAuthority({ subject: { commonName: "database-ca" }, validity });
  const { certificatePem, keyPem } = issueCertificate(authority, {
    subject: { commonName: "database" },
    ipAddresses: [address],
    usages: ["server"],
    validity,
  });
  const files = { "server.crt": certificatePem, "server.key": keyPem, password: "cluster-test" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  for (const path of ["", "data", ...Object.keys(files)]) chownSync(join(folder, path), user.uid, user.gid);
  chmodSync(folder, 0o700);
  const settings = { ...user, cwd: folder, stdio: "ignore" as const };
  const password = join(folder, "password");
  execFileSync(
    join(found.bin, "initdb"),
    ["-D", data, "-U", "capstan", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8"],
    settings,
  );
  writeFileSync(join(data, "pg_hba.conf"), `local all all trust\nhostssl all all 10.88.0.0/15 scram-sha-256\n`);
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const options = [
      "ssl=on",
      `ssl_cert_file=${join(folder, "server.crt")}`,
      `ssl_key_file=${join(folder, "server.key")}`,
    ].flatMap((option) => ["-c", option]);
    const args = ["-D", data, "-h", address, "-p", String(port), "-k", folder, ...options];
    const spawned = (): ChildProcess => spawn(join(found.bin, "postgres"), args, { ...settings, detached: true });
    child = spawned();
    for (let attempt = 0; !isReady(); attempt++) {
      if (attempt > 600) throw new Error("PostgreSQL did not start");
      await pause(200);
      // After a kill it refuses to start while the last of the old processes still hold its memory.
      if (child.exitCode !== null) child = spawned();
    }
  };
  const isReady = (): boolean => {
    try {
      execFileSync(join(found.bin, "pg_isready"), ["-h", folder, "-p", String(port)], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (running?.pid === undefined || running.exitCode !== null) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    process.kill(signal === "SIGKILL" ? -running.pid : running.pid, signal);
    await gone;
  };
  await start();
  return {
    url: `postgres://capstan:cluster-test@${address}:${port}/postgres?sslmode=verify-full`,
    certificate: authority.certificatePem,
    ask: (sql) =>
      execFileSync("psql", ["-h", folder, "-p", String(port), "-U", "capstan", "-d", "postgres", "-Atc", sql], {
        encoding: "utf8",
      }).trim(),
    async restart() {
      await end("SIGKILL");
      await start();
    },
    async stop() {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(address: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** PostgreSQL refuses to run as root. */
function postgresUser(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
