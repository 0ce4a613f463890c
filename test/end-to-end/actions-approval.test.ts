import assert from "node:assert/strict";
import { test } from "node:test";
import { Job } from "../../src/api/builtin/job.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { renderJob } from "../../src/controllers/action-executor/job.ts";
import { jobNamespace } from "../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { type ActionCluster, startActionCluster } from "./actions-cluster.ts";
import { deployment, namespace, scale } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const shop = "shop";
const people = ["alice", "bob", "carol"];

/** Everybody may write executions and their status; only bob may approve. */
const roles: readonly KubeObject[] = [
  role("people", ["create", "get", "update", "patch"], people),
  role("approvers", ["approve"], ["bob"]),
  { ...role("jobs", ["create"], people), metadata: { name: "jobs" } },
].flatMap((object) => [object, bindingOf(object)]);

function role(
  name: string,
  verbs: readonly string[],
  users: readonly string[],
): KubeObject & { users: readonly string[] } {
  const group = name === "jobs" ? "batch" : "kubernetesexecution.kubernaut.io";
  const resources = name === "jobs" ? ["jobs"] : ["kubernetesexecutions", "kubernetesexecutions/status"];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name },
    rules: [{ apiGroups: [group], resources, verbs }],
    users,
  } as never;
}
function bindingOf(object: KubeObject): KubeObject {
  const { users } = object as unknown as { users: readonly string[] };
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: object.metadata.name },
    subjects: users.map((name) => ({ kind: "User", name, apiGroup: "rbac.authorization.k8s.io" })),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: object.metadata.name },
  } as never;
}

const read = (cluster: ActionCluster, name: string): Promise<KubernetesExecution> =>
  cluster.admin.get(KubernetesExecution, { namespace: shop, name });

async function waiting(cluster: ActionCluster, name: string): Promise<KubernetesExecution> {
  await cluster.as("alice").create(KubernetesExecution, scale(name, 5) as never);
  return eventually(
    () => read(cluster, name),
    ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message),
  );
}

const approval = (execution: KubernetesExecution, by: string) => ({
  decision: "Approved",
  by,
  at: "2026-01-01T00:00:00Z",
  specHash: specHashOf(execution.spec),
});
const sayYes = (cluster: ActionCluster, user: string, name: string, value: object): Promise<KubernetesExecution> =>
  cluster
    .as(user)
    .patch(
      KubernetesExecution,
      { namespace: shop, name },
      { type: "merge", value: { status: { approval: value } } },
      { subresource: "status" },
    );
const receive = (cluster: ActionCluster, user: string, name: string): Promise<KubernetesExecution> =>
  cluster
    .as(user)
    .patch(
      KubernetesExecution,
      { namespace: shop, name },
      { type: "merge", value: { spec: { approvalReceived: true } } },
    );

