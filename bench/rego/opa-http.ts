/** OPA as a server, asked over HTTP on the loopback with a connection that stays open. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Pool } from "undici";
import { build, versions } from "./built.ts";
import type { BenchCase } from "./cases.ts";
import { type PeerResult, percentile } from "./peer.ts";

/** The OPA binary: `$OPA`, on the PATH, or built with Go. */
export function obtainOpa(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = [process.env["OPA"], ...folders.map((folder) => join(folder, "opa"))];
  const found = candidates.find((path) => path !== undefined && path !== "" && existsSync(path));
  return (
    found ??
    build({
      name: "opa",
      files: {},
      commands: [["go", "install", `github.com/open-policy-agent/opa@${versions.opa}`]],
      result: "opa",
    })
  );
}

export async function measureOpaHttp(cases: readonly BenchCase[]): Promise<readonly PeerResult[] | undefined> {
  const opa = obtainOpa();
  if (opa === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "capstan-opa-http-"));
  const port = await freePort();
  const data = Object.assign({}, ...cases.map((item) => item.data)) as object;
  writeFileSync(join(folder, "data.json"), JSON.stringify(data));
  for (const item of cases) writeFileSync(join(folder, item.file), item.source);
  const server = spawn(opa, ["run", "--server", "--log-level", "error", "--addr", `127.0.0.1:${port}`, folder], {
    stdio: "ignore",
  });
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 });
  try {
    await waitUntilReady(pool, server);
    const results: PeerResult[] = [];
    for (const item of cases) results.push(await measure(pool, item));
    return results;
  } finally {
    await pool.close();
    server.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(pool: Pool, item: BenchCase): Promise<PeerResult> {
  const path = `/v1/data/${item.query.replace(/^data\./, "").replaceAll(".", "/")}`;
  const bodies = item.inputs.map((input) => JSON.stringify({ input }));
  const ask = async (index: number): Promise<string> => {
    const { body } = await pool.request({ path, method: "POST", body: bodies[index % bodies.length] ?? "{}" });
    return body.text();
  };
  for (let index = 0; index < 300; index++) await ask(index);
  const times: number[] = [];
  for (let index = 0; index < 2000; index++) {
    const start = performance.now();
    await ask(index);
    times.push((performance.now() - start) * 1e6);
  }
  const answers: string[] = [];
  for (let index = 0; index < item.inputs.length; index++) {
    const { result } = JSON.parse(await ask(index)) as { readonly result?: unknown };
    answers.push(JSON.stringify(result) ?? "undefined");
  }
  return { name: item.name, p50Ns: percentile(times, 50), p99Ns: percentile(times, 99), answers };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

async function waitUntilReady(pool: Pool, server: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (server.exitCode !== null) throw new Error(`opa ended with ${server.exitCode}`);
    try {
      const { statusCode, body } = await pool.request({ path: "/health", method: "GET" });
      await body.text();
      if (statusCode === 200) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("opa did not start within 10 s");
}
