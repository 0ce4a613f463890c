import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "../../src/api/builtin/configuration.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { ClusterRole } from "../../src/api/builtin/rbac.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { readEntries } from "../../src/audit/read-trail.ts";
import { verifyTrail } from "../../src/audit/verify.ts";
import { jobNamespace, switchConfigMap, systemNamespace } from "../../src/controllers/action-executor/names.ts";
import { specHashOf } from "../../src/controllers/action-executor/spec-hash.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { MetricsRegistry } from "../../src/runtime/metrics.ts";
import { type ActionCluster, type JobBehaviour, setPolicies, signer, startActionCluster } from "./actions-cluster.ts";
import { asAdmin, deployment, namespace, scale, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const read = (cluster: ActionCluster, name: string): Promise<KubernetesExecution> =>
  cluster.admin.get(KubernetesExecution, { namespace: shop, name });

const reaches = (
  cluster: ActionCluster,
  name: string,
  phase: string,
  jobs: JobBehaviour = {},
): Promise<KubernetesExecution> =>
  eventually(
    async () => {
      await cluster.runJobs(jobs);
      return read(cluster, name);
    },
    ({ status }) => assert.equal(status?.phase, phase, `${status?.reason ?? ""} ${status?.message ?? ""}`),
  );

const rowsOf = async (cluster: ActionCluster, name: string): Promise<readonly string[]> => {
  const rows: string[] = [];
  for await (const { verb, result } of readEntries(cluster.database, { name })) rows.push(`${verb} ${result}`);
  return rows;
};

test("an execution is validated, run and verified, and can be undone", async (context) => {
  const cluster = await startActionCluster(context);
  const metrics = new MetricsRegistry();
  await cluster.start({ metrics });
  await cluster.apply(namespace(shop), deployment("web", 3), scale("up", 5));
  const done = await reaches(cluster, "up", "rollback_ready");
  const { status } = done;

  await context.test("it is counted under the names that upstream's dashboards use", async () => {
    const counted = [
      'kubernetesexecution_action_execution_total{action="scale_deployment",status="success"} 1',
      'kubernetesexecution_action_execution_duration_seconds_count{action="scale_deployment"} 1',
      'kubernetesexecution_job_creation_total{status="success"} 1',
      "kubernetesexecution_job_creation_duration_seconds_count 1",
      'kubernetesexecution_job_execution_duration_seconds_count{action="scale_deployment"} 1',
      'kubernetesexecution_kubectl_command_execution_total{command="scale",status="success"} 1',
      'kubernetesexecution_kubectl_command_execution_duration_seconds_count{command="scale"} 1',
      'kubernetesexecution_per_action_success_rate{action="scale_deployment"} 1',
      'kubernetes_executor_policy_evaluation_total{result="allowed"} 1',
      'kubernetes_executor_policy_evaluation_duration_seconds_count{result="allowed"} 1',
      "kubernetes_executor_policy_reloads_total 1",
    ];
    const sorted = (line: string): string =>
      line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labels.split(",").sort().join()}}`);
    await eventually(
      async () => metrics.expose().split("\n").map(sorted),
      (lines) =>
        assert.deepEqual(
          counted.filter((line) => !lines.includes(line)),
          [],
        ),
    );
  });

  await context.test("the status has the shapes of the specification and of the published schema", () => {
    assert.deepEqual(
      {
        ...status?.validationResults,
        validationTime: undefined,
        policyValidation: { ...status?.validationResults?.policyValidation, policyName: "" },
      },
      {
        parameterValidation: true,
        rbacValidation: true,
        resourceExists: true,
        policyValidation: {
          policyName: "",
          allowed: true,
          requiredApproval: false,
          requiredDryRun: false,
          violations: [],
        },
        dryRunResults: { performed: false },
        validationTime: undefined,
      },
    );
    assert.equal(status?.executionResults?.success, true);
    assert.deepEqual(status?.executionResults?.resourcesAffected, [
      {
        kind: "Deployment",
        namespace: shop,
        name: "web",
        action: "scaled",
        before: "replicas: 3",
        after: "replicas: 5",
      },
    ]);
    assert.deepEqual(status?.rollbackInformation?.rollbackParameters, {
      scaleToPrevious: { deployment: "web", namespace: shop, previousReplicas: 3 },
      deployment: "web",
      namespace: shop,
      replicas: 3,
    });
    assert.equal(status?.rollbackInformation?.estimatedRollbackDuration, "10s");
    const reasons = ["Validated", "Approved", "Executed", "Verified"].map(
      (type) => findCondition(status?.conditions, type)?.reason,
    );
    assert.deepEqual(reasons, ["AllValidationsPassed", "ApprovalNotRequired", "JobCompleted", "NoPostConditions"]);
  });

  await context.test("the effect is there", async () => {
    const web = await cluster.admin.get(Deployment, { namespace: shop, name: "web" });
    assert.equal(web.spec.replicas, 5);
  });

  await context.test("the Job is isolated, and may go once its result is written down", async () => {
    const [job] = (await cluster.admin.list(Job, { namespace: jobNamespace })).items;
    assert.ok(job);
    const { spec } = job.spec.template;
    assert.equal(spec.serviceAccountName, "kubernaut-action-scale-deployment");
    assert.deepEqual([spec.containers[0]?.command, spec.containers[0]?.args?.[0]], [["capstan"], "act"]);
    assert.ok(!JSON.stringify(job).includes('"web"'), "nothing that a user wrote is in the Job");
    assert.equal(job.metadata.labels?.["owner"], "kubernetesexecution");
    await eventually(
      () => cluster.admin.get(Job, { namespace: jobNamespace, name: job.metadata.name }),
      ({ metadata }) => assert.equal(metadata.finalizers, undefined),
    );
  });

  await context.test("the parent's word ends it", async () => {
    const value = { metadata: { annotations: { "kubernaut.io/finalize": "completed" } } };
    await cluster.admin.patch(KubernetesExecution, { namespace: shop, name: "up" }, { type: "merge", value });
    const { status: last } = await reaches(cluster, "up", "completed");
    assert.ok(last?.completionTime);
  });

  await context.test("every transition, the intent and the effect have one row each, and the chain holds", async () => {
    assert.deepEqual(await rowsOf(cluster, "up"), [
      "evaluate Allowed",
      "transition validating",
      "transition validated",
      "intend Intended",
      "create-job Created",
      "transition executing",
      "effect Succeeded",
      "transition rollback_ready",
      "transition completed",
    ]);
    assert.deepEqual((await verifyTrail(cluster.database, { verifiers: [signer] })).problems, []);
  });

  await context.test("deleting it removes its Job and its order", async () => {
    await cluster.admin.delete(KubernetesExecution, { namespace: shop, name: "up" });
    await eventually(
      async () => [
        ...(await cluster.admin.list(KubernetesExecution)).items,
        ...(await cluster.admin.list(Job, { namespace: jobNamespace })).items.filter(
          ({ metadata }) => !metadata.deletionTimestamp,
        ),
        ...(await cluster.admin.list(Secret, { namespace: jobNamespace })).items,
      ],
      (left) => assert.equal(left.length, 0),
    );
  });
});

test("what is wrong fails with its reason, and nothing runs", async (context) => {
  const cluster = await startActionCluster(context);
  await cluster.start();
  await cluster.apply(namespace(shop), deployment("web", 3), deployment("dns", 2, "kube-system"));
  const deny = 'package kubernetesexecution.safety.test\ndeny contains "not today" if input.parameters.replicas == 13';
  await setPolicies(cluster.admin, { "test.rego": deny });
  const nowhere = { scaleDeployment: { deployment: "ghost", namespace: shop, replicas: 1 } };
  const inSystem = { scaleDeployment: { deployment: "dns", namespace: "kube-system", replicas: 0 } };
  const precondition = (rego: string, required = true) => [{ type: "check", rego, required, timeout: "1s" }];
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ["a target that is not there", { parameters: nowhere }, /Deployment shop\/ghost does not exist/],
    ["a protected namespace", { parameters: inSystem }, /Deployment dns is in the protected namespace kube-system/],
    [
      "a protected namespace, whether the target is there or not",
      { parameters: { scaleDeployment: { deployment: "ghost", namespace: "kube-system", replicas: 1 } } },
      /Deployment ghost is in the protected namespace kube-system/,
    ],
    ["another cluster", { targetCluster: "b" }, /spec.targetCluster/],
    [
      "a policy that says no",
      { parameters: { scaleDeployment: { deployment: "web", namespace: shop, replicas: 13 } } },
      /not today/,
    ],
    [
      "a precondition that does not hold",
      { preConditions: precondition("package precondition\nallow if input.current_replicas == 99") },
      /precondition check does not hold/,
    ],
    [
      "a precondition that is broken",
      { preConditions: precondition("package precondition\nallow if") },
      /precondition check: /,
    ],
  ];
  for (const [name, more, message] of cases)
    await context.test(name, async () => {
      const id = name.replaceAll(/[ ,]+/g, "-");
      await cluster.apply(scale(id, 5, more, asAdmin));
      const { status } = await reaches(cluster, id, "failed");
      assert.equal(status?.reason, "validation_error");
      assert.match(status?.message ?? "", message);
      assert.equal(findCondition(status?.conditions, "Validated")?.status, "False");
    });
  await context.test("a ServiceAccount that lacks a permission", async () => {
    const role = { name: "kubernaut-action-rollout-restart" };
    await cluster.admin.patch(ClusterRole, role, { type: "merge", value: { rules: [] } });
    const parameters = { rolloutRestart: { deployment: "web", namespace: shop } };
    await cluster.apply(scale("weak", 5, { action: "rollout_restart", parameters }));
    const { status } = await reaches(cluster, "weak", "failed");
    assert.match(status?.message ?? "", /may not get deployments in namespace shop/);
  });
  assert.equal(cluster.carriedOut.length, 0);
  assert.equal((await cluster.admin.list(Job, { namespace: jobNamespace })).items.length, 0);
});

test("production waits for somebody else's word about exactly this spec", async (context) => {
  const cluster = await startActionCluster(context);
  await cluster.start({ settings: { approvalTimeoutMs: 3_000 } });
  await cluster.apply(namespace(shop, "production"), deployment("web", 3));
  const asked = { "capstan.dev/requested-by": "alice" };
  const approve = async (name: string, by: string, change: object = {}): Promise<void> => {
    const execution = await reaches(cluster, name, "waiting_approval");
    const at = new Date().toISOString().replace(/\.\d+/, "");
    const approval = { decision: "Approved", by, at, specHash: specHashOf(execution.spec), ...change };
    await cluster.admin.patch(
      KubernetesExecution,
      { namespace: shop, name },
      { type: "merge", value: { status: { approval } } },
      { subresource: "status" },
    );
  };
  await context.test("approved by another person, it runs", async () => {
    await cluster.apply(scale("good", 5, {}, asked));
    await approve("good", "bob");
    const { status } = await reaches(cluster, "good", "rollback_ready");
    assert.equal(findCondition(status?.conditions, "Approved")?.reason, "ApprovalReceived");
    assert.ok((await rowsOf(cluster, "good")).includes("approve Approved"));
  });
  const before = cluster.carriedOut.length;
  const refusals: readonly (readonly [string, string, object])[] = [
    ["the requester's own approval", "alice", {}],
    ["an approval of another spec", "bob", { specHash: "0".repeat(64) }],
    ["an approval that came too late", "bob", { at: "2099-01-01T00:00:00Z" }],
  ];
  for (const [name, by, change] of refusals)
    await context.test(`S5: ${name} starts nothing`, async () => {
      const id = name.replaceAll(/[^a-z]+/g, "-");
      await cluster.apply(scale(id, 7, {}, asked));
      await approve(id, by, change);
      const { status } = await reaches(cluster, id, "failed");
      assert.equal(status?.reason, "approval_timeout");
    });
  await context.test("rejected, it fails", async () => {
    await cluster.apply(scale("bad", 7, {}, asked));
    await approve("bad", "bob", { decision: "Rejected", reason: "too many" });
    const { status } = await reaches(cluster, "bad", "failed");
    assert.equal(status?.reason, "approval_rejected");
    assert.match(status?.message ?? "", /bob has rejected it: too many/);
  });
  assert.equal(cluster.carriedOut.length, before);
});

test("dry runs, conditions, cancelling and the switch", async (context) => {
  const cluster = await startActionCluster(context);
  await cluster.start();
  await cluster.apply(
    namespace(shop),
    deployment("web", 3),
    thing("v1", "Secret", { name: "login", namespace: shop }, { data: { a: "b2xk" } }),
  );
  await setPolicies(cluster.admin, {
    "dry.rego": "package kubernetesexecution.safety.dry\nrequire_dry_run if input.parameters.replicas == 4",
  });

  await context.test("a dry run comes first where policy wants it, and changes nothing by itself", async () => {
    await cluster.apply(scale("careful", 4));
    const { status } = await reaches(cluster, "careful", "rollback_ready");
    assert.deepEqual(status?.validationResults?.dryRunResults, {
      performed: true,
      success: true,
      estimatedImpact: {
        resourcesAffected: 1,
        description: "Deployment shop/web would be scaled",
        replicasChanged: "3 -> 4",
      },
      warnings: [],
    });
    assert.deepEqual(
      cluster.carriedOut.map(({ dryRun }) => dryRun),
      [true, false],
    );
  });

  await context.test("a dry run that fails ends it", async () => {
    const parameters = { updateSecret: { secret: "nobody", namespace: shop, data: { a: "Y2FuYXJ5LXNlY3JldA==" } } };
    await cluster.apply(
      thing(
        "kubernetesexecution.kubernaut.io/v1alpha1",
        "KubernetesExecution",
        { name: "lost", namespace: shop },
        { spec: { action: "update_secret", parameters } },
      ),
    );
    const { status } = await reaches(cluster, "lost", "failed");
    assert.equal(status?.reason, "dry_run_failed");
  });

  await context.test(
    "a required postcondition that fails leaves a way back, and fails for good at the end",
    async () => {
      const postConditions = [
        { type: "ready", rego: "package postcondition\nallow if input.ready_pods == 6", timeout: "1s" },
      ];
      await cluster.apply(scale("unhelpful", 6, { postConditions }));
      const { status } = await reaches(cluster, "unhelpful", "rollback_ready");
      assert.equal(status?.executionResults?.success, false);
      assert.equal(findCondition(status?.conditions, "Verified")?.reason, "PostConditionFailed");
      const value = { metadata: { annotations: { "kubernaut.io/finalize": "completed" } } };
      await cluster.admin.patch(KubernetesExecution, { namespace: shop, name: "unhelpful" }, { type: "merge", value });
      assert.equal((await reaches(cluster, "unhelpful", "failed")).status?.reason, "postcondition_failed");
    },
  );

  await context.test(
    "a postcondition that comes true later is waited for; one that is not required is only noted",
    async () => {
      const postConditions = [
        { type: "ready", rego: "package postcondition\nallow if input.ready_pods == 7", timeout: "30s" },
        { type: "nice", rego: "package postcondition\nallow := false", required: false, timeout: "0s" },
      ];
      await cluster.apply(scale("patient", 7, { postConditions }));
      await eventually(
        async () => {
          await cluster.runJobs();
          return read(cluster, "patient");
        },
        ({ status }) => assert.match(status?.message ?? "", /Waiting for ready/),
      );
      const value = { status: { replicas: 7, readyReplicas: 7 } };
      await cluster.admin.patch(
        Deployment,
        { namespace: shop, name: "web" },
        { type: "merge", value },
        { subresource: "status" },
      );
      const { status } = await reaches(cluster, "patient", "rollback_ready");
      assert.equal(findCondition(status?.conditions, "Verified")?.reason, "PartialSuccess");
    },
  );

  await context.test("the switch holds what has not started, and lets it go on", async () => {
    const flip = (frozen: string) =>
      cluster.apply(
        thing("v1", "ConfigMap", { name: switchConfigMap, namespace: systemNamespace }, { data: { frozen } }),
      );
    await flip("true");
    await cluster.apply(scale("cold", 2));
    const held = await reaches(cluster, "cold", "validated");
    await eventually(
      () => read(cluster, held.metadata.name),
      ({ status }) => assert.equal(findCondition(status?.conditions, "Executed")?.reason, "Frozen"),
    );
    assert.equal(await cluster.runJobs(), 0);
    await flip("false");
    await reaches(cluster, "cold", "rollback_ready");
    await cluster.admin.delete(ConfigMap, { namespace: systemNamespace, name: switchConfigMap });
  });

  await context.test("a running execution can be cancelled", async () => {
    await cluster.apply(scale("regret", 9));
    await eventually(
      () => read(cluster, "regret"),
      ({ status }) => assert.equal(status?.phase, "executing"),
    );
    await cluster.admin.patch(
      KubernetesExecution,
      { namespace: shop, name: "regret" },
      { type: "merge", value: { spec: { cancel: true } } },
    );
    // Its Job must not end by itself meanwhile.
    await eventually(
      () => read(cluster, "regret"),
      ({ status }) => assert.equal(status?.reason, "cancelled", status?.phase),
    );
  });

  await context.test("F47: Jobs that fail, time out, vanish, say nothing or do nothing", async () => {
    await cluster.apply(scale("breaks", 3));
    assert.equal((await reaches(cluster, "breaks", "failed", { fails: "Failed" })).status?.reason, "execution_failed");
    await cluster.apply(scale("slow", 3));
    assert.equal(
      (await reaches(cluster, "slow", "failed", { fails: "DeadlineExceeded" })).status?.reason,
      "execution_timeout",
    );
    await cluster.apply(scale("silent", 3));
    assert.equal(
      (await reaches(cluster, "silent", "rollback_ready", { withoutResult: true })).status?.executionResults?.success,
      true,
    );
    await cluster.apply(scale("liar", 3));
    const liar = await reaches(cluster, "liar", "failed", { withoutEffect: true });
    assert.match(liar.status?.message ?? "", /does not show its effect/);
    await cluster.apply(scale("gone", 3));
    const gone = await eventually(
      () => read(cluster, "gone"),
      ({ status }) => assert.equal(status?.phase, "executing"),
    );
    const key = { namespace: jobNamespace, name: gone.status?.jobName ?? "" };
    await cluster.admin.delete(Job, key, { propagationPolicy: "Background" });
    await cluster.admin.patch(Job, key, { type: "merge", value: { metadata: { finalizers: null } } });
    const failed = await reaches(cluster, "gone", "failed");
    assert.match(failed.status?.message ?? "", /not started again/);
  });

  await context.test("H2: a pod that is started twice has one effect", async () => {
    await cluster.apply(scale("twice", 8));
    await reaches(cluster, "twice", "rollback_ready", { starts: 2 });
    const web = await cluster.admin.get(Deployment, { namespace: shop, name: "web" });
    const twice = await read(cluster, "twice");
    const stamps = web.metadata.annotations?.["kubernaut.io/executions"]?.split(",") ?? [];
    assert.equal(stamps.filter((stamp) => stamp === twice.metadata.uid).length, 1);
  });
});
