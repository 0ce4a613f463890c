import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Job } from "../../src/api/builtin/job.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { readEntries } from "../../src/audit/read-trail.ts";
import type { AuditTrail } from "../../src/audit/trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import { executionAnnotations, jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import type { Manager } from "../../src/runtime/manager.ts";
import { type ActionCluster, signer, startActionCluster } from "./actions-cluster.ts";
import { deployment, namespace, scale, shop } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

/** `before`: the write is never sent. `after`: it is done, and the process dies before it hears of it. `lost`: it lives on. */
export const modes = ["before", "after", "lost"] as const;
export type Mode = (typeof modes)[number];

/** One process, which can be killed at its nth write: to the API, or to the trail. */
class Incarnation {
  readonly #cluster: ActionCluster;
  readonly #atWrite: number;
  readonly #mode: Mode;
  #writes = 0;
  #dead = false;
  readonly died: Promise<void>;
  #tellDied: () => void = () => undefined;

  constructor(cluster: ActionCluster, atWrite: number, mode: Mode) {
    this.#cluster = cluster;
    this.#atWrite = atWrite;
    this.#mode = mode;
    this.died = new Promise((resolve) => {
      this.#tellDied = resolve;
    });
  }

  get writes(): number {
    return this.#writes;
  }

  start(): Promise<Manager> {
    const transport: HttpHandler = (request) => {
      const isWrite = request.method !== "GET" && !/\/events|accessreviews/.test(request.target);
      return isWrite
        ? this.#write(async () => this.#cluster.raw(request))
        : this.#alive(async () => this.#cluster.raw(request));
    };
    const around = (trail: AuditTrail): AuditTrail => ({
      append: (records) => (records.length > 0 ? this.#write(() => trail.append(records)) : trail.append(records)),
    });
    return this.#cluster.start({ transport, around });
  }

  async #alive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#dead) throw new Error("this process is dead");
    return work();
  }

