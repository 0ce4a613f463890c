/** What `capstan complete` answers to a shell: names from the instance that the line would speak to, or nothing, and quietly. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { questionOf } from "../../src/cli/completion/question.ts";
import { createProgram } from "../../src/cli/program.ts";
import { eventually, startEmbedded } from "./embedded.ts";

test("names, namespaces, contexts and services are those of the running instance", {
  timeout: 120_000,
}, async (context) => {
  const { dataDir, plane } = await startEmbedded(context, ["demo"], {
    demo: true,
    command: [process.execPath, resolve("test/documents/pod-program.ts")],
  });
  writeFileSync(join(dataDir, "ready.json"), JSON.stringify(plane));
  const offers = async (...typed: readonly string[]): Promise<readonly string[]> => {
    const question = questionOf(createProgram(), typed, { CAPSTAN_DATA_DIR: dataDir });
    assert.ok(question, typed.join(" "));
    return [...(await question.supplier(question.typed))].sort();
  };
  assert.deepEqual(await offers("explain", "world", "-n", "anvil-demo", ""), ["anvil-sample-world", "stormy-world"]);
  assert.deepEqual(await offers("explain", "WorldInstance", "--namespace=anvil-demo", "sto"), [
    "anvil-sample-world",
    "stormy-world",
  ]);
  assert.deepEqual(await offers("explain", "world", ""), [], "none in the namespace that the command would look in");
  await assert.rejects(offers("explain", "nothing-such", ""), /knows no kind/);
  for (const command of ["explain", "approve", "reject", "doctor"]) {
    const namespaces = await offers(command, "-n", "");
    for (const name of ["anvil-demo", "shop-demo", "default"])
      assert.ok(namespaces.includes(name), `${command} ${name}`);
  }
  assert.ok((await offers("audit", "list", "-n", "")).includes("shop-demo"));
  assert.deepEqual(await offers("explain", "--context", ""), ["capstan"]);
  await eventually(
    () => offers("approve", "-n", "shop-demo", ""),
    (waiting) => assert.deepEqual(waiting, ["checkout-is-slow-step-1"]),
  );
  await eventually(
    () => offers("services", "list", "--name", ""),
    (services) => assert.ok(services.includes("core-time-source"), services.join()),
  );
});

test("a server that never answers is given up, and nobody is told", { timeout: 60_000 }, async (context) => {
  const silent = createServer(() => undefined);
  context.after(() => silent.close());
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  const { port } = silent.address() as { readonly port: number };
  const file = join(temporaryFolder(context), "kubeconfig");
  writeFileSync(file, kubeconfigFor(`https://127.0.0.1:${port}`));
  assert.deepEqual(await complete("explain", "world", "--kubeconfig", file, ""), quiet);
});

test("so is one that is not there, a file that is none, and a kind that nobody knows", {
  timeout: 60_000,
}, async (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, "away"), kubeconfigFor("https://127.0.0.1:9"));
  writeFileSync(join(folder, "broken"), "{{{");
  assert.deepEqual(await complete("explain", "-n", "--kubeconfig", join(folder, "away"), ""), quiet);
  assert.deepEqual(await complete("approve", "--kubeconfig", join(folder, "broken"), ""), quiet);
  assert.deepEqual(await complete("explain", "nothing-such", ""), quiet);
});

const quiet = { code: 0, stdout: "", stderr: "" };

const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    users: [{ name: "u", user: { token: "t" } }],
  });

function complete(...words: readonly string[]): Promise<typeof quiet> {
  const args = [resolve("src/cli/main.ts"), "complete", "--", ...words];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => {
      printed[name] += chunk.toString("utf8");
    });
  return new Promise((done) => child.once("close", (code) => done({ code: code ?? -1, ...printed })));
}

function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-complete-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
