import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { readEntries } from "../../src/audit/read-trail.ts";
import type { AuditTrail } from "../../src/audit/trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import {
  executionAnnotations,
  jobFinalizer,
  jobNamespace,
  policyConfigMap,
  systemNamespace,
} from "../../src/controllers/action-executor/names.ts";
import { encodeResult } from "../../src/controllers/action-executor/order.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import type { HttpHandler, HttpRequest } from "../../src/http/message.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import { type ActionCluster, type JobBehaviour, setPolicies, signer, startActionCluster } from "./actions-cluster.ts";
import { deployment, namespace, scale, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const read = (cluster: ActionCluster, name: string): Promise<KubernetesExecution> =>
  cluster.admin.get(KubernetesExecution, { namespace: shop, name });
const web = (cluster: ActionCluster): Promise<Deployment> =>
  cluster.admin.get(Deployment, { namespace: shop, name: "web" });
const jobsOf = async (cluster: ActionCluster, uid: string | undefined): Promise<readonly Job[]> =>
  (await cluster.admin.list(Job, { namespace: jobNamespace })).items.filter(
    ({ metadata }) => metadata.annotations?.[executionAnnotations.uid] === uid,
  );

const reaches = (
  cluster: ActionCluster,
  name: string,
  phase: string,
  jobs: JobBehaviour | "none" = {},
): Promise<KubernetesExecution> =>
  eventually(
    async () => {
      if (jobs !== "none") await cluster.runJobs(jobs);
      return read(cluster, name);
    },
    ({ status }) => assert.equal(status?.phase, phase, `${status?.reason ?? ""} ${status?.message ?? ""}`),
  );

const rowsOf = async (cluster: ActionCluster, name: string): Promise<readonly string[]> => {
  const rows: string[] = [];
  for await (const { verb, result } of readEntries(cluster.database, { name })) rows.push(`${verb} ${result}`);
  return rows;
};

/** One Job, one effect, no row twice, a chain that holds. */
async function assertOnce(cluster: ActionCluster, name: string, generation: number | undefined): Promise<void> {
  const { metadata } = await read(cluster, name);
  const target = await web(cluster);
  const stamps = target.metadata.annotations?.["kubernaut.io/executions"]?.split(",") ?? [];
  assert.equal(stamps.filter((stamp) => stamp === metadata.uid).length, 1, "one effect");
  assert.equal(target.metadata.generation, (generation ?? 0) + 1, "one change of the target");
  const rows = await rowsOf(cluster, name);
  assert.equal(new Set(rows).size, rows.length, rows.join());
  assert.equal(rows.filter((row) => row === "create-job Created").length, 1, rows.join());
  assert.deepEqual((await verifyTrail(cluster.database, { verifiers: [signer] })).problems, []);
}

const failed = (status: number) => ({
  status,
  headers: { "content-type": "application/json" },
  body: [Buffer.from(JSON.stringify({ kind: "Status", status: "Failure", reason: "InternalError", code: status }))],
});

/** Answers some requests with an error instead of passing them on; counts how often. */
function failing(cluster: ActionCluster, isHit: (request: HttpRequest) => boolean, times: number) {
  const state = { hits: 0 };
  const transport: HttpHandler = async (request) => {
    if (state.hits < times && isHit(request)) {
      state.hits++;
      return failed(500) as never;
    }
    return cluster.raw(request);
  };
  return { state, transport };
}

const isStatusWrite = ({ method, target }: HttpRequest): boolean =>
  method !== "GET" && /kubernetesexecutions\/[^/?]+\/status/.test(target);

async function begin(context: Parameters<typeof startActionCluster>[0]): Promise<ActionCluster> {
  const cluster = await startActionCluster(context);
  await cluster.apply(namespace(shop), deployment("web", 3));
  return cluster;
}

const patience = { timeout: 180_000 };

test(
  "H1: a Job whose time to live ends while nobody looks is kept until its result is read",
  patience,
  async (context) => {
    const cluster = await begin(context);
    const { generation } = (await web(cluster)).metadata;
    const manager = await cluster.start();
    await cluster.apply(scale("ttl", 5));
    const running = await reaches(cluster, "ttl", "executing", "none");
    await manager.stop();
    await cluster.runJobs();
    // What the TTL controller does five minutes later; the pods go with it, and what they said too.
    const key = { namespace: jobNamespace, name: running.status?.jobName ?? "" };
    await cluster.admin.delete(Job, key, { propagationPolicy: "Background" });
    for (const pod of (await cluster.admin.list(Pod, { namespace: jobNamespace })).items)
      await cluster.admin.delete(Pod, { namespace: jobNamespace, name: pod.metadata.name }, { gracePeriodSeconds: 0 });
    const held = await cluster.admin.get(Job, key);
    assert.ok(held.metadata.deletionTimestamp, "the TTL has done its work");
    assert.deepEqual(held.metadata.finalizers, [jobFinalizer], "and the Job is still there");

    await cluster.start();
    const done = await reaches(cluster, "ttl", "rollback_ready");
    assert.equal(done.status?.jobUID, running.status?.jobUID);
    assert.equal(cluster.carriedOut.length, 1);
    await assertOnce(cluster, "ttl", generation);
    await eventually(
      () => jobsOf(cluster, done.metadata.uid),
      (jobs) => assert.equal(jobs.length, 0, "it may go now"),
    );
  },
);

test(
  "H1: a Job that ran and was removed by force before we could say so has its effect once",
  patience,
  async (context) => {
    const cluster = await begin(context);
    const { generation } = (await web(cluster)).metadata;
    let dead = false;
    const dying: HttpHandler = async (request) => {
      if (request.method === "POST" && /\/jobs(\?|$)/.test(request.target) && !dead) {
        const answer = await cluster.raw(request);
        dead = true;
        return answer;
      }
      if (dead && request.method !== "GET") throw new Error("this process is dead");
      return cluster.raw(request);
    };
    const manager = await cluster.start({ transport: dying });
    await cluster.apply(scale("forced", 5));
    await eventually(
      () => read(cluster, "forced"),
      () => assert.ok(dead),
    );
    await manager.stop();
    const { metadata, status } = await read(cluster, "forced");
    assert.equal(status?.jobUID, undefined, "nobody has written down that it runs");
    await cluster.runJobs();
    const [job] = await jobsOf(cluster, metadata.uid);
    const key = { namespace: jobNamespace, name: job?.metadata.name ?? "" };
    await cluster.admin.patch(Job, key, { type: "merge", value: { metadata: { finalizers: null } } });
    await cluster.admin.delete(Job, key, { propagationPolicy: "Background" });

    await cluster.start();
    await reaches(cluster, "forced", "rollback_ready");
    await assertOnce(cluster, "forced", generation);
  },
);

test("H4, H5, H7, H8: what a spec, an owner, a rollback and a result can be trusted for", patience, async (context) => {
  const cluster = await begin(context);
  await cluster.start();

  await context.test("H4: a spec cannot be edited once it is there", async () => {
    await cluster.apply(scale("fixed", 5));
    const { spec } = await reaches(cluster, "fixed", "rollback_ready");
    const edits: readonly object[] = [
      { parameters: { scaleDeployment: { replicas: 50 } } },
      { action: "rollout_restart", parameters: null },
      { timeout: "15m" },
      { maxRetries: 5 },
      { targetNamespace: "kube-system" },
      { postConditions: [] },
    ];
    for (const value of edits)
      await assert.rejects(
        cluster.admin.patch(
          KubernetesExecution,
          { namespace: shop, name: "fixed" },
          { type: "merge", value: { spec: value } },
        ),
        { reason: "Invalid" },
        JSON.stringify(value),
      );
    assert.equal(specHashOf((await read(cluster, "fixed")).spec), specHashOf(spec));
    context.diagnostic(`H4: ${edits.length} edits, all refused`);
  });

  await context.test("H5: no owner reference crosses namespaces, and nothing outlives the execution", async () => {
    const { metadata, status } = await read(cluster, "fixed");
    const name = status?.jobName ?? "";
    const [job] = await jobsOf(cluster, metadata.uid);
    const secret = await cluster.admin.get(Secret, { namespace: jobNamespace, name });
    for (const made of [job, secret]) {
      assert.equal(made?.metadata.ownerReferences, undefined);
      assert.equal(made?.metadata.annotations?.[executionAnnotations.namespace], shop);
      assert.equal(made?.metadata.annotations?.[executionAnnotations.name], "fixed");
    }
    await cluster.admin.delete(KubernetesExecution, { namespace: shop, name: "fixed" });
    await eventually(
      async () => (await cluster.admin.list(Secret, { namespace: jobNamespace })).items.length,
      (left) => assert.equal(left, 0),
    );
  });

  await context.test("H7: the way back is written down before the effect is possible", async () => {
    const before = (await web(cluster)).spec.replicas;
    await cluster.apply(scale("back", 9));
    const running = await reaches(cluster, "back", "executing", "none");
    assert.equal((await web(cluster)).spec.replicas, before, "nothing has happened yet");
    assert.equal(running.status?.rollbackInformation?.rollbackParameters?.["replicas"], before);
    const done = await reaches(cluster, "back", "rollback_ready");
    assert.equal((await web(cluster)).spec.replicas, 9);
    assert.equal(done.status?.rollbackInformation?.rollbackParameters?.["replicas"], before);
  });

  await context.test("H8: nobody's result but that of the Job's own pod, for this order, is believed", async () => {
    await cluster.apply(scale("lied", 7));
    const running = await reaches(cluster, "lied", "executing", "none");
    const [job] = await jobsOf(cluster, running.metadata.uid);
    const uid = job?.metadata.uid ?? "";
    const own = [{ apiVersion: "batch/v1", kind: "Job", name: job?.metadata.name ?? "", uid, controller: true }];
    const liars = [
      { name: "no-owner", token: running.metadata.uid, owners: undefined, text: undefined },
      { name: "other-owner", token: running.metadata.uid, owners: [{ ...own[0], uid: "x" }], text: undefined },
      { name: "other-token", token: "another-order", owners: own, text: undefined },
      { name: "no-result", token: "", owners: own, text: "deployment.apps/web scaled" },
    ];
    for (const { name, token = "", owners, text } of liars) {
      const metadata = { name, namespace: jobNamespace, labels: job?.spec.template.metadata?.labels };
      await cluster.admin.create(Pod, {
        metadata: { ...metadata, ...(owners && { ownerReferences: owners }) },
        spec: job?.spec.template.spec,
      } as never);
      const message =
        text ??
        encodeResult({
          version: 1,
          token,
          outcome: "Succeeded",
          message: "lie",
          affected: [],
          affectedCount: 99,
          warnings: [],
        });
      const state = { terminated: { exitCode: 0, message, finishedAt: "2099-01-01T00:00:00Z" } };
      const told = { name: "act", ready: false, restartCount: 0, image: "i", imageID: "", state };
      await cluster.admin.patch(
        Pod,
        { namespace: jobNamespace, name },
        { type: "merge", value: { status: { phase: "Succeeded", containerStatuses: [told] } } },
        { subresource: "status" },
      );
    }
    const { status } = await reaches(cluster, "lied", "failed", { withoutEffect: true });
    assert.match(status?.message ?? "", /does not show its effect/);
    assert.ok(!JSON.stringify(status).includes('lie"'), "nothing of what they said is repeated");
    context.diagnostic(`H8: ${liars.length} pods that lied, none believed`);
  });
});

test(
  "H9: without the row that announces it nothing runs, and each row is there once in the end",
  patience,
  async (context) => {
    const cluster = await begin(context);
    const { generation } = (await web(cluster)).metadata;
    let broken = true;
    let refusals = 0;
    const around = (trail: AuditTrail): AuditTrail => ({
      async append(records) {
        if (broken && records.some(({ verb }) => verb === "intend")) {
          refusals++;
          throw new Error("the audit database is full");
        }
        return trail.append(records);
      },
    });
    await cluster.start({ around });
    await cluster.apply(scale("unheard", 5));
    await eventually(
      async () => refusals,
      (count) => assert.ok(count >= 3, "it is tried again"),
    );
    const { metadata, status } = await read(cluster, "unheard");
    assert.equal(status?.phase, "validated");
    assert.equal((await jobsOf(cluster, metadata.uid)).length, 0);
    broken = false;
    await reaches(cluster, "unheard", "rollback_ready");
    await assertOnce(cluster, "unheard", generation);
  },
);

test(
  "F28: part of what is made is there when an error comes: the rest follows, nothing twice",
  patience,
  async (context) => {
    const cluster = await begin(context);
    const { generation } = (await web(cluster)).metadata;
    await cluster.apply(deployment("api", 1), deployment("cart", 1));

    await context.test("the order is there, the Job is not", async () => {
      const { state, transport } = failing(
        cluster,
        ({ method, target }) => method === "POST" && /\/jobs(\?|$)/.test(target),
        2,
      );
      const manager = await cluster.start({ transport });
      await cluster.apply(scale("half", 5));
      const done = await reaches(cluster, "half", "rollback_ready");
      assert.equal(state.hits, 2);
      assert.equal((await jobsOf(cluster, done.metadata.uid)).length, 1);
      await assertOnce(cluster, "half", generation);
      await manager.stop();
    });

    await context.test("one of three executions of a remediation is not made at once", async () => {
      const { state, transport } = failing(
        cluster,
        ({ method, target, body }) =>
          method === "POST" && /\/kubernetesexecutions(\?|$)/.test(target) && String(body).includes("many-step-2"),
        2,
      );
      await cluster.start({
        transport,
        controllers: ({ metrics }) => [remediationController({ metrics, coolDownMs: 0 })],
      });
      const step = (stepNumber: number, name: string, dependsOn: readonly number[] = []) => ({
        stepNumber,
        action: "scale_deployment",
        parameters: { scaleDeployment: { deployment: name, namespace: shop, replicas: 2 } },
        dependsOn,
      });
      const steps = [step(1, "web"), step(2, "api"), step(3, "cart"), step(4, "web", [1, 2, 3])];
      await cluster.apply(
        thing(
          "remediation.kubernaut.io/v1alpha1",
          "RemediationRequest",
          { name: "many", namespace: shop },
          { spec: { steps } },
        ),
      );
      await eventually(
        async () => {
          await cluster.runJobs();
          return cluster.admin.get(RemediationRequest, { namespace: shop, name: "many" });
        },
        ({ status }) => assert.equal(status?.overallPhase, "completed", status?.message),
      );
      assert.equal(state.hits, 2);
      const made = (await cluster.admin.list(KubernetesExecution, { namespace: shop })).items;
      assert.equal(made.filter(({ metadata }) => metadata.name.startsWith("many-")).length, 4);
    });
  },
);

test("F29: a status that cannot be written after the Job was made makes no second Job", patience, async (context) => {
  const cluster = await begin(context);
  const { generation } = (await web(cluster)).metadata;
  let jobMade = false;
  const { state, transport } = failing(cluster, (request) => jobMade && isStatusWrite(request), 4);
  const watching: HttpHandler = (request) => {
    if (request.method === "POST" && /\/jobs(\?|$)/.test(request.target)) jobMade = true;
    return transport(request);
  };
  await cluster.start({ transport: watching });
  await cluster.apply(scale("mute", 5));
  const done = await reaches(cluster, "mute", "rollback_ready");
  assert.equal(state.hits, 4);
  assert.equal((await jobsOf(cluster, done.metadata.uid)).length, 1);
  await assertOnce(cluster, "mute", generation);
});

test("F45: policies that are broken, gone, missing or changed in the meantime", patience, async (context) => {
  const cluster = await begin(context);
  const key = { namespace: systemNamespace, name: policyConfigMap };
  const thirteen = (word: string): string =>
    `package kubernetesexecution.safety.test\n${word} if input.parameters.replicas == 13`;
  const manager = await cluster.start();
  let newest = manager;
  let number = 0;
  /** Asks until the answer is as wanted: what was written to a ConfigMap is known a moment later. */
  const asked = (replicas: number, isWanted: (execution: KubernetesExecution) => void): Promise<KubernetesExecution> =>
    eventually(async () => {
      const name = `ask-${++number}`;
      await cluster.apply(scale(name, replicas, {}, { "capstan.dev/requested-by": "alice" }));
      return eventually(
        async () => {
          await cluster.runJobs();
          return read(cluster, name);
        },
        ({ status }) => assert.ok(settled.includes(status?.phase), status?.message),
      );
    }, isWanted);
  const settled: readonly (string | undefined)[] = ["failed", "rollback_ready", "waiting_approval"];
  const denied = (replicas: number, message: RegExp): Promise<KubernetesExecution> =>
    asked(replicas, ({ status }) => {
      assert.equal(status?.reason, "validation_error", status?.message);
      assert.match(status?.message ?? "", message);
    });

  await context.test("a changed set is in force", async () => {
    await setPolicies(cluster.admin, { "test.rego": thirteen('deny contains "unlucky"') });
    await denied(13, /unlucky/);
  });

  await context.test("a broken set leaves the last good one in force, and it is said", async () => {
    await setPolicies(cluster.admin, { "test.rego": "this is no policy" });
    await asked(4, ({ status }) =>
      assert.match(findCondition(status?.conditions, "PolicyViolation")?.message ?? "", /last good set.*test\.rego/s),
    );
    await denied(13, /unlucky/);
  });

  await context.test("a set that is gone leaves the last good one in force", async () => {
    await cluster.admin.delete(ConfigMap, key);
    await asked(4, ({ status }) =>
      assert.match(findCondition(status?.conditions, "PolicyViolation")?.message ?? "", /last good set.*is gone/),
    );
    await denied(13, /unlucky/);
  });

  await context.test("who has never seen a good set allows nothing", async () => {
    await manager.stop();
    newest = await cluster.start();
    const { status } = await denied(4, /no safety policies are loaded/);
    assert.equal(findCondition(status?.conditions, "PolicyViolation")?.reason, "PolicyUnavailable");
  });

  await context.test("a set that breaks before anybody has asked leaves the one before it in force", async () => {
    await cluster.apply(thing("v1", "ConfigMap", key, { data: { "test.rego": thirteen('deny contains "unlucky"') } }));
    const metrics = new MetricsRegistry();
    await newest.stop();
    await cluster.start({ metrics });
    const reloads = metrics.counter({ name: "kubernetes_executor_policy_reloads_total", help: "" });
    await eventually(
      async () => reloads.get(),
      (times) => assert.equal(times, 1),
    );
    await setPolicies(cluster.admin, { "test.rego": "this is no policy" });
    await eventually(
      async () => reloads.get(),
      (times) => assert.equal(times, 2),
    );
    await denied(13, /unlucky/);
  });

  await context.test("a set that changes while somebody is asked decides again before anything runs", async () => {
    await cluster.apply(thing("v1", "ConfigMap", key, { data: { "test.rego": thirteen("require_approval") } }));
    const waiting = await asked(13, ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message));
    await setPolicies(cluster.admin, { "test.rego": thirteen('deny contains "not any more"') });
    await denied(13, /not any more/);
    // A moment later than the validation, as any person's word is; the times have whole seconds.
    const at = new Date(new Date(waiting.status?.validationTime ?? 0).getTime() + 1_000).toISOString();
    const approval = {
      decision: "Approved",
      by: "bob",
      at: at.replace(".000", ""),
      specHash: specHashOf(waiting.spec),
    };
    const { name } = waiting.metadata;
    await cluster.admin.patch(
      KubernetesExecution,
      { namespace: shop, name },
      { type: "merge", value: { status: { approval } } },
      { subresource: "status" },
    );
    const { status } = await reaches(cluster, name, "failed");
    assert.match(status?.message ?? "", /not any more/);
    assert.ok(!cluster.carriedOut.some(({ execution }) => execution.name === name));
  });
});

