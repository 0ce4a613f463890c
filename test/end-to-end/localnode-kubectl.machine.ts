import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startApiServer } from "../../src/apiserver/start.ts";
import { createClient } from "../../src/client/create-client.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { createLocalNode } from "../../src/localnode/local-node.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { kubectls } from "./kubectl.ts";
import { commands } from "./kubectl-commands.ts";

interface Ran {
  readonly code: number;
  readonly out: string;
}

interface KubectlOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<Ran>;

/** The embedded API on a real TLS port with a local node, and one kubectl that speaks to it. */
async function startWithKubectl(context: TestContext, program: string): Promise<Kubectl> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-kubectl-"));
  const ownProgram = fileURLToPath(new URL("localnode-program.mjs", import.meta.url));
  const node = createLocalNode({
    env: systemEnv,
    version: "0.0.0-test",
    dataDir,
    image: "capstan:test",
    processes: "own",
    command: [process.execPath, ownProgram],
    restartBackoff: { baseMs: 200, maxMs: 1_000 },
  });
  const server = await startApiServer({ env: systemEnv, dataDir, port: 0, podLogs: node.podLogs });
  const { adminToken, kubeconfigPath: kubeconfig, url: serverUrl, caCertificate } = server;
  const transport: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${adminToken}` } });
  const client = createClient({ env: systemEnv, transport });
  const manager = createManager({ env: systemEnv, client });
  for (const controller of node.controllers({ client, serverUrl, caCertificate })) manager.add(controller);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    await node.stop();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return (args, { input = "", env = {} } = {}) =>
    new Promise((resolve) => {
      const options = { timeout: 90_000, env: { ...process.env, KUBECONFIG: kubeconfig, HOME: dataDir, ...env } };
      const child = execFile(program, [...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, out: `${stdout}${stderr}` });
      });
      child.stdin?.end(input);
    });
}

const programs = kubectls();

test("there is a kubectl to try", { skip: programs.length > 0 ? false : "no kubectl on the PATH" }, () =>
  assert.ok(programs.length > 0),
);

for (const program of programs) {
  test(`${basename(program)} does what people do every day`, { timeout: 300_000 }, async (context) => {
    const kubectl = await startWithKubectl(context, program);
    for (const { name, args, prints, fails = false, input, env } of commands) {
      await context.test(name, async () => {
        const place = args[0] === "create" && args[1] === "namespace" ? [] : ["-n", "desk"];
        const options = { ...(input !== undefined && { input }), ...(env && { env }) };
        const { code, out } = await kubectl([...place, ...args], options);
        assert.match(out, prints);
        assert.equal(code !== 0, fails, out);
      });
    }
  });

  test(`${basename(program)} sees workloads live`, { timeout: 300_000 }, (context) =>
    seesWorkloadsLive(context, program),
  );
}

async function seesWorkloadsLive(context: TestContext, program: string): Promise<void> {
  const run = await startWithKubectl(context, program);
  const kubectl = (...args: readonly string[]): Promise<Ran> => run(args);
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, out } = await kubectl(...args);
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${out}`);
    return out;
  };
  await ok("create", "namespace", "shop");

  await context.test("rollout status, history, undo, restart, pause and resume", async () => {
    await ok("-n", "shop", "create", "deployment", "web", "--image=example/web:1", "--replicas=3");
    assert.match(await ok("-n", "shop", "rollout", "status", "deploy/web", "--timeout=20s"), /successfully rolled out/);
    await ok("-n", "shop", "set", "image", "deploy/web", "web=example/web:2");
    assert.match(await ok("-n", "shop", "rollout", "status", "deploy/web", "--timeout=20s"), /successfully rolled out/);
    const history = await ok("-n", "shop", "rollout", "history", "deploy/web");
    assert.match(history, /^1\s+<none>\n2\s+<none>$/m);
    await ok("-n", "shop", "rollout", "undo", "deploy/web");
    await ok("-n", "shop", "rollout", "status", "deploy/web", "--timeout=20s");
    assert.match(await ok("-n", "shop", "get", "deploy", "web", "-o", "wide"), /3\/3\s+3\s+3\s.*example\/web:1/);
    await ok("-n", "shop", "rollout", "restart", "deploy/web");
    await ok("-n", "shop", "rollout", "status", "deploy/web", "--timeout=20s");
    await ok("-n", "shop", "rollout", "pause", "deploy/web");
    await ok("-n", "shop", "rollout", "resume", "deploy/web");
    await ok("-n", "shop", "scale", "deploy/web", "--replicas=1");
    await ok("-n", "shop", "wait", "--for=jsonpath={.status.replicas}=1", "deploy/web", "--timeout=20s");
    const described = await ok("-n", "shop", "describe", "deploy", "web");
    assert.match(described, /ScalingReplicaSet/);
    assert.match(await ok("get", "nodes"), /localnode\s+Ready/);
  });

  await context.test("logs of a process, of the run before, and as they come", async () => {
    await ok(
      "-n",
      "shop",
      "run",
      "talker",
      "--image=capstan:test",
      "--restart=Never",
      "--",
      "say:hello",
      "sleep:300",
      "say:bye",
    );
    await ok("-n", "shop", "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/talker", "--timeout=20s");
    assert.equal(await ok("-n", "shop", "logs", "talker"), "hello\nbye\n");
    assert.equal(await ok("-n", "shop", "logs", "-f", "talker", "--tail=1"), "bye\n");
    await ok("-n", "shop", "run", "crash", "--image=capstan:test", "--", "say:oops", "exit:1");
    await ok(
      "-n",
      "shop",
      "wait",
      "--for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff",
      "pod/crash",
      "--timeout=20s",
    );
    assert.equal(await ok("-n", "shop", "logs", "-p", "crash"), "oops\n");
    assert.match(await ok("-n", "shop", "get", "pod", "crash"), /CrashLoopBackOff|Error|Running/);
  });

  await context.test("jobs complete and stateful sets roll", async () => {
    await ok("-n", "shop", "create", "job", "sum", "--image=capstan:test", "--", "capstan", "say:42");
    await ok("-n", "shop", "wait", "--for=condition=complete", "job/sum", "--timeout=20s");
    assert.equal(await ok("-n", "shop", "logs", "job/sum"), "42\n");
    await ok("-n", "shop", "delete", "job", "sum", "--timeout=20s");
  });

  await context.test("a drained node is empty, and an uncordoned one is not", async () => {
    await ok(
      "drain",
      "localnode",
      "--force",
      "--ignore-daemonsets",
      "--delete-emptydir-data",
      "--timeout=30s",
      "--grace-period=1",
    );
    assert.match(await ok("get", "nodes"), /SchedulingDisabled/);
    await ok("-n", "shop", "wait", "--for=condition=PodScheduled=false", "pod", "-l", "app=web", "--timeout=20s");
    await ok("uncordon", "localnode");
    await ok("-n", "shop", "rollout", "status", "deploy/web", "--timeout=20s");
  });

  await context.test("a namespace goes with everything in it", async () => {
    await ok("delete", "ns", "shop", "--timeout=30s");
    const { code, out } = await kubectl("get", "ns", "shop");
    assert.equal(code, 1);
    assert.match(out, /NotFound/);
  });
}
