/** Gated actions as people meet them: the whole control plane over TLS, two people, and effects as real processes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { SubjectAccessReview } from "../../src/api/builtin/access-review.ts";
import { Node } from "../../src/api/builtin/cluster.ts";
import { ConfigMap, ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { Job } from "../../src/api/builtin/job.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { RemediationRequest } from "../../src/api/remediation-request.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { applyObjects } from "../../src/control-plane/install.ts";
import { jobNamespace, switchConfigMap, systemNamespace } from "../../src/controllers/action-executor/names.ts";
import { systemEnv } from "../../src/env/system.ts";
import { openTerminal, type Terminal, type Typed } from "../documents/terminal.ts";
import { deployment, execution, namespace, scale, shop, thing } from "./actions-examples.ts";
import { startEmbedded } from "./embedded.ts";

const lab = "lab";
const actionsUser = "system:serviceaccount:capstan-system:capstan-actions";
/** Effects are processes; on a busy machine each may take many seconds to start. */
const patienceMs = 120_000;

interface Office {
  /** `capstan-admin`, who asks for everything here. */
  readonly admin: Client;
  /** `capstan-approver`. */
  readonly approver: Client;
  readonly terminal: Terminal;
  readonly dataDir: string;
  type(command: string): Promise<Typed>;
}

async function openOffice(context: TestContext): Promise<Office> {
  const { client: admin, dataDir } = await startEmbedded(context, [], {
    command: [process.execPath, join(import.meta.dirname, "act-program.ts")],
  });
  const second = await clientFromKubeconfig({ env: systemEnv, paths: [join(dataDir, "approver.kubeconfig")] });
  context.after(() => second.close());
  const terminal = openTerminal(context, dataDir);
  return { admin, approver: second.client, terminal, dataDir, type: (command) => terminal.type(command) };
}

