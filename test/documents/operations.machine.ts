/** Types what docs/operations tells an operator to type, at a server and node that know nothing of Capstan yet. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startApiServer } from "../../src/apiserver/start.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";
import { createLocalNode } from "../../src/localnode/local-node.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { findHelm } from "../deploy/find-helm.ts";
import { eventually } from "../end-to-end/embedded.ts";
import { onBareServer } from "./commands.ts";
import { operationsCommands } from "./operations.ts";
import { hasBash, hasKubectl, openTerminal, type Terminal, type Typed } from "./terminal.ts";

test("docs/operations can be followed word by word", {
  skip: hasBash && hasKubectl ? false : "there is no kubectl, or no bash, on this machine",
  timeout: 1_200_000,
}, async (context) => {
  const kubeconfig = await startBareCluster(context);
  const terminal = openTerminal(context);
  await terminal.type(`export KUBECONFIG=${kubeconfig}`);
  writeFileSync(join(terminal.folder, "ca.crt"), "-----BEGIN CERTIFICATE-----\n");
  const helm = findHelm();
  if ("program" in helm && helm.program !== "helm")
    symlinkSync(helm.program, join(terminal.folder, ".programs", "helm"));
  const commands = operationsCommands(onBareServer);
  assert.ok(commands.length > 15, `${commands.length} commands`);
  for (const { where, text } of commands) {
    if (/^helm/.test(text) && "missing" in helm) {
      context.diagnostic(`${where}: not typed: ${helm.missing}`);
      continue;
    }
    const around = ways.find(({ command }) => command.test(text));
    for (const line of around?.before ?? []) await succeed(terminal, line);
    const promise = promises.find(({ command }) => command.test(text));
    const check = ({ code, output }: Typed): void => {
      assert.equal(code, 0, `${where}: ${text}\n${output}`);
      if (promise) assert.match(output, promise.prints, `${where}: ${text}`);
    };
    if (promise?.soon) await eventually(() => terminal.type(text), check);
    else check(await terminal.type(text));
    for (const line of around?.after ?? []) await succeed(terminal, line);
  }
  const { output } = await terminal.type("kubectl get crds,namespaces -o name");
  assert.doesNotMatch(output, /capstan|kubernaut|game\.platform/, "nothing of it is left");
});

/** A chart is another way to install the same objects, and Helm refuses objects that it did not make. */
const ways: readonly {
  readonly command: RegExp;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}[] = [
  {
    command: /^helm install/,
    before: ["capstan install | kubectl delete --ignore-not-found -f -"],
    after: ["helm uninstall capstan"],
  },
  {
    command: /^helm upgrade/,
    before: [
      "capstan install | kubectl delete --ignore-not-found -f -",
      "helm install capstan deploy/helm/capstan --set image=registry.example/capstan:0.1.0",
    ],
    // The page goes on with an installation of the first kind that was upgraded once.
    after: [
      "helm uninstall capstan",
      "capstan install --image registry.example/capstan:0.1.0 | kubectl apply --server-side --force-conflicts -f -",
      "capstan install --image registry.example/capstan:NEW | kubectl apply --server-side --force-conflicts -f -",
    ],
  },
  {
    command: /^helm uninstall/,
    before: ["helm install capstan deploy/helm/capstan --set image=registry.example/capstan:0.1.0"],
  },
];

async function succeed(terminal: Terminal, text: string): Promise<void> {
  const { code, output } = await terminal.type(text);
  assert.equal(code, 0, `${text}\n${output}`);
}

interface Promised {
  readonly command: RegExp;
  readonly prints: RegExp;
  /** A reader would look again. */
  readonly soon?: true;
}

const promises: readonly Promised[] = [
  { command: /^capstan install .*apply/, prints: /capstan-resolver serverside-applied/ },
  { command: /get deployments -n/, prints: /capstan-resolver +2\/2/, soon: true },
  { command: /create token/, prints: /^[\w-]+\.[\w-]+\.[\w-]+$/m },
  // Pods of the version before may just be going.
  { command: /^kubectl logs/, prints: /^/, soon: true },
  { command: /^helm upgrade/, prints: /REVISION: 2/ },
  { command: /^helm uninstall/, prints: /release "capstan" uninstalled/ },
  { command: /rollout status/, prints: /capstan-resolver" successfully rolled out/ },
  { command: /rollout undo/, prints: /rolled back/ },
];

/** Containers are stood in for: what they would do is seen on a real cluster (test/cluster). */
async function startBareCluster(context: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "capstan-operations-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const node = createLocalNode({
    env: systemEnv,
    version: "0.0.0-test",
    dataDir: folder,
    image: "nobody/runs:this",
    processes: "own",
    command: [],
  });
  const server = await startApiServer({ env: systemEnv, dataDir: folder, port: 0, podLogs: node.podLogs });
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [server.kubeconfigPath] });
  const manager = createManager({ env: systemEnv, client });
  const { caCertificate, url: serverUrl } = server;
  for (const controller of node.controllers({ client, caCertificate, serverUrl })) manager.add(controller);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    await node.stop();
    await close();
    await server.stop();
  });
  return server.kubeconfigPath;
}
