import assert from "node:assert/strict";
import { test } from "node:test";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { WorkflowExecution } from "../../src/api/workflow-execution.ts";
import type { Client } from "../../src/client/client.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import { idleWorkflows } from "../../src/controllers/remediation/idle-workflows.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { type ActionCluster, type StartOptions, startActionCluster } from "./actions-cluster.ts";
import { deployment, grant, namespace, scale, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const scaleStep = (name: string, replicas: number) => ({
  stepNumber: 1,
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: name, namespace: shop, replicas } },
});
const request = (name: string, spec: object, inNamespace = shop): KubeObject =>
  thing("remediation.kubernaut.io/v1alpha1", "RemediationRequest", { name, namespace: inNamespace }, { spec });
const workflow = (name: string, of: object, steps: readonly object[], inNamespace = shop): KubeObject =>
  thing(
    "workflowexecution.kubernaut.io/v1alpha1",
    "WorkflowExecution",
    { name, namespace: inNamespace },
    { spec: { remediationRequestRef: of, workflowDefinition: { name: "w", version: "v1", steps } } },
  );

const remediation = (cluster: ActionCluster, name: string): Promise<RemediationRequest> =>
  cluster.admin.get(RemediationRequest, { namespace: shop, name });
const says = (cluster: ActionCluster, name: string, phase: string, message: RegExp): Promise<RemediationRequest> =>
  eventually(
    () => remediation(cluster, name),
    ({ status }) => {
      assert.equal(status?.overallPhase, phase, status?.message);
      assert.match(status?.message ?? "", message);
    },
  );
const completes = (cluster: ActionCluster, name: string): Promise<RemediationRequest> =>
  eventually(
    async () => {
      await cluster.runJobs();
      return remediation(cluster, name);
    },
    ({ status }) => assert.equal(status?.overallPhase, "completed", status?.message),
  );
const workflowSays = (cluster: ActionCluster, name: string, reason: string, inNamespace = shop) =>
  eventually(
    () => cluster.admin.get(WorkflowExecution, { namespace: inNamespace, name }),
    ({ status }) =>
      assert.equal(status?.conditions?.find(({ type }) => type === "Accepted")?.reason, reason, status?.message),
  );
const controllers: StartOptions["controllers"] = ({ metrics }) => [
  remediationController({ metrics, coolDownMs: 1_000 }),
  idleWorkflows(),
];

