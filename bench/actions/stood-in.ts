// Many one-step actions whose pods are stood in for: what the controllers themselves cost.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { startApiServer } from "../../src/apiserver/start.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { applyObjects, installKinds } from "../../src/control-plane/install.ts";
import { actionObjects } from "../../src/controllers/action-executor/install.ts";
import { executionAnnotations, jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { encodeResult } from "../../src/controllers/action-executor/order.ts";
import { systemEnv } from "../../src/env/system.ts";
import { defineReconciler } from "../../src/runtime/controller.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { done } from "../../src/runtime/result.ts";
import type { Reading } from "./controllers.ts";
import { inFlight, observe, percentile } from "./observe.ts";

export interface StoodIn {
  readonly actions: number;
  readonly writesPerAction: number;
  readonly writes: Readonly<Record<string, number>>;
  readonly jobDoneToStatusMs: { readonly p50: number; readonly p99: number };
  readonly overheadMs: { readonly p50: number; readonly p99: number };
  readonly remediations: number;
  readonly writesPerRemediation: number;
  readonly executionDoneToRemediationMs: { readonly p50: number; readonly p99: number };
  readonly actionsPerSecond: number;
  readonly cpuMsPerAction: number;
  readonly auditRowsPerAction: number;
  readonly heapMiBAtEnd: number;
  readonly heapKiBPerFinished: number;
  readonly residentMiBAtEnd: number;
}

const targets = 100;

export async function measureStoodIn(actions: number, remediations: number): Promise<StoodIn> {
  const env = systemEnv;
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const server = await startApiServer({ env, dataDir, port: 0 });
  const authorization = `Bearer ${server.adminToken}`;
  const client = createClient({
    env,
    transport: (request) => server.handle({ ...request, headers: { ...request.headers, authorization } }),
  });
  await prepare(client);
  const node = createManager({ env, client, concurrency: 8 });
  node.add(endsAtOnce);
  await node.start();
  const child = fork(
    join(import.meta.dirname, "controllers.ts"),
    [server.kubeconfigPath, join(dataDir, "capstan.db")],
    { execArgv: ["--expose-gc"] },
  );
  await once(child, "message");
  const observer = await observe(client);
  try {
    // One that nobody counts: access reviews, compiled policies and connections are there afterwards.
    await client.create(KubernetesExecution, scaled("warm-up", 0) as never);
    await observer.ended("warm-up");
    const empty = await read(child);
    const jobDoneToStatus: number[] = [];
    const overheads: number[] = [];
    const submit = async (index: number): Promise<void> => {
      const name = `action-${index}`;
      const submitted = performance.now();
      await client.create(KubernetesExecution, scaled(name, index) as never);
      const { jobCreated = 0, jobDone = 0, ended = 0, phase, message } = await observer.ended(name);
      if (phase !== "rollback_ready") throw new Error(`${name} is ${phase}: ${message}`);
      if (index >= alone) return;
      jobDoneToStatus.push(ended - jobDone);
      overheads.push(ended - submitted - (jobDone - jobCreated));
    };
    // How long one takes is asked while little else is going on; how many there can be, while much is.
    const alone = Math.min(Math.ceil(actions / 2), 200);
    await inFlight(alone, 1, submit);
    const began = performance.now();
    await inFlight(actions - alone, 16, (index) => submit(alone + index));
    const actionsPerSecond = perEach((actions - alone) * 1_000, performance.now() - began);
    await settle(child);
    const full = await read(child);

    const toRemediation: number[] = [];
    await inFlight(remediations, 1, async (index) => {
      const name = `remediation-${index}`;
      await client.create(RemediationRequest, remediationOf(name, index) as never);
      const { ended = 0 } = await observer.ended(`${name}-step-1`);
      toRemediation.push((await observer.remediated(name)) - ended);
    });
    await settle(child);
    const after = await read(child);
    if (after.auditProblems > 0) throw new Error("the audit trail is not whole");
    return {
      actions,
      writesPerAction: perEach(total(full) - total(empty), actions),
      writes: difference(full.writes, empty.writes, actions),
      jobDoneToStatusMs: spread(jobDoneToStatus),
      overheadMs: spread(overheads),
      remediations,
      writesPerRemediation: perEach(total(after) - total(full), remediations),
      executionDoneToRemediationMs: spread(toRemediation),
      actionsPerSecond,
      cpuMsPerAction: perEach(full.cpuMs - empty.cpuMs, actions),
      auditRowsPerAction: perEach(full.auditRows - empty.auditRows, actions),
      heapMiBAtEnd: perEach(full.heapBytes, 1024 * 1024),
      heapKiBPerFinished: perEach((full.heapBytes - empty.heapBytes) / 1024, actions),
      residentMiBAtEnd: perEach(full.residentBytes, 1024 * 1024),
    };
  } finally {
    observer.stop();
    child.send("stop");
    await once(child, "exit");
    await node.stop();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function prepare(client: Client): Promise<void> {
  await installKinds(client, systemEnv);
  await applyObjects(client, actionObjects());
  await client.create(Namespace, { metadata: { name: "bench" } });
  for (let index = 0; index < targets; index++) {
    const labels = { app: `web-${index}` };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
    await client.create(Deployment, {
      metadata: { namespace: "bench", name: `web-${index}` },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
  }
}

const parametersOf = (index: number) => ({
  scaleDeployment: { deployment: `web-${index % targets}`, namespace: "bench", replicas: 1 + (index % 5) },
});

const scaled = (name: string, index: number) => ({
  metadata: { namespace: "bench", name },
  spec: { action: "scale_deployment", parameters: parametersOf(index) },
});

const remediationOf = (name: string, index: number) => ({
  metadata: { namespace: "bench", name },
  spec: { steps: [{ stepNumber: 1, action: "scale_deployment", parameters: parametersOf(index) }] },
});

/** What a Job controller and a kubelet do, with a pod that says at once that it has done what it was told. */
const endsAtOnce = defineReconciler<Job>({
  name: "stand-in",
  reconciles: Job,
  async reconcile(key, { read: cache, write }) {
    const job = cache.get(Job, key);
    if (job === undefined || job.metadata.namespace !== jobNamespace) return done;
    const podKey = { namespace: jobNamespace, name: `${key.name.slice(0, 60)}-p` };
    if (job.status?.conditions?.length) {
      // The time to live is over as soon as its result was read; the pods go with it.
      if (job.metadata.finalizers?.length) return done;
      await write.delete(Pod, podKey, { gracePeriodSeconds: 0 } as never);
      await write.delete(Job, job, { propagationPolicy: "Background" });
      return done;
    }
    const owner = {
      apiVersion: "batch/v1",
      kind: "Job",
      name: key.name,
      uid: job.metadata.uid ?? "",
      controller: true,
    };
    const { labels, annotations } = job.spec.template.metadata ?? {};
    await write.create(Pod, {
      metadata: { ...podKey, ...(labels && { labels }), ...(annotations && { annotations }), ownerReferences: [owner] },
      spec: job.spec.template.spec,
    } as never);
    const time = new Date(systemEnv.now()).toISOString().replace(/\.\d+/, "");
    const message = encodeResult({
      version: 1,
      token: job.metadata.annotations?.[executionAnnotations.uid] ?? "",
      outcome: "Succeeded",
      message: "it was scaled",
      affected: [{ kind: "Deployment", namespace: "bench", name: "web", action: "scaled" }],
      affectedCount: 1,
      warnings: [],
    });
    const terminated = { exitCode: 0, reason: "Completed", message, startedAt: time, finishedAt: time };
    const act = { name: "act", ready: false, restartCount: 0, image: "i", imageID: "", state: { terminated } };
    const podStatus = { phase: "Succeeded", containerStatuses: [act] };
    await write.patch(Pod, podKey, { type: "merge", value: { status: podStatus } }, { subresource: "status" });
    const complete = { status: "True", reason: "CompletionsReached", message: "done", lastTransitionTime: time };
    const status = {
      startTime: time,
      completionTime: time,
      succeeded: 1,
      ready: 0,
      uncountedTerminatedPods: {},
      conditions: [
        { ...complete, type: "SuccessCriteriaMet" },
        { ...complete, type: "Complete" },
      ],
    };
    await write.patch(Job, key, { type: "merge", value: { status } }, { subresource: "status" });
    return done;
  },
});

/** Until nothing is written any more: finalizers are let go of a moment after an execution has ended. */
async function settle(child: ChildProcess): Promise<void> {
  for (let before = -1; ; ) {
    const now = total(await read(child));
    if (now === before) return;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function read(child: ChildProcess): Promise<Reading> {
  child.send("read");
  const [reading] = (await once(child, "message")) as [Reading];
  return reading;
}

const total = ({ writes }: Reading): number => Object.values(writes).reduce((sum, count) => sum + count, 0);
const perEach = (amount: number, count: number): number => Number((amount / count).toFixed(2));
const difference = (after: Reading["writes"], before: Reading["writes"], count: number): Reading["writes"] =>
  Object.fromEntries(
    Object.entries(after).map(([name, number]) => [name, perEach(number - (before[name] ?? 0), count)]),
  );
export const spread = (values: readonly number[]): { readonly p50: number; readonly p99: number } => ({
  p50: percentile(values, 0.5),
  p99: percentile(values, 0.99),
});
