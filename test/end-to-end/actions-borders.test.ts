import assert from "node:assert/strict";
import { test } from "node:test";
import { type Action, actionMembers } from "../../src/api/action.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { WorkflowExecution } from "../../src/api/workflow-execution.ts";
import { remediationController } from "../../src/controllers/remediation/controller.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { type ActionCluster, setPolicies, startActionCluster } from "./actions-cluster.ts";
import { asAdmin, deployment, execution, grant, namespace, shop, thing } from "./actions-examples.ts";
import { eventually } from "./embedded.ts";

const patience = { timeout: 180_000 };

const ends = (cluster: ActionCluster, name: string, inNamespace = shop): Promise<KubernetesExecution> =>
  eventually(
    async () => {
      await cluster.runJobs();
      return cluster.admin.get(KubernetesExecution, { namespace: inNamespace, name });
    },
    ({ status }) =>
      assert.ok(["rollback_ready", "completed", "failed"].includes(status?.phase ?? ""), `${name}: ${status?.phase}`),
  );

const scaleIn = (where: string) => ({
  action: "scale_deployment",
  parameters: { scaleDeployment: { deployment: "web", namespace: where, replicas: 5 } },
});

test("S9: a namespace is a border for whoever may ask in one only", patience, async (context) => {
  const people = ["alice", "erin"];
  const cluster = await startActionCluster(context, people, true);
  const rules = ["kubernetesexecution.kubernaut.io", "remediation.kubernaut.io", "workflowexecution.kubernaut.io"].map(
    (group) => ({ apiGroups: [group], resources: ["*"], verbs: ["create", "get", "patch", "update"] }),
  );
  const [role] = grant("askers", rules, []);
  const bound = (user: string, where: string): KubeObject =>
    thing(
      "rbac.authorization.k8s.io/v1",
      "RoleBinding",
      { name: user, namespace: where },
      {
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "askers" },
        subjects: [{ kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" }],
      },
    );
  // alice may ask in her shop only; everybody of the group "people" may ask in the playground.
  const group = thing(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    { name: "people", namespace: "playground" },
    {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "askers" },
      subjects: [{ kind: "Group", name: "people", apiGroup: "rbac.authorization.k8s.io" }],
    },
  );
  await cluster.apply(
    namespace(shop),
    namespace("bank"),
    namespace("playground"),
    role,
    bound("alice", shop),
    bound("erin", "bank"),
    group,
    ...[shop, "bank", "playground"].map((where) => deployment("web", 1, where)),
    thing("v1", "Node", { name: "node-1" }, {}),
  );
  const byGroup =
    'deny contains "not for people" if { "people" in input.identity.groups; input.identity.user == "alice"; input.parameters.replicas == 7 }';
  await setPolicies(cluster.admin, {
    "production.rego": null,
    "people.rego": `package kubernetesexecution.safety.people\n${byGroup}\n`,
  });
  await cluster.start({ controllers: ({ metrics }) => [remediationController({ metrics })] });

  const manifest = (where: string): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: where },
      data: { a: "b" },
    });
  const own: readonly (readonly [string, object, boolean])[] = [
    ["her own namespace", scaleIn(shop), true],
    ["one where her group may ask", scaleIn("playground"), true],
    ["another's", scaleIn("bank"), false],
    [
      "another's, beside the parameters",
      { action: "rollout_restart", targetNamespace: "bank", resourceName: "web" },
      false,
    ],
    [
      "another's, in a manifest",
      { action: "apply_manifest", parameters: { applyManifest: { manifest: manifest("bank") } } },
      false,
    ],
    ["the cluster's own", scaleIn("kube-system"), false],
    ["none", { action: "rollout_restart", resourceName: "web" }, false],
    ["a path", scaleIn("../bank"), false],
    ["all of them", scaleIn("*"), false],
    ["a node, which is everybody's", { action: "cordon_node", parameters: { cordonNode: { node: "node-1" } } }, false],
  ];
  let refused = 0;
  for (const [index, [name, spec, isFine]] of own.entries())
    await context.test(`alice, ${name}: ${isFine ? "done" : "refused"}`, async () => {
      await cluster.as("alice").create(KubernetesExecution, execution(`alice-${index}`, spec) as never);
      const { status } = await ends(cluster, `alice-${index}`);
      if (isFine) return assert.notEqual(status?.phase, "failed", status?.message);
      assert.equal(status?.reason, "validation_error", status?.message);
      refused++;
    });
  const { status } = await cluster.admin.get(KubernetesExecution, { namespace: shop, name: "alice-2" });
  assert.match(status?.message ?? "", /alice may not ask for actions in namespace bank/);
  assert.equal(status?.validationResults?.rbacValidation, false);
  assert.equal((await cluster.admin.get(Deployment, { namespace: "bank", name: "web" })).spec.replicas, 1);

  await context.test("policies know who asked, and of which groups", async () => {
    const parameters = { scaleDeployment: { deployment: "web", namespace: shop, replicas: 7 } };
    const spec = { action: "scale_deployment", parameters };
    await cluster.as("alice").create(KubernetesExecution, execution("judged", spec) as never);
    assert.match((await ends(cluster, "judged")).status?.message ?? "", /not for people/);
  });

  await context.test("forged groups are replaced by one's own", async () => {
    const forged = execution("forged", scaleIn("bank"), asAdmin);
    const made = await cluster.as("alice").create(KubernetesExecution, forged as never);
    assert.match(made.metadata.annotations?.["capstan.dev/requested-by-groups"] ?? "", /^people,/);
    assert.equal((await ends(cluster, "forged")).status?.reason, "validation_error");
    refused++;
  });

  await context.test("a plan of alice's does not reach further because the administrator asked", async () => {
    const remediation = thing(
      "remediation.kubernaut.io/v1alpha1",
      "RemediationRequest",
      { name: "wide", namespace: shop },
      { spec: {} },
    );
    await cluster.apply(remediation);
    const steps = [{ stepNumber: 1, ...scaleIn("bank") }];
    const spec = { remediationRequestRef: { name: "wide" }, workflowDefinition: { name: "w", version: "v1", steps } };
    const workflow = thing(
      "workflowexecution.kubernaut.io/v1alpha1",
      "WorkflowExecution",
      { name: "wide", namespace: shop },
      { spec },
    );
    await cluster.as("alice").create(WorkflowExecution, workflow as never);
    assert.match((await ends(cluster, "wide-step-1")).status?.message ?? "", /alice may not ask/);
    refused++;
  });
  context.diagnostic(`S9: ${refused} references over a border, all refused`);
});

