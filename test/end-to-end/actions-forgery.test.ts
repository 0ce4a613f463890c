import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import {
  jobNameOf,
  jobNamespace,
  switchConfigMap,
  systemNamespace,
} from "../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import { type ActionCluster, startActionCluster } from "./actions-cluster.ts";
import { deployment, grant, namespace, scale } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const shop = "shop";
const executions = "kubernetesexecutions";
const group = "kubernetesexecution.kubernaut.io";

/** bob may approve and write statuses, as approvers do; edith may edit everything that belongs to namespaces. */
const people = ["alice", "bob", "edith"];
const grants = [
  ...grant(
    "requesters",
    [{ apiGroups: [group], resources: [executions], verbs: ["create", "get", "patch", "update"] }],
    ["alice", "bob"],
  ),
  ...grant(
    "approvers",
    [
      { apiGroups: [group], resources: [executions], verbs: ["approve"] },
      { apiGroups: [group], resources: [`${executions}/status`], verbs: ["get", "patch", "update"] },
    ],
    ["bob"],
  ),
  ...grant(
    "editors",
    [
      {
        apiGroups: [""],
        resources: ["secrets", "pods", "pods/ephemeralcontainers", "serviceaccounts/token", "configmaps"],
        verbs: ["*"],
      },
    ],
    ["edith"],
  ),
];

const forbidden = { reason: "Forbidden", message: /ValidatingAdmissionPolicy/ };
const read = (cluster: ActionCluster, name: string): Promise<KubernetesExecution> =>
  cluster.admin.get(KubernetesExecution, { namespace: shop, name });

async function waiting(cluster: ActionCluster, user: string, name: string): Promise<KubernetesExecution> {
  await cluster.as(user).create(KubernetesExecution, scale(name, 5) as never);
  return eventually(
    () => read(cluster, name),
    ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message),
  );
}

test("S4: nobody goes around an approval by writing what the executor goes by", async (context) => {
  const cluster = await startActionCluster(context, people, true);
  await cluster.apply(...grants, namespace(shop, "production"), deployment("web", 3));
  await cluster.start();
  const own = await waiting(cluster, "bob", "own");
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const yes = { decision: "Approved", by: "bob", at: now, specHash: specHashOf(own.spec) };
  const writeStatus = (status: object): Promise<unknown> =>
    cluster
      .as("bob")
      .patch(
        KubernetesExecution,
        { namespace: shop, name: "own" },
        { type: "merge", value: { status } },
        { subresource: "status" },
      );
  const forged: readonly (readonly [string, object])[] = [
    ["the phase before the start", { phase: "validated", validationTime: now }],
    ["the phase of running", { phase: "executing", jobUID: "x" }],
    ["a Job that is said to be its own", { jobName: "x", jobUID: "y" }],
    ["the end", { phase: "completed" }],
    ["no phase at all, to begin anew", { phase: null }],
    ["a later beginning, to gain time", { phaseStartTime: "2999-01-01T00:00:00Z" }],
    ["a policy that asks for nothing", { validationResults: { policyValidation: null } }],
    ["another way back", { rollbackInformation: { available: true, rollbackAction: "drain_node" } }],
    ["other conditions", { conditions: [] }],
    ["a success", { executionResults: { success: true } }],
    ["another sentence", { message: "it is fine" }],
    ["their own approval beside it", { approval: yes, phase: "validated", validationTime: now }],
  ];
  let refused = 0;
  for (const [name, status] of forged) {
    await assert.rejects(writeStatus(status), forbidden, name);
    refused++;
  }
  const whole = await read(cluster, "own");
  const replaced = { ...whole, status: { ...whole.status, phase: "validated", validationTime: now } };
  await assert.rejects(
    cluster.as("bob").update(KubernetesExecution, replaced as never, { subresource: "status" }),
    forbidden,
  );
  refused++;
  assert.deepEqual((await read(cluster, "own")).status, own.status);
  assert.equal(await cluster.runJobs(), 0);
  context.diagnostic(`${refused} forged statuses, all refused`);

  await context.test("an approver's word about somebody else's wish is still taken", async () => {
    await waiting(cluster, "alice", "hers");
    const value = { status: { approval: { decision: "Approved", by: "", at: now, specHash: "" } } };
    const key = { namespace: shop, name: "hers" };
    await cluster.as("bob").patch(KubernetesExecution, key, { type: "merge", value }, { subresource: "status" });
    await eventually(
      async () => {
        await cluster.runJobs();
        return read(cluster, "hers");
      },
      ({ status }) => assert.equal(status?.phase, "rollback_ready", status?.message),
    );
  });
});

