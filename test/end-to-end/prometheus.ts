import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { eventually } from "./class-runtime-world.ts";

/** A real Prometheus that scrapes an exporter of ours, which first tells it of the past: rates need minutes of history. */
export const missingPrometheus: string | false =
  spawnSync("prometheus", ["--version"], { stdio: "ignore" }).status === 0
    ? false
    : "there is no prometheus on this machine (Debian: apt-get install prometheus)";

/** The lines of an exporter at one moment, without their times. */
export type Exported = (atSeconds: number) => readonly string[];

export interface Prometheus {
  readonly url: string;
  /** As if the machine went down. */
  kill(): Promise<void>;
}

const historySeconds = 1_200;
const stepSeconds = 15;

export async function startPrometheus(context: TestContext, exported: Exported): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-prometheus-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const exporter = await startExporter(context, exported);
  writeFileSync(
    join(folder, "prometheus.yml"),
    `global: { scrape_interval: 100ms, scrape_timeout: 100ms }
scrape_configs:
  - job_name: exporter
    honor_labels: true
    static_configs: [{ targets: ["127.0.0.1:${exporter.port}"] }]
`,
  );
  const port = await freePort();
  const server = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: "ignore" },
  );
  const kill = (): Promise<void> => end(server);
  context.after(kill);
  const url = `http://127.0.0.1:${port}`;
  // The last sample of the past has been taken, and can be asked for.
  await eventually(
    async () => {
      if (!exporter.hasCaughtUp()) throw new Error("the past is not told yet");
      const query = new URLSearchParams({
        query: "count(count_over_time(container_memory_working_set_bytes[15m]) > 50)",
      });
      return (await (await fetch(`${url}/api/v1/query?${query}`)).json()) as { data: { result: unknown[] } };
    },
    ({ data }) => {
      if (data.result.length === 0) throw new Error("Prometheus has no history yet");
    },
  );
  return { url, kill };
}

async function startExporter(
  context: TestContext,
  exported: Exported,
): Promise<{ readonly port: number; hasCaughtUp(): boolean }> {
  let at = nowSeconds() - historySeconds;
  let caughtUp = false;
  const server = createServer((_request, response) => {
    at += stepSeconds;
    caughtUp ||= at >= nowSeconds();
    const time = caughtUp ? nowSeconds() : at;
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
    response.end(
      exported(time)
        .map((line) => `${line} ${Math.round(time * 1000)}\n`)
        .join(""),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, hasCaughtUp: () => caughtUp };
}

const nowSeconds = (): number => Date.now() / 1000;

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
