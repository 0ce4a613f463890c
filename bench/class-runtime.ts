// Class runtimes at scale: 1,000 classes of 4 functions on the embedded API over TLS, with a stand-in for the node that makes
// Deployments available at once. The controllers run in a process of their own, so that CPU and heap are only theirs, as in
// the published figures of a Go operator (one parent, four children). CAPSTAN_BENCH_CLASSES changes the number.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Namespace } from "../src/api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../src/api/builtin/custom-resource-definition.ts";
import { Deployment } from "../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../src/api/class-runtime.ts";
import { startApiServer } from "../src/apiserver/start.ts";
import type { Client } from "../src/client/client.ts";
import { createClient } from "../src/client/create-client.ts";
import { classFunction } from "../src/controllers/class-runtime/example-class.ts";
import { systemEnv } from "../src/env/system.ts";
import { customResourceDefinition } from "../src/kube/crd.ts";
import { defineReconciler } from "../src/runtime/controller.ts";
import { createManager } from "../src/runtime/manager.ts";
import { done } from "../src/runtime/result.ts";
import type { Reading } from "./class-runtime/controllers.ts";

const classCount = Number(process.env["CAPSTAN_BENCH_CLASSES"] ?? 1_000);
const functionsPerClass = 4;
const changes = Math.min(200, classCount);
/** CPU for one change and heap for one parent with its children, of a Go operator with four children for each parent. */
const publishedGo = { msPerChange: 6.6, kibPerParent: 30 } as const;
/** A finalizer, every child once, and the two phases that everybody must see. */
const fewestWrites = 1 + 2 * functionsPerClass + 2;

export async function run(): Promise<void> {
  const env = systemEnv;
  // The system's timers do not keep a process alive.
  const keepAlive = setInterval(() => undefined, 1_000);
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const server = await startApiServer({ env, dataDir, port: 0 });
  const authorization = `Bearer ${server.adminToken}`;
  const client = createClient({
    env,
    transport: (request) => server.handle({ ...request, headers: { ...request.headers, authorization } }),
  });
  await client.create(Namespace, { metadata: { name: "bench" } });
  await client.create(CustomResourceDefinition, customResourceDefinition(ClassRuntime));
  await until(async () => (await client.list(ClassRuntime).catch(() => undefined)) !== undefined);
  const node = createManager({ env, client, concurrency: 8 });
  node.add(availableAtOnce);
  await node.start();
  const child = fork(join(import.meta.dirname, "class-runtime/controllers.ts"), [server.kubeconfigPath], {
    execArgv: ["--expose-gc"],
  });
  await once(child, "message");

  const load = loadavg()[0] ?? 0;
  const empty = await read(child);
  const began = performance.now();
  for (let index = 0; index < classCount; index++) await client.create(ClassRuntime, exampleClass(index));
  await until(async () => (await settled(client)) === classCount);
  const seconds = (performance.now() - began) / 1_000;
  const full = await read(child);

  await pause(1_500);
  const before = await read(child);
  await pause(5_000);
  const resting = await read(child);

  const whole = await change(client, child, (index) => ({ package_class_key: `bench.Changed${index}` }));
  const small = await change(client, child, () => ({
    functions: exampleClass(0).spec.functions.map((definition, index) =>
      index === 0 ? classFunction(definition.function_key, { container_image: "example/echo:2" }) : definition,
    ),
  }));

  child.send("stop");
  await once(child, "exit");
  await node.stop();
  await server.stop();
  clearInterval(keepAlive);
  rmSync(dataDir, { recursive: true, force: true });

  const writesEach = (full.writes - empty.writes) / classCount;
  const heapKib = (full.heapBytes - empty.heapBytes) / 1024 / classCount;
  const rows = [
    row(
      "class runtimes, functions, children",
      `${classCount}, ${classCount * functionsPerClass}, ${classCount * functionsPerClass * 2}`,
    ),
    row("load average of the machine at the start (2 cores)", load.toFixed(1)),
    row("time until all are available", `${seconds.toFixed(1)} s, ${(classCount / seconds).toFixed(1)} a second`),
    row(
      `writes for each class runtime (finalizer, ${2 * functionsPerClass} children, 2 phases: ${fewestWrites} is the least)`,
      writesEach.toFixed(2),
    ),
    row("ratio to the least possible (limit: 1.5)", `${(writesEach / fewestWrites).toFixed(2)}x`),
    row("events for each class runtime", ((full.events - empty.events) / classCount).toFixed(2)),
    row(
      "controllers' CPU for each class runtime, from nothing to available",
      `${((full.cpuMs - empty.cpuMs) / classCount).toFixed(1)} ms`,
    ),
    row(
      `controllers' heap for each class runtime with its ${2 * functionsPerClass} children (Go, 4 children: ${publishedGo.kibPerParent} KiB)`,
      `${heapKib.toFixed(1)} KiB, ${(heapKib / (1 + 2 * functionsPerClass)).toFixed(1)} an object`,
    ),
    row("writes in 5 s at rest (limit: 0)", String(resting.writes - before.writes)),
    row("reconciles in 5 s at rest", String(resting.reconciles - before.reconciles)),
    ...changeRows("a change of all children", whole),
    ...changeRows("a new image of one function", small),
  ];
  for (const { name, value } of rows) console.log(`${name.padEnd(100)} ${value}`);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/class-runtime.json", `${JSON.stringify(rows, null, 2)}\n`);
}