test("S3: nobody slips an order, a token or another program into the place where actions run", async (context) => {
  const cluster = await startActionCluster(context, people, true);
  await cluster.apply(...grants, namespace(shop, "production"), deployment("web", 3));
  await cluster.start();
  const gated = await waiting(cluster, "alice", "gated");
  const edith = cluster.as("edith");
  const { name, uid = "" } = gated.metadata;
  const job = jobNameOf({ name, uid }, "scale_deployment", false);
  const secret = (of: string, more: object): never =>
    ({ metadata: { name: of, namespace: jobNamespace }, data: { "order.json": "e30=" }, ...more }) as never;
  const account = "kubernaut-action-scale-deployment";
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["an order before ours", () => edith.create(Secret, secret(job, { immutable: true }))],
    [
      "an order that pretends to be a registry's credential",
      () =>
        edith.create(
          Secret,
          secret(job, {
            type: "kubernetes.io/dockerconfigjson",
            data: { ".dockerconfigjson": "e30=", "order.json": "e30=" },
          }),
        ),
    ],
    [
      "a lasting token of an action",
      () =>
        edith.create(Secret, {
          metadata: {
            name: "lasting",
            namespace: jobNamespace,
            annotations: { "kubernetes.io/service-account.name": account },
          },
          type: "kubernetes.io/service-account-token",
        } as never),
    ],
    ["a short token of an action", () => edith.createToken({ namespace: jobNamespace, name: account })],
    [
      "a pod with an action's account",
      () =>
        edith.create(Pod, {
          metadata: { name: "mine", namespace: jobNamespace },
          spec: { serviceAccountName: account, containers: [{ name: "x", image: "x" }] },
        } as never),
    ],
  ];
  for (const [what, attempt] of attempts) await context.test(what, () => assert.rejects(attempt(), forbidden));
  context.diagnostic(`${attempts.length} ways into ${jobNamespace}, all refused`);

  await context.test("a private registry's credential may be added", async () => {
    const data = { ".dockerconfigjson": Buffer.from('{"auths":{}}').toString("base64") };
    await edith.create(Secret, secret("registry", { type: "kubernetes.io/dockerconfigjson", data }));
  });

  await context.test("what a pod of an action runs cannot be changed", async () => {
    const container = {
      name: "act",
      image: "capstan:test",
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    };
    const pod = await cluster.admin.create(Pod, {
      metadata: { name: "running", namespace: jobNamespace },
      spec: {
        serviceAccountName: account,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
        containers: [container],
      },
    } as never);
    const key = { namespace: jobNamespace, name: pod.metadata.name };
    const other = { spec: { containers: [{ name: "act", image: "evil:1" }] } };
    await assert.rejects(edith.patch(Pod, key, { type: "strategic", value: other }), forbidden);
    await edith.patch(Pod, key, { type: "merge", value: { metadata: { labels: { seen: "yes" } } } });
  });

  await context.test("a switch that is on cannot be taken away", async () => {
    const key = { namespace: systemNamespace, name: switchConfigMap };
    await edith.patch(ConfigMap, key, { type: "merge", value: { data: { frozen: "True" } } });
    await assert.rejects(edith.delete(ConfigMap, key), forbidden);
    await edith.patch(ConfigMap, key, { type: "merge", value: { data: { frozen: "false" } } });
    await edith.delete(ConfigMap, key);
  });
});