test("S4: only an approver's own word counts, whatever is written", async (context) => {
  const cluster = await startActionCluster(context, people, true);
  await cluster.apply(
    ...roles.map(({ users: _users, ...object }: KubeObject & { users?: unknown }) => object as KubeObject),
  );
  await cluster.apply(namespace(shop, "production"), deployment("web", 3));
  await cluster.start();

  await context.test("the requester is the user of the request, not what the manifest says", async () => {
    await cluster
      .as("alice")
      .create(
        KubernetesExecution,
        scale("forged", 5, {}, { "capstan.dev/requested-by": "bob", "capstan.dev/approved-by": "bob" }) as never,
      );
    const { metadata } = await read(cluster, "forged");
    assert.equal(metadata.annotations?.["capstan.dev/requested-by"], "alice");
    assert.equal(metadata.annotations?.["capstan.dev/approved-by"], undefined);
    const value = { metadata: { annotations: { "capstan.dev/requested-by": "carol" } } };
    const changed = await cluster
      .as("alice")
      .patch(KubernetesExecution, { namespace: shop, name: "forged" }, { type: "merge", value });
    assert.equal(changed.metadata.annotations?.["capstan.dev/requested-by"], "alice");
  });

  const execution = await waiting(cluster, "gated");
  const refused: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["the requester approves", () => sayYes(cluster, "alice", "gated", approval(execution, "alice"))],
    [
      "the requester approves in the approver's name",
      () => sayYes(cluster, "alice", "gated", approval(execution, "bob")),
    ],
    ["a stranger approves", () => sayYes(cluster, "carol", "gated", approval(execution, "carol"))],
    ["a stranger approves in the approver's name", () => sayYes(cluster, "carol", "gated", approval(execution, "bob"))],
    [
      "the controllers approve in somebody's name",
      () => sayYes(cluster, "capstan-controllers", "gated", approval(execution, "bob")),
    ],
    [
      "an approver's word about another spec",
      () => sayYes(cluster, "bob", "gated", { ...approval(execution, "bob"), specHash: "0".repeat(64) }),
    ],
    ["the requester sets approvalReceived", () => receive(cluster, "alice", "gated")],
    ["a stranger sets approvalReceived", () => receive(cluster, "carol", "gated")],
  ];
  for (const [name, attempt] of refused)
    await context.test(`${name}: refused`, async () => {
      await assert.rejects(attempt(), { reason: "Forbidden" });
      const { status, metadata } = await read(cluster, "gated");
      assert.equal(status?.approval, undefined);
      assert.equal(metadata.annotations?.["capstan.dev/approved-by"], undefined);
    });

  await context.test("the approver's word is stamped with their name and the spec's hash, and it runs", async () => {
    const said = await sayYes(cluster, "bob", "gated", { ...approval(execution, "mallory"), specHash: "" });
    assert.equal(said.status?.approval?.by, "bob");
    assert.equal(said.status?.approval?.specHash, specHashOf(execution.spec));
    const done = await eventually(
      async () => {
        await cluster.runJobs();
        return read(cluster, "gated");
      },
      ({ status }) => assert.equal(status?.phase, "rollback_ready", status?.message),
    );
    assert.equal(done.status?.approval?.by, "bob");
    await assert.rejects(sayYes(cluster, "bob", "gated", { ...approval(execution, "bob"), decision: "Rejected" }), {
      reason: "Forbidden",
    });
  });

  await context.test("spec.approvalReceived set by an approver is their approval", async () => {
    await waiting(cluster, "old-way");
    await receive(cluster, "bob", "old-way");
    const done = await eventually(
      async () => {
        await cluster.runJobs();
        return read(cluster, "old-way");
      },
      ({ status }) => assert.equal(status?.phase, "rollback_ready", status?.message),
    );
    assert.equal(done.status?.approval?.by, "bob");
  });

  await context.test("approvalReceived in the requester's own manifest is nobody's approval", async () => {
    await cluster.as("alice").create(KubernetesExecution, scale("eager", 5, { approvalReceived: true }) as never);
    await eventually(
      () => read(cluster, "eager"),
      ({ status }) => assert.equal(status?.phase, "waiting_approval"),
    );
  });

  await context.test(
    "S3: nobody but the executor starts anything in the Jobs' namespace, and nothing but what it starts",
    async (inner) => {
      const good = renderJob({
        execution: await read(cluster, "gated"),
        action: "scale_deployment",
        dryRun: false,
        image: "capstan:test",
        timeoutSeconds: 60,
      });
      const named = (name: string, spec: object): never =>
        ({
          ...good,
          metadata: { ...good.metadata, name, finalizers: undefined },
          spec: merge(good.spec, spec),
        }) as never;
      const pod = (spec: object) => ({ template: { spec } });
      const act = (more: object) => pod({ containers: [{ ...good.spec.template.spec.containers[0], ...more }] });
      const secured = (more: object) =>
        act({ securityContext: { ...good.spec.template.spec.containers[0]?.securityContext, ...more } });
      const mutations: readonly (readonly [string, object])[] = [
        ...[
          "default",
          "kubernaut-action-drain-node",
          "kubernaut-action-update-secret",
          "kubernaut-action-scale-deployment-x",
          "",
        ].map((name) => [`ServiceAccount ${name}`, pod({ serviceAccountName: name })] as const),
        ...["evil:1", "capstan:latest", "registry.example/capstan:test", ""].map(
          (image) => [`image ${image}`, act({ image })] as const,
        ),
        ...[["sh"], ["capstan", "up"], ["/bin/capstan"], []].map(
          (command) => [`command ${command}`, act({ command })] as const,
        ),
        ...[
          ["up"],
          ["act"],
          ["act", "--order", "/x", "--result", "/y", "--kubeconfig=/z"],
          ["run", "a", "b", "c", "d"],
        ].map((args) => [`args ${args}`, act({ args })] as const),
        ["a variable", act({ env: [{ name: "KUBECONFIG", value: "/x" }] })],
        ["variables from a Secret", act({ envFrom: [{ secretRef: { name: "x" } }] })],
        ["a privileged container", secured({ privileged: true, allowPrivilegeEscalation: undefined })],
        ["escalation", secured({ allowPrivilegeEscalation: true })],
        ["a writable root", secured({ readOnlyRootFilesystem: false })],
        ["more capabilities", secured({ capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } })],
        ["all capabilities", secured({ capabilities: {} })],
        ["no security context", act({ securityContext: undefined })],
        ["root", pod({ securityContext: { runAsNonRoot: false } })],
        ["no pod security context", pod({ securityContext: undefined })],
        ["the host's network", pod({ hostNetwork: true })],
        ["the host's processes", pod({ hostPID: true })],
        ["the host's IPC", pod({ hostIPC: true })],
        ["the host's files", pod({ volumes: [{ name: "order", hostPath: { path: "/" } }] })],
        [
          "another container",
          pod({ containers: [...good.spec.template.spec.containers, { name: "b", image: "capstan:test" }] }),
        ],
        ["an init container", pod({ initContainers: [{ name: "b", image: "capstan:test" }] })],
      ];
      let denied = 0;
      for (const [name, spec] of mutations) {
        await assert.rejects(
          cluster.as("capstan-controllers").create(Job, named("mutant", spec)),
          (error: { reason?: string }) => {
            assert.ok(error.reason === "Forbidden" || error.reason === "Invalid", `${name}: ${error.reason}`);
            return true;
          },
          name,
        );
        denied++;
      }
      for (const user of [...people, "admin"]) {
        await assert.rejects(cluster.as(user).create(Job, named("copy", {})), { reason: "Forbidden" });
        denied++;
      }
      await cluster.as("capstan-controllers").create(Job, named("true-one", {}), { dryRun: true });
      assert.ok(denied >= 30);
      inner.diagnostic(`${denied} altered or foreign Jobs, all denied in ${jobNamespace}`);
    },
  );
});

function merge(base: unknown, over: unknown): unknown {
  if (
    typeof base !== "object" ||
    base === null ||
    Array.isArray(base) ||
    typeof over !== "object" ||
    over === null ||
    Array.isArray(over)
  )
    return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over))
    merged[key] = key in merged && value !== undefined && key !== "securityContext" ? merge(merged[key], value) : value;
  return merged;
}