test("F47: a Job that a user makes anew under the same name is not taken for ours", patience, async (context) => {
  const cluster = await begin(context);
  await cluster.start();
  await cluster.apply(scale("again", 5));
  const running = await reaches(cluster, "again", "executing", "none");
  const [job] = await jobsOf(cluster, running.metadata.uid);
  assert.ok(job);
  const key = { namespace: jobNamespace, name: job.metadata.name };
  await cluster.admin.patch(Job, key, { type: "merge", value: { metadata: { finalizers: null } } });
  await cluster.admin.delete(Job, key, { propagationPolicy: "Background" });
  const { name, labels, annotations } = job.metadata;
  const spec = { ...job.spec, selector: undefined, template: { ...job.spec.template, metadata: { labels: {} } } };
  await cluster.admin
    .create(Job, { metadata: { namespace: jobNamespace, name, labels, annotations }, spec } as never)
    .catch(() => undefined);
  const { status } = await reaches(cluster, "again", "failed", "none");
  assert.equal(status?.reason, "execution_failed");
  assert.match(status?.message ?? "", /not started again/);
  assert.equal(cluster.carriedOut.length, 0);
});

test("a cancel that comes between the Job and the word about it still ends the Job", patience, async (context) => {
  const cluster = await begin(context);
  let cancelled = false;
  // News of Jobs are slow, so that the executor does not know of its own one when it looks again.
  const transport: HttpHandler = async (request) => {
    const { method, target, signal } = request;
    if (method === "GET" && /\/jobs\?.*watch=/.test(target)) return { ...failed(200), body: silence(signal) } as never;
    if (
      isStatusWrite(request) &&
      !cancelled &&
      (await jobsOf(cluster, (await read(cluster, "regret")).metadata.uid)).length
    ) {
      cancelled = true;
      const key = { namespace: shop, name: "regret" };
      await cluster.admin.patch(KubernetesExecution, key, { type: "merge", value: { spec: { cancel: true } } });
    }
    return cluster.raw(request);
  };
  await cluster.start({ transport });
  await cluster.apply(scale("regret", 5));
  const { status, metadata } = await reaches(cluster, "regret", "failed", "none");
  assert.equal(status?.reason, "cancelled");
  assert.match(status?.message ?? "", /it was cancelled while it ran/);
  await eventually(
    () => jobsOf(cluster, metadata.uid),
    (jobs) => assert.equal(jobs.filter((job) => job.metadata.deletionTimestamp === undefined).length, 0),
  );
});

async function* silence(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  await new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve());
  });
}
