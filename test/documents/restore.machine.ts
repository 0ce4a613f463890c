/** Types what docs/operations/backup-and-restore.md says, loses everything in between, and looks whether it is all there again. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WorldInstance } from "../../src/api/world-instance.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findPostgres, startPostgres } from "../../src/store/postgres-server.ts";
import { eventually, startEmbedded } from "../end-to-end/embedded.ts";
import { onRestore, stepsOf } from "./commands.ts";
import { operationsCommands } from "./operations.ts";
import { hasBash, hasKubectl, openTerminal, type Terminal } from "./terminal.ts";

const document = "docs/operations/backup-and-restore.md";
const lines = stepsOf(readFileSync(document, "utf8")).map(({ text }) => text);
const isOfLaptop = (text: string): boolean => /^(cp|rm) /.test(text);
const restoring = operationsCommands(onRestore).map(({ text }) => text);
const restore = restoring.filter((text) => !isOfLaptop(text));
const backUp = lines.filter((text) => !restoring.includes(text));
const laptop = restoring.filter(isOfLaptop);

const postgres = findPostgres();
const missing =
  (!hasBash && "bash is not installed") ||
  (!hasKubectl && "kubectl is not installed") ||
  ("missing" in postgres && postgres.missing) ||
  (spawnSync("pg_restore", ["--version"]).status !== 0 && "pg_restore is not installed");

test("objects, policies, keys and the trail come back on another server", {
  skip: missing,
  timeout: 600_000,
}, async (context) => {
  assert.ok(backUp.length >= 6 && restore.length >= 6, "the document has both parts");
  const database = await startPostgres();
  context.after(() => database.stop());
  const first = await startEmbedded(context, ["demo"], { demo: true, database: database.url });
  const terminal = openTerminal(context, first.dataDir);
  await terminal.type(`export KUBECONFIG=${first.plane.kubeconfig}`);
  await terminal.type(`export DATABASE_URL=${database.url}`);
  await say(
    terminal,
    "kubectl wait --for=jsonpath={.status.phase}=waiting_approval ke/checkout-is-slow-step-1 -n shop-demo --timeout=60s",
  );
  await say(terminal, "capstan approve checkout-is-slow-step-1 -n shop-demo --reason agreed");
  await say(
    terminal,
    "kubectl wait --for=jsonpath={.status.overallPhase}=completed remediationrequest/checkout-is-slow -n shop-demo --timeout=180s",
  );
  // On a cluster the pods have made it; here the key is a file.
  await say(
    terminal,
    "kubectl create secret generic capstan-actions -n capstan-system --from-file=audit.key=.capstan/audit.key",
  );
  await say(terminal, "kubectl create configmap of-my-own -n kubernaut-system --from-literal=mine.rego=package\\ mine");
  let end = "";
  for (const text of backUp) {
    const output = await say(terminal, text);
    end = /\b(\d+:[0-9a-f]{16,})\b/.exec(output)?.[1] ?? end;
  }
  assert.notEqual(end, "", "audit verify prints the end of the trail");

  // Everything is lost, and the database goes on from somewhere else.
  await first.stop();
  const key = join(terminal.folder, "kept.key");
  copyFileSync(join(first.dataDir, "audit.key"), key);
  rmSync(first.dataDir, { recursive: true });
  const second = await startEmbedded(context, [], { demo: true });
  await terminal.type(`export KUBECONFIG=${second.plane.kubeconfig}`);
  for (const name of ["capstan-actions", "capstan-registry"])
    await say(terminal, `kubectl create deployment ${name} -n capstan-system --image=nobody/runs:this`);
  await wipe(database.url);
  for (const text of restore) {
    const output = await say(terminal, text.replace("END", end));
    if (/--expect/.test(text)) assert.match(output, /whole|ok|verified|proves/i);
  }
  await eventually(
    () => second.client.get(WorldInstance, { namespace: "anvil-demo", name: "anvil-sample-world" }),
    ({ status }) => assert.ok(status?.phase, "somebody looks after it again"),
  );
  assert.match(await say(terminal, "kubectl get configmap of-my-own -n kubernaut-system -o yaml"), /package mine/);
  assert.match(await say(terminal, 'capstan audit list --database-url "$DATABASE_URL" -n shop-demo'), /approve/);
  const kept = await say(
    terminal,
    "kubectl get secret capstan-actions -n capstan-system -o jsonpath='{.data.audit\\.key}' | base64 -d",
  );
  assert.equal(kept.trim(), readFileSync(key, "utf8").trim());
});

test("the folder of a laptop comes back as it was, after kill -9", {
  skip: hasBash ? false : missing,
  timeout: 300_000,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-restore-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  assert.equal(laptop.length, 3, laptop.join("; "));
  const [copy = "", ...back] = laptop;
  const before = await withProgram(context, folder, async (client) => {
    await client.patch(
      WorldInstance,
      { namespace: "anvil-demo", name: "stormy-world" },
      { type: "merge", value: { spec: { region: "acknowledged" } } },
    );
    return worldsOf(client);
  });
  shell(folder, copy);
  await withProgram(context, folder, async (client) => {
    await client.delete(WorldInstance, { namespace: "anvil-demo", name: "stormy-world" });
  });
  for (const text of back) shell(folder, text);
  const after = await withProgram(context, folder, worldsOf);
  assert.deepEqual(after, before);
  assert.ok(
    after.some((text) => /stormy-world .* acknowledged/.test(text)),
    after.join(),
  );
  const verified = spawnSync(process.execPath, [resolve("bin/capstan.mjs"), "audit", "verify"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
});

type Client = Awaited<ReturnType<typeof clientFromKubeconfig>>["client"];

const worldsOf = async (client: Client): Promise<readonly string[]> =>
  (await client.list(WorldInstance)).items.map(
    ({ metadata, spec }) => `${metadata.name} ${metadata.uid} ${spec.region}`,
  );

/** The program as a person runs it, until it is killed without a warning. */
async function withProgram<T>(context: TestContext, cwd: string, work: (client: Client) => Promise<T>): Promise<T> {
  const ports = ["--api-port", "0", "--http-port", "0", "--grpc-port", "0"];
  const child: ChildProcess = spawn(process.execPath, [resolve("bin/capstan.mjs"), "up", "--demo", ...ports], {
    cwd,
    stdio: "ignore",
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  context.after(() => child.kill("SIGKILL"));
  const ready = join(cwd, ".capstan", "ready.json");
  const isReady = (): boolean =>
    existsSync(ready) && (JSON.parse(readFileSync(ready, "utf8")) as { readonly pid: number }).pid === child.pid;
  while (!isReady()) {
    assert.equal(child.exitCode, null, "it ended by itself");
    await sleep(50);
  }
  const { client, close } = await clientFromKubeconfig({
    env: systemEnv,
    paths: [join(cwd, ".capstan", "kubeconfig")],
  });
  const answer = await work(client);
  await close();
  child.kill("SIGKILL");
  await ended;
  return answer;
}

async function say(terminal: Terminal, text: string): Promise<string> {
  const { code, output } = await terminal.type(text);
  assert.equal(code, 0, `${text}\n${output}`);
  return output;
}

const wipe = async (url: string): Promise<void> =>
  void shell(tmpdir(), `psql -q "${url}" -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public'`);

function shell(cwd: string, command: string): void {
  const { status, stderr } = spawnSync("bash", ["-c", command], { cwd, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stderr}`);
}
