import assert from "node:assert/strict";
import { test } from "node:test";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import { WorkflowExecution } from "../../src/api/workflow-execution.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import { type ActionCluster, startActionCluster } from "./actions-cluster.ts";
import { deployment, namespace, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const group = "remediation.kubernaut.io/v1alpha1";
const scaleStep = (stepNumber: number, name: string, replicas: number, more: object = {}) => ({
  stepNumber,
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: name, namespace: shop, replicas } },
  ...more,
});
const request = (name: string, spec: object) => thing(group, "RemediationRequest", { name, namespace: shop }, { spec });
const replicasOf = async (cluster: ActionCluster, name: string): Promise<number | undefined> =>
  (await cluster.admin.get(Deployment, { namespace: shop, name })).spec.replicas;

const reaches = (cluster: ActionCluster, name: string, phase: string): Promise<RemediationRequest> =>
  eventually(
    async () => {
      await cluster.runJobs();
      return cluster.admin.get(RemediationRequest, { namespace: shop, name });
    },
    ({ status }) => assert.equal(status?.overallPhase, phase, status?.message),
  );

test("remediations run their steps, and undo them when one fails", async (context) => {
  const cluster = await startActionCluster(context);
  await cluster.start({ controllers: ({ metrics }) => [remediationController({ metrics, coolDownMs: 1_000 })] });
  await cluster.apply(namespace(shop), deployment("web", 3), deployment("api", 1));

  await context.test("steps run in their order, and everything is finalised", async () => {
    await cluster.apply(
      request("good", { steps: [scaleStep(1, "web", 4), scaleStep(2, "api", 2, { dependsOn: [1] })] }),
    );
    const { status } = await reaches(cluster, "good", "completed");
    assert.deepEqual(
      status?.stepStatuses?.map(({ status: state, k8sExecutionRef }) => [state, k8sExecutionRef?.name]),
      [
        ["completed", "good-step-1"],
        ["completed", "good-step-2"],
      ],
    );
    await eventually(
      () => cluster.admin.list(KubernetesExecution, { namespace: shop }),
      ({ items }) =>
        assert.deepEqual(
          items.map(({ status: { phase } = {} }) => phase),
          ["completed", "completed"],
        ),
    );
    assert.deepEqual([await replicasOf(cluster, "web"), await replicasOf(cluster, "api")], [4, 2]);
    const [first] = (await cluster.admin.list(KubernetesExecution, { namespace: shop })).items;
    assert.equal(first?.metadata.ownerReferences?.[0]?.name, "good");
  });

  await context.test("a failed step undoes the steps before it where that is wanted", async () => {
    const steps = [
      scaleStep(1, "web", 9),
      scaleStep(2, "ghost", 1, { dependsOn: [1] }),
      scaleStep(3, "api", 9, { dependsOn: [2] }),
    ];
    await cluster.apply(request("bad", { steps, rollbackOnFailure: true }));
    const { status } = await reaches(cluster, "bad", "rolled_back");
    assert.deepEqual(
      status?.stepStatuses?.map(({ status: state }) => state),
      ["rolled_back", "failed", "skipped"],
    );
    assert.equal(await replicasOf(cluster, "web"), 4);
    assert.equal(await replicasOf(cluster, "api"), 2);
  });

  await context.test("otherwise it only fails; a step that is not critical does not count", async () => {
    await cluster.apply(request("plain", { steps: [scaleStep(1, "web", 6), scaleStep(2, "ghost", 1)] }));
    await reaches(cluster, "plain", "failed");
    assert.equal(await replicasOf(cluster, "web"), 6);
    await cluster.apply(
      request("lenient", { steps: [scaleStep(1, "ghost", 1, { criticalStep: false }), scaleStep(2, "web", 5)] }),
    );
    await reaches(cluster, "lenient", "completed");
    assert.equal(await replicasOf(cluster, "web"), 5);
  });

  await context.test("what cannot be run fails at once, and says why", async () => {
    await cluster.apply(request("odd", { steps: [{ stepNumber: 1, action: "update_image", parameters: {} }] }));
    const { status } = await reaches(cluster, "odd", "failed");
    assert.match(status?.message ?? "", /validation_error: step 1: the action "update_image" has no counterpart/);
  });

  await context.test("one remediation per target at a time, with a rest in between", async () => {
    const targetResource = { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: shop };
    await cluster.apply(request("first", { targetResource, steps: [scaleStep(1, "web", 7)] }));
    await eventually(
      () => cluster.admin.get(RemediationRequest, { namespace: shop, name: "first" }),
      ({ status }) => assert.equal(status?.overallPhase, "executing"),
    );
    await cluster.apply(request("second", { targetResource, steps: [scaleStep(1, "web", 8)] }));
    const waiting = await eventually(
      () => cluster.admin.get(RemediationRequest, { namespace: shop, name: "second" }),
      ({ status }) => assert.equal(status?.overallPhase, "pending"),
    );
    assert.match(waiting.status?.message ?? "", /first is active for the same target/);
    const first = await reaches(cluster, "first", "completed");
    const second = await reaches(cluster, "second", "completed");
    assert.ok((second.status?.startTime ?? "") > (first.status?.completedAt ?? ""));
    assert.equal(await replicasOf(cluster, "web"), 8);
  });

  await context.test("time runs out", async () => {
    await cluster.apply(
      request("slow", { timeoutConfig: { workflowExecutionTimeout: "1s" }, steps: [scaleStep(1, "web", 3)] }),
    );
    const ended = await eventually(
      () => cluster.admin.get(RemediationRequest, { namespace: shop, name: "slow" }),
      ({ status }) => assert.equal(status?.overallPhase, "timed_out"),
    );
    assert.equal(ended.status?.message, "The steps did not end in time");
    await eventually(
      () => cluster.admin.get(KubernetesExecution, { namespace: shop, name: "slow-step-1" }),
      ({ status }) => assert.equal(status?.reason, "cancelled"),
    );
  });

  await context.test("steps may come from a WorkflowExecution, which is told how far they are", async () => {
    const workflow = {
      remediationRequestRef: { name: "planned", namespace: shop },
      workflowDefinition: {
        name: "w",
        version: "v1",
        steps: [{ ...scaleStep(1, "web", 2), name: "fewer", criticalStep: true }],
      },
      executionStrategy: { approvalRequired: false, dryRunFirst: true, rollbackStrategy: "automatic" },
    };
    await cluster.apply(request("planned", { signalName: "x" }));
    await reaches(cluster, "planned", "pending");
    await cluster.apply(
      thing(
        "workflowexecution.kubernaut.io/v1alpha1",
        "WorkflowExecution",
        { name: "w", namespace: shop },
        { spec: workflow },
      ),
    );
    await reaches(cluster, "planned", "completed");
    const told = await eventually(
      () => cluster.admin.get(WorkflowExecution, { namespace: shop, name: "w" }),
      ({ status }) => assert.equal(status?.phase, "completed"),
    );
    assert.deepEqual([told.status?.totalSteps, told.status?.executionPlan?.strategy], [1, "sequential"]);
    assert.ok(cluster.carriedOut.some(({ dryRun, execution }) => dryRun && execution.name === "planned-step-1"));
  });
});
