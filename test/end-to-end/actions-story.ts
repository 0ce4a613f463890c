import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { ClusterRole, RoleBinding } from "../../src/api/builtin/rbac.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { isForbidden } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { executionAnnotations, jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { Eventually } from "./game-platform-story.ts";

export interface ActionStory {
  readonly client: Client;
  readonly eventually: Eventually;
  /** The same API as another user of the group system:authenticated. */
  readonly as: (user: string) => Client;
  /** Of the workload that actions change. */
  readonly image: string;
}

const namespace = "story-production";

/** A change that somebody asks for, somebody else approves, and a Job of its own carries out; and three that are refused. */
export async function actionStory(context: TestContext, story: ActionStory): Promise<void> {
  const { client, eventually, image } = story;
  const [alice, bob, mallory] = ["alice", "bob", "mallory"].map(story.as) as [Client, Client, Client];
  const read = (name: string): Promise<KubernetesExecution> => client.get(KubernetesExecution, { namespace, name });
  const reaches = (name: string, phase: string): Promise<KubernetesExecution> =>
    eventually(
      () => read(name),
      ({ status }) => assert.equal(status?.phase, phase, status?.message),
    );
  const approve = async (by: Client, name: string, user: string): Promise<void> => {
    const { spec } = await read(name);
    const at = new Date().toISOString().replace(/\.\d+/, "");
    const approval = { decision: "Approved", by: user, at, specHash: specHashOf(spec) };
    await by.patch(
      KubernetesExecution,
      { namespace, name },
      { type: "merge", value: { status: { approval } } },
      { subresource: "status" },
    );
  };
  const scale = (name: string, replicas: number) => ({
    metadata: { name, namespace },
    spec: {
      action: "scale_deployment" as const,
      parameters: { scaleDeployment: { deployment: "web", namespace, replicas } },
    },
  });

  await prepare(client, image);

  await context.test(
    "approved by another person, it runs as one Job under the action's own ServiceAccount",
    async () => {
      await eventually(
        () => alice.create(KubernetesExecution, scale("more", 2)),
        () => undefined,
      );
      const waiting = await reaches("more", "waiting_approval");
      assert.equal(waiting.metadata.annotations?.["capstan.dev/requested-by"], "alice");
      await assert.rejects(approve(alice, "more", "alice"), isForbidden);
      await assert.rejects(approve(mallory, "more", "mallory"), isForbidden);
      await approve(bob, "more", "bob");
      const { status } = await reaches("more", "rollback_ready");
      assert.equal(status?.approval?.by, "bob");
      assert.equal(findCondition(status?.conditions, "Executed")?.reason, "JobCompleted");
      assert.equal((await client.get(Deployment, { namespace, name: "web" })).spec.replicas, 2);
      const jobs = await jobsOf(client, "more");
      assert.deepEqual(
        jobs.map(({ spec }) => spec.template.spec.serviceAccountName),
        ["kubernaut-action-scale-deployment"],
      );
    },
  );

  await context.test("what the action's ServiceAccount may not do is refused before anything runs", async () => {
    const role = { name: "kubernaut-action-rollout-restart" };
    const { rules } = await client.get(ClusterRole, role);
    await client.patch(ClusterRole, role, { type: "merge", value: { rules: [] } });
    try {
      await alice.create(KubernetesExecution, {
        metadata: { name: "weak", namespace },
        spec: { action: "rollout_restart", parameters: { rolloutRestart: { deployment: "web", namespace } } },
      });
      const { status } = await reaches("weak", "failed");
      assert.equal(status?.reason, "validation_error");
      assert.match(status?.message ?? "", /kubernaut-action-rollout-restart may not get deployments/);
      assert.deepEqual(await jobsOf(client, "weak"), []);
    } finally {
      await client.patch(ClusterRole, role, { type: "merge", value: { rules } });
    }
  });

  await context.test("whoever has no right to ask is refused", async () => {
    await assert.rejects(mallory.create(KubernetesExecution, scale("never", 9)), isForbidden);
  });

  await context.test(
    "nobody but the executor starts Jobs where the actions' accounts are, not even an administrator",
    async () => {
      const [job] = await jobsOf(client, "more");
      assert.ok(job);
      await assert.rejects(
        client.create(Job, {
          metadata: { name: "by-hand", namespace: jobNamespace },
          spec: {
            template: { spec: { ...job.spec.template.spec, containers: job.spec.template.spec.containers } },
          },
        }),
        /only the action executor creates Jobs here/,
      );
    },
  );

  await context.test("deleted, it takes its Job with it", async () => {
    for (const name of ["more", "weak"]) await client.delete(KubernetesExecution, { namespace, name });
    await eventually(
      () => jobsOf(client, "more"),
      (jobs) => assert.deepEqual(jobs, []),
    );
    await client.delete(Namespace, { name: namespace });
  });
}

/** Every Job that was made for an execution of this name, ended or not. */
export async function jobsOf(client: Client, name: string): Promise<readonly Job[]> {
  const { items } = await client.list(Job, { namespace: jobNamespace });
  return items.filter(({ metadata }) => metadata.annotations?.[executionAnnotations.name] === name);
}

async function prepare(client: Client, image: string): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace, labels: { environment: "production" } } });
  await client.create(Deployment, {
    metadata: { name: "web", namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image }] } },
    },
  });
  const requester = { name: "story-requester" };
  await client.apply(
    ClusterRole,
    {
      metadata: requester,
      rules: [
        {
          apiGroups: [KubernetesExecution.group],
          resources: [KubernetesExecution.plural, `${KubernetesExecution.plural}/status`],
          verbs: ["create", "get", "patch"],
        },
      ],
    },
    { fieldManager: "story", force: true },
  );
  for (const [user, role] of [
    ["alice", requester.name],
    ["bob", "capstan-approver"],
  ] as const)
    await client.create(RoleBinding, {
      metadata: { name: user, namespace },
      roleRef: { apiGroup: ClusterRole.group, kind: ClusterRole.kind, name: role },
      subjects: [{ apiGroup: ClusterRole.group, kind: "User", name: user }],
    });
}
