// Class runtimes at scale: 1,000 classes of 4 functions on the embedded API in memory, with a stand-in for the node that makes
// Deployments available. Writes are counted at the controller's client; the minimum is stated beside them.
import { mkdirSync, writeFileSync } from "node:fs";
import { Namespace } from "../src/api/builtin/cluster.ts";
import { CustomResourceDefinition } from "../src/api/builtin/custom-resource-definition.ts";
import { Deployment } from "../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../src/api/class-runtime.ts";
import { createApiServer } from "../src/apiserver/server.ts";
import { createClient } from "../src/client/create-client.ts";
import { classRuntimeControllers } from "../src/controllers/class-runtime/controller.ts";
import { classFunction } from "../src/controllers/class-runtime/example-class.ts";
import { systemEnv } from "../src/env/system.ts";
import type { HttpHandler } from "../src/http/message.ts";
import { customResourceDefinition } from "../src/kube/crd.ts";
import { defineReconciler } from "../src/runtime/controller.ts";
import { createManager } from "../src/runtime/manager.ts";
import { done } from "../src/runtime/result.ts";

const classCount = Number(process.env["CAPSTAN_BENCH_CLASSES"] ?? 1_000);
const functionsPerClass = 4;
const changes = 200;
/** CPU of one reconcile that a Go controller with the same work was measured to take, as published. */
const publishedGoMs = 6.6;

export async function run(): Promise<void> {
  const env = systemEnv;
  // The system's timers do not keep a process alive.
  const keepAlive = setInterval(() => undefined, 1_000);
  const server = await createApiServer({
    env,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  const handler: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  let writes = 0;
  const counted: HttpHandler = (request) => {
    if (request.method !== "GET" && !request.target.includes("/events")) writes++;
    return handler(request);
  };
  const client = createClient({ env, transport: handler });
  await client.create(Namespace, { metadata: { name: "bench" } });
  await client.create(CustomResourceDefinition, customResourceDefinition(ClassRuntime));
  await pause(500);
  const heapBefore = heapMiB();
  const manager = createManager({ env, client: createClient({ env, transport: counted }), concurrency: 8 });
  const running = classRuntimeControllers().map((controller) => manager.add(controller));
  const nodeManager = createManager({ env, client, concurrency: 8 });
  nodeManager.add(availableAtOnce);
  await nodeManager.start();
  await manager.start();

  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  for (let index = 0; index < classCount; index++) await client.create(ClassRuntime, exampleClass(index));
  const phases = async (): Promise<number> =>
    (await client.list(ClassRuntime)).items.filter(({ status }) => status?.phase === "available").length;
  await until(async () => (await phases()) === classCount);
  const seconds = (performance.now() - started) / 1_000;
  const cpu = process.cpuUsage(cpuBefore);
  const heap = heapMiB() - heapBefore;
  const writesEach = writes / classCount;

  await pause(1_500);
  const atRest = writes;
  await pause(3_000);
  const restWrites = writes - atRest;

  const reconcilesBefore = running[0]?.reconciles ?? 0;
  const changeCpu = process.cpuUsage();
  const beforeChanges = writes;
  for (let index = 0; index < changes; index++) {
    await client.patch(
      ClassRuntime,
      { namespace: "bench", name: `class-${index}` },
      {
        type: "merge",
        value: { spec: { telemetry: { enabled: false }, package_class_key: "bench.Changed" } },
      },
    );
  }
  await until(async () => {
    const { items } = await client.list(ClassRuntime);
    return items.every(
      ({ metadata, status }) => status?.phase === "available" && status.observed_generation === metadata.generation,
    );
  });
  const spent = process.cpuUsage(changeCpu);
  const reconciles = (running[0]?.reconciles ?? 0) - reconcilesBefore;
  const msPerChange = (spent.user + spent.system) / 1_000 / changes;
  await manager.stop();
  await nodeManager.stop();
  await server.close();
  clearInterval(keepAlive);

  // A finalizer, every child once, and the two phases that everybody must see.
  const minimum = 1 + 2 * functionsPerClass + 2;
  const rows = [
    {
      name: "class runtimes, functions, children",
      value: `${classCount}, ${classCount * functionsPerClass}, ${classCount * functionsPerClass * 2}`,
    },
    { name: "time until all are available", value: `${seconds.toFixed(1)} s` },
    {
      name: "writes for each class runtime (finalizer, 8 children, 2 phases: 11 is the least)",
      value: writesEach.toFixed(2),
    },
    { name: "ratio to the least possible (limit: 1.5)", value: `${(writesEach / minimum).toFixed(2)}x` },
    {
      name: "CPU for each class runtime from nothing to available, server and stand-in included",
      value: `${((cpu.user + cpu.system) / 1_000 / classCount).toFixed(1)} ms`,
    },
    {
      name: "heap for each class runtime with its children, server's copy included",
      value: `${((heap * 1024) / classCount).toFixed(1)} KiB`,
    },
    { name: "writes in 3 s at rest (limit: 0)", value: String(restWrites) },
    {
      name: "one change: reconciles, writes",
      value: `${(reconciles / changes).toFixed(1)}, ${((writes - beforeChanges) / changes).toFixed(1)}`,
    },
    {
      name: "one change: CPU for all of its reconciles and writes, server and stand-in included",
      value: `${msPerChange.toFixed(1)} ms`,
    },
    {
      name: `one reconcile of it, beside ${publishedGoMs} ms published for Go`,
      value: `${((msPerChange * changes) / Math.max(1, reconciles)).toFixed(2)} ms, ${((publishedGoMs * reconciles) / (msPerChange * changes)).toFixed(1)}x`,
    },
  ];
  for (const row of rows) console.log(`${row.name.padEnd(88)} ${row.value}`);
  mkdirSync("bench/results", { recursive: true });
  writeFileSync("bench/results/class-runtime.json", `${JSON.stringify(rows, null, 2)}\n`);
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
  async reconcile(key, { read, write }) {
    const found = read.get(Deployment, key);
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

function heapMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / (1024 * 1024);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("the class runtimes did not settle within 5 minutes");
    await pause(250);
  }
}