test("remediations keep out of each other's way, and say what stops them", async (context) => {
  const cluster = await startActionCluster(context);
  await cluster.start({ controllers });
  const names = ["web", "api", "one", "two", "three", "four"];
  await cluster.apply(namespace(shop), namespace("elsewhere"), ...names.map((name) => deployment(name, 1)));

  await context.test("a step that the server would refuse fails at once, before any other runs", async () => {
    const wrong = { ...scaleStep("api", 2), stepNumber: 2 };
    const steps = [
      scaleStep("web", 2),
      { ...wrong, parameters: { scaleDeployment: { deployment: "api", replicas: "two" } } },
    ];
    await cluster.apply(request("wrong", { steps }));
    await says(cluster, "wrong", "failed", /^validation_error: step 2: .*namespace: Required value/);
    assert.deepEqual((await cluster.admin.list(KubernetesExecution, { namespace: shop })).items, []);
  });

  await context.test("a stranger's execution under the step's name is told, and never taken for ours", async () => {
    await cluster.apply(scale("taken-step-1", 1));
    await cluster.apply(request("taken", { steps: [scaleStep("one", 2)] }));
    await says(cluster, "taken", "executing", /^Step 1 cannot be started: .*already exists/);
    await cluster.admin.delete(RemediationRequest, { namespace: shop, name: "taken" });
  });

  await context.test("one that waits begins when the one before it is taken away", async () => {
    await cluster.apply(request("first", { steps: [scaleStep("two", 2)] }));
    await says(cluster, "first", "executing", /0 of 1/);
    await cluster.apply(request("second", { steps: [scaleStep("two", 3)] }));
    await says(cluster, "second", "pending", /first is active for the same target/);
    await cluster.admin.delete(RemediationRequest, { namespace: shop, name: "first" });
    await completes(cluster, "second");
  });

  await context.test("steps of workflows keep each other's targets free as well", async () => {
    await cluster.apply(request("left", {}), request("right", {}));
    await cluster.apply(
      workflow("for-left", { name: "left" }, [scaleStep("three", 2)]),
      workflow("for-right", { name: "right" }, [scaleStep("three", 3)]),
    );
    const waits = await eventually(
      async () => [await remediation(cluster, "left"), await remediation(cluster, "right")],
      (both) => assert.deepEqual(both.map(({ status }) => status?.overallPhase).sort(), ["executing", "pending"]),
    );
    assert.match(waits.find(({ status }) => status?.overallPhase === "pending")?.status?.message ?? "", /is active/);
    await completes(cluster, "left");
    await completes(cluster, "right");
  });

  await context.test("S9: a workflow serves remediations of its own namespace only", async () => {
    await cluster.apply(request("theirs", {}));
    await cluster.apply(workflow("intruder", { name: "theirs", namespace: shop }, [scaleStep("four", 9)], "elsewhere"));
    await workflowSays(cluster, "intruder", "RemediationNotFound", "elsewhere");
    await says(cluster, "theirs", "pending", /no steps yet/);
  });

  await context.test("a workflow that nobody runs is told why", async () => {
    await cluster.apply(workflow("lonely", { name: "nothing" }, [scaleStep("four", 2)]));
    const { status } = await workflowSays(cluster, "lonely", "RemediationNotFound");
    assert.deepEqual([status?.phase, status?.currentStep, status?.totalSteps], ["planning", 0, 1]);
    await cluster.apply(request("nothing", {}));
    await completes(cluster, "nothing");
    await workflowSays(cluster, "lonely", "StepsAccepted");
    await cluster.apply(workflow("late", { name: "nothing" }, [scaleStep("four", 3)]));
    await workflowSays(cluster, "late", "NotChosen");
  });

  await context.test("a workflow that is taken away while it runs takes the wish back", async () => {
    await cluster.apply(request("orphan", {}), workflow("gone", { name: "orphan" }, [scaleStep("four", 5)]));
    await says(cluster, "orphan", "executing", /0 of 1/);
    await cluster.apply(workflow("other", { name: "orphan" }, [scaleStep("four", 7)]));
    await cluster.admin.delete(WorkflowExecution, { namespace: shop, name: "gone" });
    await says(cluster, "orphan", "failed", /workflow that it was running is gone/);
    await eventually(
      () => cluster.admin.get(KubernetesExecution, { namespace: shop, name: "orphan-step-1" }),
      ({ status }) => assert.equal(status?.reason, "cancelled", status?.message),
    );
  });

  await context.test("a duplicate is skipped", async () => {
    await cluster.apply(request("again", { steps: [scaleStep("web", 2)], deduplication: { isDuplicate: true } }));
    await says(cluster, "again", "skipped", /seen before/);
  });

  await context.test("the longest name that a remediation can have leaves room for its steps", async () => {
    const name = "n".repeat(253);
    await cluster.apply(request(name, { steps: [scaleStep("web", 3)] }));
    const { status } = await completes(cluster, name);
    assert.equal(status?.stepStatuses?.[0]?.k8sExecutionRef?.name?.length, 253);
  });
});