interface Row {
  readonly name: string;
  readonly value: string;
}
const row = (name: string, value: string): Row => ({ name, value });

interface ChangeCost {
  readonly cpuMs: number;
  readonly reconciles: number;
  readonly writes: number;
}

const changeRows = (what: string, { cpuMs, reconciles, writes }: ChangeCost): readonly Row[] => [
  row(`${what}: reconciles, writes`, `${reconciles.toFixed(1)}, ${writes.toFixed(1)}`),
  row(
    `${what}: controllers' CPU (published for Go: ${publishedGo.msPerChange} ms)`,
    `${cpuMs.toFixed(1)} ms, ${(publishedGo.msPerChange / cpuMs).toFixed(1)}x as good; ${(cpuMs / writes).toFixed(2)} ms a write`,
  ),
];

/** Changes some classes one after the other and waits until all are available again; the cost is for each change. */
async function change(client: Client, child: ChildProcess, spec: (index: number) => object): Promise<ChangeCost> {
  const before = await read(child);
  for (let index = 0; index < changes; index++) {
    const key = { namespace: "bench", name: `class-${index}` };
    await client.patch(ClassRuntime, key, { type: "merge", value: { spec: spec(index) } });
  }
  await until(async () => (await settled(client)) === classCount);
  const after = await read(child);
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / changes,
    reconciles: (after.reconciles - before.reconciles) / changes,
    writes: (after.writes - before.writes) / changes,
  };
}

async function settled(client: Client): Promise<number> {
  const { items } = await client.list(ClassRuntime);
  return items.filter(
    ({ metadata, status }) => status?.phase === "available" && status.observed_generation === metadata.generation,
  ).length;
}

async function read(child: ChildProcess): Promise<Reading> {
  child.send("read");
  const [reading] = (await once(child, "message")) as [Reading];
  return reading;
}

const exampleClass = (index: number) => ({
  metadata: { namespace: "bench", name: `class-${index}` },
  spec: {
    addons: [],
    functions: Array.from({ length: functionsPerClass }, (_, number) => classFunction(`bench.Class.f${number}`)),
  },
});

/** What a cluster's own controllers do to a Deployment, in one step. */
const availableAtOnce = defineReconciler<Deployment>({
  name: "stand-in",
  reconciles: Deployment,
  async reconcile(key, { read: cache, write }) {
    const found = cache.get(Deployment, key);
    if (found === undefined || found.status?.observedGeneration === found.metadata.generation) return done;
    const count = found.spec.replicas ?? 1;
    const status = {
      observedGeneration: found.metadata.generation,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
      readyReplicas: count,
    };
    await write.patch(Deployment, key, { type: "merge", value: { status } }, { subresource: "status" });
    return done;
  },
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const patienceMs = 3_600_000;
/** Listing a thousand classes is work for the server as well, so it is not asked often. */
const pollMs = 2_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("the class runtimes did not settle in time");
    await pause(pollMs);
  }
}
