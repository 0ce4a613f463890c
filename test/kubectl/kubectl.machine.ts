import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startApiServer } from "../../src/apiserver/start.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findKubectls, type Kubectl } from "./find-kubectl.ts";
import { type Scenario, type Step, scenarios } from "./scenarios.ts";

const kubectls = findKubectls();

describe("kubectl", { skip: kubectls.length === 0 && "there is no kubectl on the PATH" }, () => {
  for (const kubectl of kubectls) {
    for (const scenario of scenarios) {
      it(`${kubectl.version} ${scenario.name}`, { timeout: 900_000 }, () => play(kubectl, scenario));
    }
    it(`${kubectl.version} sees changes as they happen`, { timeout: 600_000 }, () => watches(kubectl));
  }
});

async function withServer(work: (kubeconfig: string, directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "capstan-kubectl-"));
  const server = await startApiServer({ env: systemEnv, dataDir: join(directory, "data"), port: 0 });
  try {
    await work(server.kubeconfigPath, directory);
  } finally {
    await server.stop();
    await rm(directory, { recursive: true });
  }
}

async function play(kubectl: Kubectl, { steps }: Scenario): Promise<void> {
  const minor = Number(kubectl.version.split(".")[1]);
  await withServer(async (kubeconfig, directory) => {
    for (const step of steps) {
      if (step.since === undefined || minor >= step.since) await check(kubectl, step, kubeconfig, directory);
    }
  });
}

async function check(kubectl: Kubectl, step: Step, kubeconfig: string, directory: string): Promise<void> {
  const { output, exit } = await run(kubectl, step.run, kubeconfig, directory, step.stdin);
  const what = `kubectl ${step.run}\n${output}`;
  assert.equal(exit, step.exit ?? 0, what);
  for (const expected of step.prints ?? []) {
    if (typeof expected === "string") assert.ok(output.includes(expected), `${what}\nlacks ${expected}`);
    else assert.match(output, expected, what);
  }
}

const argumentsOf = (command: string, kubeconfig: string, directory: string): string[] => [
  "--kubeconfig",
  kubeconfig,
  "--cache-dir",
  join(directory, "cache"),
  ...command.split(" "),
];

function run(kubectl: Kubectl, command: string, kubeconfig: string, directory: string, stdin?: string) {
  return new Promise<{ output: string; exit: number | null }>((resolve, reject) => {
    const child = spawn(kubectl.file, argumentsOf(command, kubeconfig, directory), { timeout: 180_000 });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (exit) => resolve({ output, exit }));
    child.stdin.end(stdin ?? "");
  });
}

async function watches(kubectl: Kubectl): Promise<void> {
  await withServer(async (kubeconfig, directory) => {
    await run(kubectl, "create configmap first --from-literal=a=1", kubeconfig, directory);
    const child = spawn(kubectl.file, argumentsOf("get configmaps -w --output-watch-events", kubeconfig, directory));
    let seen = "";
    const arrives = (text: RegExp): Promise<void> =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`never saw ${text} in\n${seen}`)), 120_000);
        const look = (): void => {
          if (!text.test(seen)) return;
          clearTimeout(late);
          child.stdout.off("data", look);
          resolve();
        };
        child.stdout.on("data", look);
        look();
      });
    child.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
    });
    try {
      await arrives(/ADDED +first/);
      await run(kubectl, "create configmap second --from-literal=a=1", kubeconfig, directory);
      await arrives(/ADDED +second/);
      await run(kubectl, "label configmap second x=y", kubeconfig, directory);
      await arrives(/MODIFIED +second/);
      await run(kubectl, "delete configmap second", kubeconfig, directory);
      await arrives(/DELETED +second/);
    } finally {
      child.kill();
    }
  });
}
