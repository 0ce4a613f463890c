// A real Prometheus scrapes a running control plane, loads our alert rules and answers every query of the dashboard.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { eventually, startEmbedded } from "../end-to-end/embedded.ts";
import { codeBlocks } from "./markdown.ts";
import { alertsFile, shippedQueries } from "./observability.ts";

const missing = spawnSync("prometheus", ["--version"]).error && "there is no prometheus on this machine";

test("Prometheus takes our rules and answers the dashboard's queries", { skip: missing ?? false }, async (context) => {
  const { plane } = await startEmbedded(context, ["demo"]);
  const folder = mkdtempSync(join(tmpdir(), "capstan-prometheus-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const configuration = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [alertsFile],
    ...documentedScraping(new URL(plane.http).host),
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(configuration));
  const prometheus = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  context.after(() => prometheus.kill());
  const ask = async (path: string): Promise<Answer> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return (await answer.json()) as Answer;
  };
  const query = (text: string): Promise<Answer> => ask(`query?query=${encodeURIComponent(text)}`);

  await eventually(
    () => query('count(count_over_time(controller_runtime_reconcile_total{job="capstan"}[1m]) > 1)'),
    ({ data }) => assert.equal(data?.result?.length, 1),
  );
  const rules = await ask("rules");
  const states = (rules.data?.groups ?? []).flatMap((group) => group.rules);
  assert.ok(states.length >= 10, `${states.length} rules`);
  await eventually(
    () => ask("rules"),
    ({ data }) => {
      const unhealthy = (data?.groups ?? []).flatMap((group) => group.rules).filter(({ health }) => health !== "ok");
      assert.deepEqual(unhealthy, []);
    },
  );
  for (const { where, query: text } of shippedQueries()) {
    const { status, error } = await query(text);
    assert.equal(status, "success", `${where}: ${error}`);
  }
  // The demo has worlds, so these have something to show.
  for (const text of ["sum(capabilityresolver_bindings_desired) > 0", "sum(controller_runtime_reconcile_total) > 0"]) {
    await eventually(
      () => query(text),
      ({ data }) => assert.equal(data?.result?.length, 1, text),
    );
  }
});

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result?: readonly unknown[];
    readonly groups?: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
  };
}

/** As deploy/observability/README.md has it, for where this control plane listens. */
function documentedScraping(target: string): object {
  const [block] = codeBlocks(readFileSync("deploy/observability/README.md", "utf8"));
  assert.match(block?.text ?? "", /127\.0\.0\.1:8080/);
  return parse((block?.text ?? "").replace("127.0.0.1:8080", target)) as object;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