  async #write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#dead) throw new Error("this process is dead");
    const isTheOne = ++this.#writes === this.#atWrite;
    if (!isTheOne) return work();
    if (this.#mode !== "before") await work();
    if (this.#mode !== "lost") this.#dead = true;
    this.#tellDied();
    throw new Error(this.#mode === "lost" ? "the answer was lost" : "killed");
  }
}

const maxRuns = 75;

/** Out of the way of the next run, whose writes are counted. */
async function forget(cluster: ActionCluster, name: string): Promise<void> {
  const key = { namespace: shop, name };
  await cluster.admin.patch(KubernetesExecution, key, { type: "merge", value: { metadata: { finalizers: null } } });
  await cluster.admin.delete(KubernetesExecution, key);
}

const endings: ReadonlySet<string | undefined> = new Set(["rollback_ready", "completed", "failed"]);

async function run(
  cluster: ActionCluster,
  name: string,
  { atWrite, mode, approved }: Plan,
): Promise<{ writes: number; hit: boolean }> {
  const first = new Incarnation(cluster, atWrite, mode);
  const manager = await first.start();
  let hit = false;
  void first.died.then(() => {
    hit = true;
  });
  await cluster.apply(scale(name, 5, {}, { "capstan.dev/requested-by": "alice" }));
  let second: Manager | undefined;
  await eventually(
    async () => {
      if (hit && mode !== "lost" && second === undefined) {
        await manager.stop();
        second = await cluster.start();
      }
      if (approved) await approve(cluster, name);
      await cluster.runJobs({ starts: 2 });
      return cluster.admin.get(KubernetesExecution, { namespace: shop, name });
    },
    ({ status }) =>
      assert.ok(endings.has(status?.phase), `${name} at write ${atWrite} ${mode}: ${status?.phase} ${status?.message}`),
  );
  // The Job's own finalizer goes a moment after the phase; a run is over when that has happened.
  await eventually(
    async () => {
      if (hit && mode !== "lost" && second === undefined) {
        await manager.stop();
        second = await cluster.start();
      }
      return (await cluster.admin.list(Job, { namespace: jobNamespace })).items.filter(
        ({ metadata }) => metadata.finalizers?.length,
      );
    },
    (held) => assert.equal(held.length, 0),
  );
  await manager.stop();
  await second?.stop();
  return { writes: first.writes, hit };
}

/** Somebody else agrees as soon as they are asked; nobody starts anything before. */
async function approve(cluster: ActionCluster, name: string): Promise<void> {
  const { status, spec } = await cluster.admin.get(KubernetesExecution, { namespace: shop, name });
  if (status?.phase !== "waiting_approval" || status.approval) return;
  assert.ok(!cluster.carriedOut.some(({ execution }) => execution.name === name), `${name} ran before it was approved`);
  const approval = { decision: "Approved", by: "bob", at: status.validationTime, specHash: specHashOf(spec) };
  await cluster.admin.patch(
    KubernetesExecution,
    { namespace: shop, name },
    { type: "merge", value: { status: { approval } } },
    { subresource: "status" },
  );
}

async function check(cluster: ActionCluster, name: string, approved: boolean): Promise<void> {
  const execution = await cluster.admin.get(KubernetesExecution, { namespace: shop, name });
  const { uid = "" } = execution.metadata;
  assert.equal(execution.status?.phase, "rollback_ready", `${name}: ${execution.status?.message}`);
  const jobs = (await cluster.admin.list(Job, { namespace: jobNamespace })).items.filter(
    ({ metadata }) => metadata.annotations?.[executionAnnotations.uid] === uid,
  );
  assert.equal(jobs.length, 1, `${name}: one Job`);
  assert.equal(execution.status?.jobUID, jobs[0]?.metadata.uid);
  assert.deepEqual(
    execution.status?.rollbackInformation?.rollbackParameters?.["replicas"],
    3,
    `${name}: captured before the effect`,
  );
  const web = await cluster.admin.get(Deployment, { namespace: shop, name: "web" });
  const stamps = web.metadata.annotations?.["kubernaut.io/executions"]?.split(",") ?? [];
  assert.equal(stamps.filter((stamp) => stamp === uid).length, 1, `${name}: one effect`);
  const rows: string[] = [];
  for await (const { verb, result } of readEntries(cluster.database, { name })) rows.push(`${verb} ${result}`);
  assert.equal(new Set(rows).size, rows.length, `${name}: no row twice: ${rows.join()}`);
  const phases = ["validating", "validated", ...(approved ? ["waiting_approval"] : []), "executing", "rollback_ready"];
  const others = [
    "intend Intended",
    "create-job Created",
    "effect Succeeded",
    ...(approved ? ["approve Approved"] : []),
  ];
  for (const row of [...phases.map((phase) => `transition ${phase}`), ...others])
    assert.ok(rows.includes(row), `${name} lacks ${row}: ${rows.join()}`);
  assert.ok(rows.indexOf("intend Intended") < rows.indexOf("create-job Created"));
}

interface Plan {
  readonly atWrite: number;
  readonly mode: Mode;
  readonly approved: boolean;
}

/** Kills the executor at every write of a run, in every one of the modes: one Job, one effect, a whole trail. */
export async function crashMatrix(
  context: TestContext,
  { approved, modes: chosen = modes }: { readonly approved: boolean; readonly modes?: readonly Mode[] },
): Promise<void> {
  const cluster = await startActionCluster(context);
  await cluster.apply(namespace(shop, approved ? "production" : undefined));
  let plans = 0;
  for (const mode of chosen) {
    for (let atWrite = 1; ; atWrite++) {
      await cluster.admin.delete(Deployment, { namespace: shop, name: "web" }).catch(() => undefined);
      await cluster.apply(deployment("web", 3));
      const name = `run-${mode}-${atWrite}`;
      const { hit } = await run(cluster, name, { atWrite, mode, approved });
      await check(cluster, name, approved);
      await forget(cluster, name);
      plans++;
      assert.ok(plans <= maxRuns, "more runs than an execution can have writes");
      if (!hit) break;
    }
  }
  const { problems, entries } = await verifyTrail(cluster.database, { verifiers: [signer] });
  assert.deepEqual(problems, []);
  context.diagnostic(`${plans} runs, ${entries} rows, no effect twice`);
}