test("S10: what is protected cannot be reached, by whatever way", patience, async (context) => {
  const cluster = await startActionCluster(context);
  const kept = "kept";
  const places = ["kube-system", "kube-public", "kube-node-lease", "kubernaut-system", "kubernaut-executor", kept];
  const labels = { app: "web" };
  const spec = { containers: [{ name: "web", image: "web:1" }] };
  const template = { metadata: { labels }, spec };
  const workload = { selector: { matchLabels: labels }, template };
  const things = (where: string): readonly KubeObject[] => [
    deployment("web", 1, where),
    thing("apps/v1", "StatefulSet", { name: "web", namespace: where }, { spec: { ...workload, serviceName: "web" } }),
    thing("apps/v1", "DaemonSet", { name: "web", namespace: where }, { spec: workload }),
    thing("v1", "ConfigMap", { name: "web", namespace: where }, { data: { a: "b" } }),
    thing("v1", "Secret", { name: "web", namespace: where }, { data: { a: "Yg==" } }),
    thing("networking.k8s.io/v1", "NetworkPolicy", { name: "web", namespace: where }, { spec: { podSelector: {} } }),
    thing(
      "autoscaling/v2",
      "HorizontalPodAutoscaler",
      { name: "web", namespace: where },
      {
        spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      },
    ),
    thing(
      "v1",
      "PersistentVolumeClaim",
      { name: "web", namespace: where },
      {
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ),
    thing("v1", "ServiceAccount", { name: "default", namespace: where }, {}),
    thing(
      "v1",
      "Pod",
      {
        name: "web",
        namespace: where,
        labels,
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u", controller: true }],
      },
      { spec: { ...spec, nodeName: `node-of-${where}`, automountServiceAccountToken: false } },
    ),
    thing("v1", "Node", { name: `node-of-${where}` }, {}),
  ];
  for (const name of places) await cluster.apply(namespace(name)).catch(() => undefined);
  await cluster.apply(namespace(shop), ...places.filter((name) => name !== "kubernaut-executor").flatMap(things));
  // Whatever the policies say: it is not for them to allow.
  await setPolicies(cluster.admin, {
    "production.rego": null,
    "protected-namespaces.rego": null,
    "resource-limits.rego": null,
    "all.rego": "package kubernetesexecution.safety\nallow := true\n",
  });
  await cluster.start({ settings: { protectedNamespaces: [kept] } });

  const text = (object: object): string => JSON.stringify(object);
  const configMap = (metadata: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "c" } });
  const attempts = (where: string): readonly (readonly [Action, object])[] => [
    ["scale_deployment", { deployment: "web", namespace: where, replicas: 0 }],
    ["rollout_restart", { deployment: "web", namespace: where }],
    ["delete_pod", { pod: "web", namespace: where }],
    ["patch_deployment", { deployment: "web", namespace: where, patchType: "merge", patch: '{"spec":{"replicas":0}}' }],
    ["update_configmap", { configMap: "web", namespace: where, data: { a: "c" } }],
    ["update_secret", { secret: "web", namespace: where, data: { a: "Yw==" } }],
    ["apply_manifest", { manifest: text(configMap({ name: "web", namespace: where })) }],
    ["apply_manifest", { manifest: text(configMap({ name: "new", namespace: where })) }],
    ["scale_statefulset", { statefulset: "web", namespace: where, replicas: 0 }],
    ["rollback_deployment", { deployment: "web", namespace: where }],
    ["restart_daemonset", { daemonset: "web", namespace: where }],
    ["restart_pod", { pod: "web", namespace: where }],
    ["update_hpa", { hpa: "web", namespace: where, maxReplicas: 9 }],
    ["quarantine_pod", { pod: "web", namespace: where }],
    ["expand_pvc", { pvc: "web", namespace: where, size: "2Gi" }],
    ["increase_resources", { deployment: "web", namespace: where, cpu: "1" }],
    ["update_network_policy", { networkpolicy: "web", namespace: where, rules: { policyTypes: ["Ingress"] } }],
    // The pods on a node are of every namespace.
    ["drain_node", { node: `node-of-${where}`, force: true, deleteLocalData: true, ignoreDaemonSets: true }],
    ["taint_node", { node: `node-of-${where}`, key: "ill", effect: "NoExecute" }],
    // Several objects at once, or one that hides its place.
    [
      "apply_manifest",
      {
        manifest: `${text(configMap({ name: "a", namespace: shop }))}\n---\n${text(configMap({ name: "web", namespace: where }))}`,
      },
    ],
    [
      "apply_manifest",
      { manifest: text({ apiVersion: "v1", kind: "List", items: [configMap({ name: "web", namespace: where })] }) },
    ],
    [
      "apply_manifest",
      {
        manifest: text({
          apiVersion: "v1",
          kind: "ConfigMapList",
          items: [configMap({ name: "web", namespace: where })],
        }),
      },
    ],
    [
      "apply_manifest",
      {
        manifest: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"${shop}","namespace":"${where}"}}`,
      },
    ],
    ["apply_manifest", { manifest: text({ apiVersion: "v1", kind: "Namespace", metadata: { name: where } }) }],
    ["apply_manifest", { manifest: text(configMap({ name: "web" })) }],
    ["apply_manifest", { manifest: text(configMap({ name: "web", namespace: `${where}.` })) }],
    ["patch_deployment", { deployment: "web", namespace: `${where}\u200b`, patchType: "merge", patch: "{}" }],
    ["patch_deployment", { deployment: "web", namespace: where.toUpperCase(), patchType: "merge", patch: "{}" }],
    [
      "patch_deployment",
      { deployment: `../../${where}/deployments/web`, namespace: shop, patchType: "merge", patch: "{}" },
    ],
    [
      "patch_deployment",
      { deployment: "web", namespace: shop, patchType: "merge", patch: text({ metadata: { namespace: where } }) },
    ],
    [
      "patch_deployment",
      {
        deployment: "web",
        namespace: shop,
        patchType: "json",
        patch: text([{ op: "replace", path: "/metadata/namespace", value: where }]),
      },
    ],
  ];
  const versions = async (): Promise<string> =>
    JSON.stringify((await cluster.admin.list(Deployment, {})).items.map(({ metadata }) => metadata.resourceVersion));
  const before = await versions();
  let refused = 0;
  for (const where of places) {
    const asked = attempts(where).filter(([action]) => where !== "kubernaut-executor" || !/node/.test(action));
    await Promise.all(
      asked.map(([action, parameters], index) =>
        cluster.apply(
          execution(`${where}-${index}`, { action, parameters: { [actionMembers[action]]: parameters } }, asAdmin),
        ),
      ),
    );
    for (const [index, [action]] of asked.entries()) {
      const { status } = await ends(cluster, `${where}-${index}`);
      assert.equal(status?.reason, "validation_error", `${action} ${index} in ${where}: ${status?.message}`);
      if (index < 19 && where !== "kubernaut-executor")
        assert.match(status?.message ?? "", /protected namespace|no earlier revision/);
      refused++;
    }
  }
  assert.equal(cluster.carriedOut.length, 0);
  assert.equal(await versions(), before);
  context.diagnostic(`S10: ${refused} ways to protected things, all refused before anything ran`);
});