async function until<T>(ask: () => Promise<T>, passes: (answer: T) => void): Promise<T> {
  const deadlineMs = systemEnv.monotonicMs() + patienceMs;
  for (;;) {
    try {
      const answer = await ask();
      passes(answer);
      return answer;
    } catch (error) {
      if (systemEnv.monotonicMs() > deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const executionReaches = (client: Client, name: string, phase: string, where = shop): Promise<KubernetesExecution> =>
  until(
    () => client.get(KubernetesExecution, { namespace: where, name }),
    ({ status }) => assert.equal(status?.phase, phase, status?.message),
  );
const remediationReaches = (client: Client, name: string, phase: string, where = shop): Promise<RemediationRequest> =>
  until(
    () => client.get(RemediationRequest, { namespace: where, name }),
    ({ status }) => assert.equal(status?.overallPhase, phase, status?.message),
  );
const replicasOf = async (client: Client, name: string, where = shop): Promise<number | undefined> =>
  (await client.get(Deployment, { namespace: where, name })).spec.replicas;

const step = (stepNumber: number, name: string, replicas: number, where: string, more: object = {}) => ({
  stepNumber,
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: name, namespace: where, replicas } },
  ...more,
});
const remediation = (name: string, where: string, spec: object) =>
  thing("remediation.kubernaut.io/v1alpha1", "RemediationRequest", { name, namespace: where }, { spec });

interface Row {
  readonly actor: string;
  readonly verb: string;
  readonly result: string;
}
async function rowsOf({ type }: Office, filter: string): Promise<readonly string[]> {
  const { code, output } = await type(`capstan audit list ${filter} -o json`);
  assert.equal(code, 0, output);
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row)
    .map(({ actor, verb, result }) => `${actor}: ${verb} ${result}`);
}

test("people change a cluster through gated actions", { timeout: 400_000 }, async (context) => {
  const office = await openOffice(context);
  const { admin, approver, type, dataDir } = office;
  await applyObjects(admin, [
    namespace(shop, "production"),
    namespace(lab),
    deployment("web", 2),
    deployment("bench", 1, lab),
  ]);

  await context.test(
    "asked for by one, approved by another, run as a process, verified, finalised, audited",
    async () => {
      const allUp = {
        type: "pods_are_up",
        rego: "package postcondition\nimport rego.v1\nallow if input.ready_pods >= input.target_replicas\n",
        timeout: "2m",
      };
      await applyObjects(admin, [
        remediation("slow", shop, { steps: [step(1, "web", 4, shop, { postConditions: [allUp] })] }),
      ]);
      const name = "slow-step-1";
      const waiting = await executionReaches(approver, name, "waiting_approval");
      assert.equal(waiting.metadata.annotations?.["capstan.dev/requested-by"], "capstan-admin");
      assert.equal(waiting.status?.rollbackInformation?.available, true);
      assert.equal(await replicasOf(admin, "web"), 2);

      const own = await type(`capstan approve ${name} -n ${shop} --kubeconfig ${join(dataDir, "kubeconfig")}`);
      assert.equal(own.code, 1, own.output);
      assert.match(
        own.output,
        /whoever asked for the action cannot approve it\nThe second person .*approver\.kubeconfig/,
      );
      const received = { type: "merge", value: { spec: { approvalReceived: true } } } as const;
      await assert.rejects(admin.patch(KubernetesExecution, { namespace: shop, name }, received), {
        reason: "Forbidden",
      });

      const other = await type(`capstan approve ${name} -n ${shop} --reason agreed`);
      assert.equal(other.code, 0, other.output);
      assert.match(other.output, /Approved by capstan-approver/);
      const { status } = await remediationReaches(admin, "slow", "completed");
      assert.equal(status?.stepStatuses?.[0]?.status, "completed");
      const done = await executionReaches(admin, name, "completed");
      assert.equal(await replicasOf(admin, "web"), 4);
      assert.equal(done.status?.approval?.by, "capstan-approver");
      assert.equal(done.status?.approval?.reason, "agreed");
      assert.deepEqual(
        done.status?.executionResults?.resourcesAffected?.map(({ before, after }) => [before, after]),
        [["replicas: 2", "replicas: 4"]],
      );
      assert.equal(done.status?.validationResults?.postConditionResults?.[0]?.passed, true);

      const job = await admin.get(Job, { namespace: jobNamespace, name: done.status?.executionResults?.jobName ?? "" });
      assert.equal(job.spec.template.spec.serviceAccountName, "kubernaut-action-scale-deployment");
      assert.equal(job.metadata.labels?.["kubernaut.io/action"], "scale_deployment");
      const { items: pods } = await admin.list(Pod, { namespace: jobNamespace });
      const ended = pods[0]?.status?.containerStatuses?.[0]?.state?.terminated;
      assert.equal(ended?.exitCode, 0, JSON.stringify(ended));
      assert.match(ended?.message ?? "", /"outcome":"Succeeded"/);

      assert.deepEqual(await rowsOf(office, `-n ${shop} --name ${name}`), [
        "capstan-action-executor: evaluate Allowed",
        "capstan-action-executor: transition validating",
        "capstan-action-executor: transition validated",
        "capstan-action-executor: transition waiting_approval",
        "capstan-approver: approve Approved",
        "capstan-action-executor: intend Intended",
        "capstan-action-executor: create-job Created",
        "capstan-action-executor: transition executing",
        "capstan-action-executor: effect Succeeded",
        "capstan-action-executor: transition rollback_ready",
        "capstan-action-executor: transition completed",
      ]);
      const proof = await type("capstan audit verify");
      assert.equal(proof.code, 0, proof.output);
    },
  );

  await context.test("a drain waits as long as a pod takes to go, in one process", async () => {
    // Nobody runs these nodes: a pod of theirs that is to go stays until somebody says that it is gone.
    for (const name of ["far-1", "far-2", "far-3"]) await admin.create(Node, { metadata: { name } } as never);
    const slow = { namespace: lab, name: "slow-to-go" };
    const spec = { nodeName: "far-1", containers: [{ name: "main", image: "main:1" }] };
    await admin.create(Pod, { metadata: slow, spec } as never);
    const drain = { node: "far-1", force: true };
    await admin.create(KubernetesExecution, {
      metadata: { namespace: lab, name: "empty" },
      spec: { action: "drain_node", parameters: { drainNode: drain }, maxRetries: 0 },
    } as never);
    await executionReaches(admin, "empty", "waiting_approval", lab);
    const yes = await type(`capstan approve empty -n ${lab}`);
    assert.equal(yes.code, 0, yes.output);
    await until(
      () => admin.get(Pod, slow),
      ({ metadata }) => assert.ok(metadata.deletionTimestamp),
    );
    // Longer than it looks, twice.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal((await executionReaches(admin, "empty", "executing", lab)).status?.executionResults?.success, false);
    await admin.delete(Pod, slow, { gracePeriodSeconds: 0 });
    const { status } = await executionReaches(admin, "empty", "rollback_ready", lab);
    assert.equal(status?.message, "Node far-1 was drained");
    assert.equal(status?.executionResults?.retriesAttempted, 0);
  });

  await context.test("a word that says no ends it, and nothing happens", async () => {
    await admin.create(KubernetesExecution, scale("unwanted", 9) as never);
    await executionReaches(admin, "unwanted", "waiting_approval");
    const said = await type(`capstan reject unwanted -n ${shop} --reason no`);
    assert.equal(said.code, 0, said.output);
    const { status } = await executionReaches(admin, "unwanted", "failed");
    assert.equal(status?.reason, "approval_rejected");
    const again = await type(`capstan approve unwanted -n ${shop}`);
    assert.equal(again.code, 1, again.output);
    assert.match(again.output, /capstan-approver has decided already: Rejected/);
  });

  await context.test("what a policy denies is not run, and the policies are the user's own", async () => {
    await admin.create(KubernetesExecution, scale("too-many", 111) as never);
    const { status } = await executionReaches(admin, "too-many", "failed");
    assert.equal(status?.reason, "validation_error");
    assert.deepEqual(status?.validationResults?.policyValidation?.violations, [
      "111 replicas are more than the limit of 110",
    ]);
    const key = { namespace: systemNamespace, name: "safety-policies" };
    const own =
      'package kubernetesexecution.safety.own\nimport rego.v1\ndeny contains "not on a Monday" if input.parameters.replicas == 7\n';
    await admin.patch(ConfigMap, key, { type: "merge", value: { data: { "own.rego": own } } });
    let attempt = 0;
    await until(
      async () => {
        const name = `on-monday-${attempt++}`;
        await admin.create(KubernetesExecution, scale(name, 7) as never);
        return until(
          () => admin.get(KubernetesExecution, { namespace: shop, name }),
          ({ status: found }) => assert.match(found?.phase ?? "", /waiting_approval|failed/),
        );
      },
      ({ status: found }) => assert.match(found?.message ?? "", /not on a Monday/),
    );
    await admin.patch(ConfigMap, key, { type: "merge", value: { data: { "broken.rego": "package {" } } });
    await until(
      () => rowsOf(office, "--verb load-policies"),
      (rows) => assert.equal(rows.at(-1), "capstan-action-executor: load-policies Refused"),
    );
    await admin.create(KubernetesExecution, scale("still-on-monday", 7) as never);
    const kept = await executionReaches(admin, "still-on-monday", "failed");
    assert.match(kept.status?.message ?? "", /not on a Monday/, "the last good policies stay in force");
    await admin.patch(ConfigMap, key, { type: "merge", value: { data: { "broken.rego": null } } });
    assert.equal(await replicasOf(admin, "web"), 4);
  });

  await context.test(
    "a dry run comes first where policy wants it, and a waiting execution can be cancelled",
    async () => {
      const patch = JSON.stringify({ spec: { template: { metadata: { annotations: { seen: "yes" } } } } });
      const parameters = { patchDeployment: { deployment: "web", namespace: shop, patchType: "strategic", patch } };
      await admin.create(
        KubernetesExecution,
        execution("patched", { action: "patch_deployment", parameters }) as never,
      );
      const waiting = await executionReaches(admin, "patched", "waiting_approval");
      assert.equal(waiting.status?.validationResults?.dryRunResults?.success, true);
      const value = { spec: { cancel: true } };
      await admin.patch(KubernetesExecution, { namespace: shop, name: "patched" }, { type: "merge", value });
      const { status } = await executionReaches(admin, "patched", "failed");
      assert.equal(status?.reason, "cancelled");
      const { spec } = await admin.get(Deployment, { namespace: shop, name: "web" });
      assert.equal(spec.template.metadata?.annotations?.["seen"], undefined);
    },
  );

  await context.test(
    "one switch holds everything; released, a failed step rolls back what came before it",
    async () => {
      const key = { namespace: systemNamespace, name: switchConfigMap };
      const turn = (frozen: string): Promise<ConfigMap> =>
        admin.patch(ConfigMap, key, { type: "merge", value: { data: { frozen } } });
      assert.equal((await turn("true")).metadata.annotations?.["capstan.dev/frozen-by"], "capstan-admin");
      await until(
        () => rowsOf(office, `--kind ConfigMap --name ${switchConfigMap}`),
        (rows) => assert.deepEqual(rows, ["capstan-admin: freeze Frozen"]),
      );
      const steps = [step(1, "bench", 3, lab), step(2, "ghost", 1, lab, { dependsOn: [1] })];
      await applyObjects(admin, [remediation("tried", lab, { steps, rollbackOnFailure: true })]);
      await until(
        () => admin.get(KubernetesExecution, { namespace: lab, name: "tried-step-1" }),
        ({ status }) => assert.match(status?.message ?? "", /frozen/),
      );
      await turn("false");
      const { status } = await remediationReaches(admin, "tried", "rolled_back", lab);
      assert.deepEqual(
        status?.stepStatuses?.map((each) => each.status),
        ["rolled_back", "failed"],
      );
      assert.equal(await replicasOf(admin, "bench", lab), 1);
      assert.deepEqual(await rowsOf(office, `--kind ConfigMap --name ${switchConfigMap}`), [
        "capstan-admin: freeze Frozen",
        "capstan-admin: unfreeze Released",
      ]);
      const proof = await type("capstan audit verify");
      assert.equal(proof.code, 0, proof.output);
    },
  );

  await context.test(
    "where effects run, nobody but the executor starts anything, the administrator included",
    async () => {
      const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "x", image: "x" }] } } };
      const job = { metadata: { name: "mine", namespace: jobNamespace }, spec };
      await assert.rejects(admin.create(Job, job as never), { reason: "Forbidden" });
      const pod = { metadata: { name: "mine", namespace: jobNamespace }, spec: spec.template.spec };
      await assert.rejects(admin.create(Pod, pod as never), { reason: "Forbidden" });
    },
  );

  await context.test("the controllers may do what they declare, and nothing that would give them more", async () => {
    await admin.get(ServiceAccount, { namespace: "capstan-system", name: "capstan-actions" });
    const may = async (verb: string, group: string, resource: string, where = ""): Promise<boolean> => {
      const resourceAttributes = { verb, group, resource, namespace: where };
      const groups = ["system:serviceaccounts", "system:serviceaccounts:capstan-system", "system:authenticated"];
      const spec = { user: actionsUser, groups, resourceAttributes };
      const { status } = await admin.create(SubjectAccessReview, { metadata: {}, spec });
      return status?.allowed === true;
    };
    assert.equal(await may("create", "batch", "jobs", jobNamespace), true);
    const forbidden: readonly (readonly [string, string, string, string?])[] = [
      ["create", "batch", "jobs", shop],
      ["get", "", "secrets", jobNamespace],
      ["get", "", "secrets", shop],
      ["list", "", "secrets"],
      ["create", "", "secrets", shop],
      ["create", "", "pods", jobNamespace],
      ["patch", "apps", "deployments", shop],
      ["approve", "kubernetesexecution.kubernaut.io", "kubernetesexecutions", shop],
      ["create", "", "serviceaccounts/token", jobNamespace],
      ["bind", "rbac.authorization.k8s.io", "clusterroles"],
      ["escalate", "rbac.authorization.k8s.io", "clusterroles"],
      ["impersonate", "", "users"],
      ["patch", "admissionregistration.k8s.io", "validatingadmissionpolicies"],
    ];
    for (const [verb, group, resource, where] of forbidden)
      assert.equal(await may(verb, group, resource, where), false, `${verb} ${resource} in ${where}`);
  });
});