test("S4: whoever planned an action cannot approve it, whoever it was planned for", async (context) => {
  const people = ["alice", "bob", "carol"];
  const cluster = await startActionCluster(context, people, true);
  const all = ["create", "get", "patch", "update"];
  const execution = "kubernetesexecution.kubernaut.io";
  await cluster.apply(
    ...grant(
      "everybody",
      [
        { apiGroups: ["remediation.kubernaut.io"], resources: ["remediationrequests"], verbs: all },
        { apiGroups: ["workflowexecution.kubernaut.io"], resources: ["workflowexecutions"], verbs: all },
        { apiGroups: [execution], resources: ["kubernetesexecutions", "kubernetesexecutions/status"], verbs: all },
        { apiGroups: [execution], resources: ["kubernetesexecutions"], verbs: ["approve"] },
      ],
      people,
    ),
    namespace(shop, "production"),
    deployment("web", 1),
  );
  await cluster.start({ controllers });
  const key = (name: string) => ({ namespace: shop, name });
  const approve = (user: Client, name: string): Promise<unknown> => {
    const approval = { decision: "Approved", by: "", at: "2026-01-01T00:00:00Z", specHash: "" };
    const value = { status: { approval } };
    return user.patch(KubernetesExecution, key(name), { type: "merge", value }, { subresource: "status" });
  };
  const receive = (user: Client, name: string): Promise<unknown> =>
    user.patch(KubernetesExecution, key(name), { type: "merge", value: { spec: { approvalReceived: true } } });
  const forbidden = { reason: "Forbidden", message: /ValidatingAdmissionPolicy/ };

  await context.test("a workflow of bob's for alice's remediation", async () => {
    await cluster.as("alice").create(RemediationRequest, request("asked", {}) as never);
    const forged = workflow("plan", { name: "asked" }, [scaleStep("web", 5)]);
    const metadata = { ...forged.metadata, annotations: { "capstan.dev/requested-by": "carol" } };
    await cluster.as("bob").create(WorkflowExecution, { ...forged, metadata } as never);
    const waits = await eventually(
      () => cluster.admin.get(KubernetesExecution, key("asked-step-1")),
      ({ status }) => assert.equal(status?.phase, "waiting_approval", status?.message),
    );
    assert.equal(waits.metadata.annotations?.["capstan.dev/requested-by"], "alice");
    assert.equal(waits.metadata.annotations?.["capstan.dev/planned-by"], "bob");
    const value = { metadata: { annotations: { "capstan.dev/planned-by": null } } };
    await cluster.as("bob").patch(KubernetesExecution, key("asked-step-1"), { type: "merge", value });
    for (const user of ["alice", "bob"]) {
      await assert.rejects(approve(cluster.as(user), "asked-step-1"), forbidden, user);
      await assert.rejects(receive(cluster.as(user), "asked-step-1"), forbidden, user);
    }
    await approve(cluster.as("carol"), "asked-step-1");
    await completes(cluster, "asked");
  });

  await context.test("steps that bob adds to alice's remediation", async () => {
    await cluster.as("alice").create(RemediationRequest, request("empty", {}) as never);
    const value = { spec: { steps: [scaleStep("web", 6)] } };
    const patch = { type: "merge" as const, value };
    await assert.rejects(cluster.as("bob").patch(RemediationRequest, key("empty"), patch), forbidden);
    await cluster.as("alice").patch(RemediationRequest, key("empty"), patch);
  });

  await context.test("an execution of bob's in the place of a step of alice's remediation", async () => {
    const made = await cluster.as("alice").create(RemediationRequest, request("robbed", {}) as never);
    const owner = {
      apiVersion: "remediation.kubernaut.io/v1alpha1",
      kind: "RemediationRequest",
      name: "robbed",
      uid: made.metadata.uid,
      controller: true,
    };
    const forged = scale("robbed-step-1", 1);
    const metadata = { ...forged.metadata, ownerReferences: [owner] };
    await assert.rejects(cluster.as("bob").create(KubernetesExecution, { ...forged, metadata } as never), forbidden);
    await cluster.as("bob").create(KubernetesExecution, scale("adopted", 1) as never);
    const value = { metadata: { ownerReferences: [owner] } };
    const patch = { type: "merge" as const, value };
    await assert.rejects(cluster.as("bob").patch(KubernetesExecution, key("adopted"), patch), forbidden);
    const label = { type: "merge" as const, value: { metadata: { labels: { seen: "yes" } } } };
    await cluster.as("bob").patch(KubernetesExecution, key("asked-step-1"), label);
  });

  await context.test("a demand of the parent's cannot be taken back", async () => {
    const asked = scale("demanded", 2, {}, { "kubernaut.io/approval-required": "true" });
    await cluster.as("alice").create(KubernetesExecution, asked as never);
    const value = { metadata: { annotations: { "kubernaut.io/approval-required": null } } };
    const kept = await cluster.as("alice").patch(KubernetesExecution, key("demanded"), { type: "merge", value });
    assert.equal(kept.metadata.annotations?.["kubernaut.io/approval-required"], "true");
  });
});
