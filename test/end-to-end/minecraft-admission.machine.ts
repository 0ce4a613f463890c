import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { missingRealServer, startRealServer } from "../../scripts/cluster/api-server.ts";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { ensureObjects } from "../../src/control-plane/ensure-objects.ts";
import { installKinds } from "../../src/control-plane/install.ts";
import { admissionWarnings } from "../../src/controllers/minecraft/admission-warnings.ts";
import { systemEnv } from "../../src/env/system.ts";
import { eventually, startEmbedded } from "./embedded.ts";
import { kubectls } from "./kubectl.ts";
import { admissionCases, policyWords } from "./minecraft-admission-cases.ts";

const missing = kubectls().length === 0 && "there is no kubectl on the PATH";
const program = kubectls().at(-1) ?? "kubectl";

test("kubectl prints the warnings and refusals of a control plane as it was started", {
  skip: missing,
}, async (context) => {
  const { plane, client } = await startEmbedded(context);
  await client.create(Namespace, { metadata: { name: "games" } });
  for (const { name, manifest, refused = [], warned = [] } of admissionCases)
    await context.test(name, async () => {
      const { printed, code } = await apply(plane.kubeconfig, manifest);
      assert.equal(code === 0, refused.length === 0, printed);
      const { kind, metadata } = manifest;
      if (refused.length > 0) assert.ok(printed.startsWith(`The ${kind} "${metadata.name}" is invalid: `), printed);
      for (const part of refused) assert.ok(printed.includes(part), printed);
      const policy = kind === "Plugin" ? "capstan-plugin-warnings" : "capstan-server-warnings";
      assert.deepEqual(
        printed.split("\n").filter((line) => line.startsWith("Warning: ")),
        warned.map((text) => `Warning: ${policyWords(policy)}: ${text}`),
      );
    });
});

test("a real kube-apiserver says the same to kubectl, word for word", {
  skip: missing || missingRealServer,
}, async (context) => {
  const { plane, client } = await startEmbedded(context);
  await client.create(Namespace, { metadata: { name: "games" } });
  const kubeconfig = await startReal(context);
  for (const { name, manifest } of admissionCases)
    await context.test(name, async () =>
      assert.deepEqual(await apply(plane.kubeconfig, manifest), await apply(kubeconfig, manifest)),
    );
});

async function startReal(context: TestContext): Promise<string> {
  const { kubeconfig, stop } = await startRealServer();
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [kubeconfig] });
  context.after(async () => {
    await close();
    await stop();
  });
  await installKinds(client, systemEnv);
  await client.create(Namespace, { metadata: { name: "games" } });
  await ensureObjects(client, admissionWarnings());
  // A policy holds a moment after it was written, and each by itself.
  for (const policy of ["capstan-plugin-warnings", "capstan-server-warnings"]) {
    const doubtful = admissionCases.find(
      ({ manifest, warned }) => warned && (manifest.kind === "Plugin") === (policy === "capstan-plugin-warnings"),
    );
    assert.ok(doubtful);
    await eventually(
      () => apply(kubeconfig, doubtful.manifest),
      ({ printed }) => assert.ok(printed.includes(policyWords(policy)), printed),
    );
  }
  return kubeconfig;
}

/** What kubectl prints on both of its outputs, and its exit code. */
function apply(
  kubeconfig: string,
  manifest: object,
): Promise<{ readonly printed: string; readonly code: number | null }> {
  const child = spawn(program, ["--kubeconfig", kubeconfig, "apply", "--dry-run=server", "-f", "-"], {
    env: { ...process.env, KUBECACHEDIR: join(kubeconfig, "..", "kube-cache") },
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(JSON.stringify(manifest));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ printed: Buffer.concat(chunks).toString("utf8"), code }));
  });
}
