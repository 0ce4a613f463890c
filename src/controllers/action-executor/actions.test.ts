import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { type Action, actionMembers, actions } from "../../api/action.ts";
import { SubjectAccessReview } from "../../api/builtin/access-review.ts";
import { ConfigMap } from "../../api/builtin/configuration.ts";
import { builtinKinds } from "../../api/builtin/kinds.ts";
import { Pod } from "../../api/builtin/pod.ts";
import { createApiServer } from "../../apiserver/server.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import { systemEnv } from "../../env/system.ts";
import type { HttpHandler } from "../../http/message.ts";
import type { KubeObject } from "../../kube/object.ts";
import { actionDefinition } from "./actions/catalogue.ts";
import { carryOut } from "./carry-out.ts";
import { actionRbacObjects } from "./install-rbac.ts";
import { jobNameOf, jobNamespace, serviceAccountOf } from "./names.ts";
import { decodeOrder, decodeResult, encodeResult, type Order } from "./order.ts";
import { checkParameters } from "./parameters.ts";
import { stampAnnotation } from "./stamp.ts";

const env = systemEnv;
const findKind = (group: string, kind: string) =>
  builtinKinds.find((known) => known.group === group && known.kind === kind);
const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m" } } }] },
};
const workload = { selector: { matchLabels: { app: "web" } }, template };
const shop = { namespace: "shop" };

/** What is in the cluster before every case. */
const things: readonly KubeObject[] = [
  thing("v1", "Namespace", { name: "shop" }, {}),
  thing("v1", "Namespace", { name: jobNamespace }, {}),
  thing("v1", "ServiceAccount", { ...shop, name: "default" }, {}),
  thing("apps/v1", "Deployment", { ...shop, name: "web" }, { spec: { replicas: 3, ...workload } }),
  thing("apps/v1", "StatefulSet", { ...shop, name: "db" }, { spec: { replicas: 1, serviceName: "db", ...workload } }),
  thing("apps/v1", "DaemonSet", { ...shop, name: "agent" }, { spec: workload }),
  thing("v1", "Node", { name: "node-1" }, { spec: { taints: [{ key: "old", effect: "NoSchedule" }] } }),
  thing("v1", "ConfigMap", { ...shop, name: "settings" }, { data: { level: "info" } }),
  thing("v1", "Secret", { ...shop, name: "login" }, { data: { password: "b2xk" } }),
  thing(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    { ...shop, name: "web" },
    {
      spec: {
        minReplicas: 1,
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      },
    },
  ),
  thing(
    "v1",
    "PersistentVolumeClaim",
    { ...shop, name: "data" },
    { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  ),
  thing(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    { ...shop, name: "walls" },
    { spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{}] } },
  ),
];

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "rs-1", controller: true };
const pod = (name: string, more: Partial<KubeObject["metadata"]> = {}, spec = {}): KubeObject =>
  thing(
    "v1",
    "Pod",
    { ...shop, name, labels: { app: "web" }, ownerReferences: [owner], ...more },
    { spec: { ...template.spec, nodeName: "node-1", serviceAccountName: "default", ...spec } },
  );

const manifest = JSON.stringify(thing("v1", "ConfigMap", { ...shop, name: "made" }, { data: { a: "1" } }));

interface Case {
  readonly action: Action;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly kind: string;
  readonly name: string;
  readonly group?: string;
  readonly also?: readonly KubeObject[];
  /** What must be true of the target afterwards; absent: it is gone. */
  readonly look?: (object: Readonly<Record<string, never>>) => unknown;
  readonly is?: unknown;
  readonly affected: string;
  readonly rollback?: string;
}

const cases: readonly Case[] = [
  {
    action: "scale_deployment",
    parameters: { deployment: "web", ...shop, replicas: 5 },
    kind: "Deployment",
    group: "apps",
    name: "web",
    look: at("spec.replicas"),
    is: 5,
    affected: "scaled: replicas: 3 -> replicas: 5",
    rollback: "scale_deployment",
  },
  {
    action: "rollout_restart",
    parameters: { deployment: "web", ...shop },
    kind: "Deployment",
    group: "apps",
    name: "web",
    look: at("spec.template.metadata.annotations"),
    is: { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" },
    affected: "restarted:  -> restartedAt: 2026-01-01T00:00:00Z",
  },
  {
    action: "delete_pod",
    parameters: { pod: "web-1-a", ...shop, gracePeriodSeconds: 0 },
    kind: "Pod",
    name: "web-1-a",
    also: [pod("web-1-a")],
    affected: "deleted: phase: Pending -> deleted",
  },
  {
    action: "patch_deployment",
    parameters: {
      deployment: "web",
      ...shop,
      patchType: "strategic",
      patch: "spec: { template: { spec: { containers: [{ name: web, image: 'web:2' }] } } }",
    },
    kind: "Deployment",
    group: "apps",
    name: "web",
    look: at("spec.template.spec.containers.0.image"),
    is: "web:2",
    affected: "patched: generation: 1 -> generation: 2",
    rollback: "patch_deployment",
  },
  {
    action: "cordon_node",
    parameters: { node: "node-1" },
    kind: "Node",
    name: "node-1",
    look: at("spec.unschedulable"),
    is: true,
    affected: "cordoned: unschedulable: false -> unschedulable: true",
    rollback: "uncordon_node",
  },
  {
    action: "drain_node",
    parameters: { node: "node-1", gracePeriodSeconds: 0 },
    kind: "Node",
    name: "node-1",
    also: [pod("web-1-b")],
    look: at("spec.unschedulable"),
    is: true,
    affected: "drained: unschedulable: false, 1 pods to evict -> unschedulable: true, 0 pods to evict",
    rollback: "uncordon_node",
  },
  {
    action: "uncordon_node",
    parameters: { node: "node-1" },
    kind: "Node",
    name: "node-1",
    look: at("spec.unschedulable"),
    is: undefined,
    affected: "uncordoned: unschedulable: false -> unschedulable: false",
  },
  {
    action: "update_configmap",
    parameters: { configMap: "settings", ...shop, data: { level: "debug" } },
    kind: "ConfigMap",
    name: "settings",
    look: at("data"),
    is: { level: "debug" },
    affected: "updated:  -> keys set: level",
    rollback: "update_configmap",
  },
  {
    action: "update_secret",
    parameters: { secret: "login", ...shop, data: { password: "bmV3" } },
    kind: "Secret",
    name: "login",
    look: at("data"),
    is: { password: "bmV3" },
    affected: "updated:  -> keys set: password",
  },
  {
    action: "apply_manifest",
    parameters: { manifest },
    kind: "ConfigMap",
    name: "made",
    look: at("data"),
    is: { a: "1" },
    affected: "created: not there -> ",
  },
  {
    action: "scale_statefulset",
    parameters: { statefulset: "db", ...shop, replicas: 2 },
    kind: "StatefulSet",
    group: "apps",
    name: "db",
    look: at("spec.replicas"),
    is: 2,
    affected: "scaled: replicas: 1 -> replicas: 2",
    rollback: "scale_statefulset",
  },
  {
    action: "restart_daemonset",
    parameters: { daemonset: "agent", ...shop },
    kind: "DaemonSet",
    group: "apps",
    name: "agent",
    look: at("spec.template.metadata.annotations"),
    is: { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" },
    affected: "restarted:  -> restartedAt: 2026-01-01T00:00:00Z",
  },
  {
    action: "restart_pod",
    parameters: { pod: "web-1-c", ...shop },
    kind: "Pod",
    name: "web-1-c",
    also: [pod("web-1-c", {}, { terminationGracePeriodSeconds: 0 })],
    affected: "restarted: phase: Pending -> deleted, to be started again by its controller",
  },
  {
    action: "update_hpa",
    parameters: { hpa: "web", ...shop, maxReplicas: 9 },
    kind: "HorizontalPodAutoscaler",
    group: "autoscaling",
    name: "web",
    look: at("spec.maxReplicas"),
    is: 9,
    affected: "updated: replicas: 1 to 5 -> replicas: 1 to 9",
    rollback: "update_hpa",
  },
  {
    action: "taint_node",
    parameters: { node: "node-1", key: "ill", effect: "NoExecute" },
    kind: "Node",
    name: "node-1",
    look: at("spec.taints"),
    is: [
      { key: "old", effect: "NoSchedule" },
      { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" },
      { key: "ill", effect: "NoExecute" },
    ],
    affected:
      "tainted: taints: old:NoSchedule, node.kubernetes.io/not-ready:NoSchedule -> taints: old:NoSchedule, node.kubernetes.io/not-ready:NoSchedule, ill:NoExecute",
    rollback: "untaint_node",
  },
  {
    action: "untaint_node",
    parameters: { node: "node-1", key: "old" },
    kind: "Node",
    name: "node-1",
    look: at("spec.taints"),
    is: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }],
    affected:
      "untainted: taints: old:NoSchedule, node.kubernetes.io/not-ready:NoSchedule -> taints: node.kubernetes.io/not-ready:NoSchedule",
    rollback: "taint_node",
  },
  {
    action: "quarantine_pod",
    parameters: { pod: "web-1-d", ...shop },
    kind: "Pod",
    name: "web-1-d",
    also: [pod("web-1-d")],
    look: at("metadata.labels"),
    is: { "kubernaut.io/quarantine": "web-1-d" },
    affected: "quarantined: labels: app -> labels: kubernaut.io/quarantine",
  },
  {
    action: "expand_pvc",
    parameters: { pvc: "data", ...shop, size: "2Gi" },
    kind: "PersistentVolumeClaim",
    name: "data",
    look: at("metadata.name"),
    is: "data",
    affected: "expanded: storage: 1Gi -> storage: 2Gi",
  },
  {
    action: "increase_resources",
    parameters: { deployment: "web", ...shop, memory: "1Gi" },
    kind: "Deployment",
    group: "apps",
    name: "web",
    look: at("spec.template.spec.containers.0.resources"),
    is: { limits: { memory: "1Gi" }, requests: { cpu: "100m", memory: "1Gi" } },
    affected: 'given more resources: {"requests":{"cpu":"100m"}} -> requests.memory: 1Gi, limits.memory: 1Gi',
    rollback: "patch_deployment",
  },
  {
    action: "update_network_policy",
    parameters: { networkpolicy: "walls", ...shop, rules: { ingress: [] } },
    kind: "NetworkPolicy",
    group: "networking.k8s.io",
    name: "walls",
    look: at("spec.ingress"),
    is: undefined,
    affected: "updated:  -> set: ingress",
    rollback: "update_network_policy",
  },
  {
    action: "rollback_deployment",
    parameters: { deployment: "old", ...shop },
    kind: "Deployment",
    group: "apps",
    name: "old",
    look: at("spec.template.spec.containers.0.image"),
    is: "web:0",
    affected: "rolled back: revision: 2 -> revision: 1",
    rollback: "patch_deployment",
    also: [
      thing(
        "apps/v1",
        "Deployment",
        { ...shop, name: "old", annotations: { "deployment.kubernetes.io/revision": "2" } },
        { spec: workload },
      ),
    ],
  },
];

describe("every action", { timeout: 120_000 }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  test("has a case here", () => {
    assert.deepEqual(cases.map(({ action }) => action).sort(), [...actions].sort());
  });

  for (const { action, parameters, kind, group = "", name, also = [], look, is, affected, rollback } of cases)
    test(`${action} does what it says under its own ServiceAccount, once`, async () => {
      const { admin } = cluster;
      await cluster.reset([...things, ...also]);
      if (action === "rollback_deployment") await cluster.addRevision("old", "web:0", 1);
      const known = findKind(group, kind);
      assert.ok(known);
      const read = (): Promise<KubeObject | undefined> =>
        admin.get(known, known.namespaced ? { ...shop, name } : { name }).catch(() => undefined);
      const original = await read();
      const state = { object: original, related: await cluster.related(action, parameters, original) };
      const information = actionDefinition(action).rollback(state, parameters);
      assert.equal(information.available ? information.rollbackAction : undefined, rollback);

      const order = orderOf(action, parameters, original);
      const as = await cluster.as(action);
      const dry = await carryOut({ ...order, dryRun: true }, hands(as));
      // The server refuses to expand a claim that is not bound, which no simulated volume is.
      const refusedHere = action === "expand_pvc";
      assert.equal(dry.outcome, refusedHere ? "Refused" : "Succeeded", dry.message);
      assert.deepEqual(withoutVersion(await read()), withoutVersion(original), "a dry run changes nothing");

      const result = await carryOut(order, hands(as));
      if (refusedHere) return assert.match(result.message, /Forbidden|Invalid/);
      assert.equal(result.outcome, "Succeeded", result.message);
      const [first] = result.affected;
      assert.equal(`${first?.action}: ${first?.before ?? ""} -> ${first?.after ?? ""}`, affected);
      const changed = await read();
      if (look === undefined) assert.equal(changed, undefined);
      else assert.deepEqual(look(changed as never), is);
      if (look && action !== "update_secret")
        assert.ok(changed?.metadata.annotations?.[stampAnnotation]?.includes(order.token));

      const again = await carryOut(order, hands(as));
      assert.equal(again.outcome, action === "update_secret" ? "Succeeded" : "AlreadyDone", again.message);
      const expected = action === "update_secret" ? undefined : changed?.metadata.resourceVersion;
      if (expected) assert.equal((await read())?.metadata.resourceVersion, expected, "a second start changes nothing");

      if (!information.available) return;
      const undo = information.rollbackAction as Action;
      const { scaleToPrevious, restorePreviousConfig, uncordonNode, custom, ...flat } =
        information.rollbackParameters ?? {};
      void [scaleToPrevious, restorePreviousConfig, uncordonNode, custom];
      const undone = await carryOut({ ...orderOf(undo, flat, changed), token: "undo" }, hands(await cluster.as(undo)));
      assert.equal(undone.outcome, "Succeeded", undone.message);
      assert.deepEqual(specOf(await read()), specOf(original), "the rollback puts it back as it was");
    });

  test("F47: a drain that is interrupted between two pods is not done, and its next start goes on with the others", async () => {
    await cluster.reset([...things, pod("web-1-b"), pod("web-1-c")]);
    const order = orderOf("drain_node", { node: "node-1", gracePeriodSeconds: 0 }, undefined);
    const as = await cluster.as("drain_node");
    const evictions: string[] = [];
    const dying: Client = {
      ...as,
      evict: (key, options) => {
        evictions.push(key.name);
        return evictions.length === 1 ? as.evict(key, options) : Promise.reject(new Error("the pod was killed"));
      },
    };
    const first = await carryOut(order, hands(dying));
    assert.equal(first.outcome, "Failed", first.message);
    const left = async (): Promise<number> =>
      (await cluster.admin.list(Pod, { fieldSelector: "spec.nodeName=node-1" })).items.length;
    assert.notEqual(await left(), 0);
    const second = await carryOut(order, hands(as));
    assert.equal(second.outcome, "Succeeded", second.message);
    assert.equal(await left(), 0);
    assert.equal((await carryOut(order, hands(as))).outcome, "AlreadyDone");
  });

  test("an object that took the target's name is left alone", async () => {
    await cluster.reset(things);
    const order = {
      ...orderOf("scale_deployment", { deployment: "web", ...shop, replicas: 0 }, undefined),
      targetUid: "x",
    };
    const result = await carryOut(order, hands(await cluster.as("scale_deployment")));
    assert.equal(result.outcome, "Refused");
    assert.match(result.message, /was replaced/);
  });

  test("S2: a ServiceAccount cannot do what another action needs and its own does not", async (context) => {
    await cluster.reset(things);
    let denied = 0;
    let shared = 0;
    for (const a of actions) {
      const own = new Set(operations(a));
      for (const b of actions) {
        if (a === b) continue;
        const foreign = operations(b).filter((operation) => !own.has(operation));
        if (foreign.length === 0) {
          shared++;
          continue;
        }
        for (const operation of foreign) {
          const [verb = "", resourceGroup = "", path = ""] = operation.split(" ");
          const [resource = "", subresource] = path.split("/");
          const { status } = await cluster.admin.create(SubjectAccessReview, {
            metadata: {},
            spec: {
              user: `system:serviceaccount:${jobNamespace}:${serviceAccountOf(a)}`,
              resourceAttributes: {
                ...shop,
                verb,
                group: resourceGroup,
                resource,
                ...(subresource && { subresource }),
              },
            },
          });
          assert.equal(status?.allowed, false, `${a} may ${operation}, which only ${b} needs`);
        }
        denied++;
      }
    }
    context.diagnostic(`${denied} pairs denied, ${shared} pairs need the same permissions`);
    const wildcards = actionRbacObjects().filter((object) => JSON.stringify(object).includes('"*"'));
    assert.equal(wildcards.length, 0);
  });

  test("S8: fuzzed parameters never reach anything but the declared target", async (context) => {
    await cluster.reset(things);
    const nasty = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom(
        "; rm -rf /",
        "$(id)",
        "--as=system:admin",
        "../../kube-system",
        "a/../b",
        "web?x=1",
        "web%2f..",
        "@/etc/passwd",
        "{.spec}",
        "web\n",
        "web\0",
        "ｗｅｂ",
        "we\u200bb",
        "web.",
        "WEB",
        "-web",
        "__proto__",
        "constructor",
      ),
    );
    let allowed = 0;
    const sent = new Set<string>();
    const spy: HttpHandler = (request) => {
      sent.add(`${request.method} ${request.target.split("?")[0]}`);
      return cluster.handler(request);
    };
    const client = createClient({ env, transport: spy });
    const runs = 10_000;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), nasty, nasty, async ({ action, parameters }, text, other) => {
        const fields = Object.keys(parameters);
        const field = fields[text.length % fields.length] ?? "";
        const fuzzed = { ...parameters, [field]: text, ...(other.length % 7 === 0 && { [other]: text }) };
        const checked = checkParameters({ action, parameters: { [actionMembers[action]]: fuzzed } });
        if (!checked.ok) return assert.ok(checked.problems.length > 0);
        allowed++;
        sent.clear();
        const target = actionDefinition(action).target(checked.parameters);
        await carryOut({ ...orderOf(action, checked.parameters, undefined), dryRun: true }, hands(client));
        const prefix = target.namespace === undefined ? "" : `/namespaces/${target.namespace}`;
        for (const request of sent) {
          const path = request.split(" ")[1] ?? "";
          const isTarget = path.endsWith(`${prefix}/${target.kind.plural}/${target.name}`);
          const isRelated = /\/(pods|replicasets|networkpolicies)$/.test(path) || path.endsWith("/eviction");
          assert.ok(isTarget || isRelated, `${action} with ${JSON.stringify(fuzzed)} sent ${request}`);
        }
      }),
      { numRuns: runs },
    );
    context.diagnostic(`${runs} fuzzed parameters, ${allowed} of them valid, none left its target`);
  });
});

describe("parameters", () => {
  const good = {
    action: "scale_deployment",
    parameters: { scaleDeployment: { deployment: "web", ...shop, replicas: 1 } },
  };
  const refusals: readonly (readonly [string, object, RegExp])[] = [
    ["an unknown action", { action: "format_disk" }, /spec.action: "format_disk" is not supported/],
    ["another cluster", { ...good, targetCluster: "b" }, /spec.targetCluster/],
    [
      "parameters of another action",
      { ...good, parameters: { drainNode: { node: "a" } } },
      /drainNode: does not belong/,
    ],
    ["a missing parameter", { action: "rollout_restart" }, /rolloutRestart.deployment/],
    ["a namespace that is a path", withNamespace("../kube-system"), /namespace: a lowercase RFC 1123 label/],
    ["too many replicas", withReplicas(1001), /replicas/],
    ["half a pod", withReplicas(0.5), /replicas/],
    ["a number as text", withReplicas("3"), /replicas/],
    [
      "an unknown field",
      { ...good, parameters: { scaleDeployment: { ...good.parameters.scaleDeployment, x: 1 } } },
      /x: unknown field/,
    ],
    ["two different namespaces", { ...good, targetNamespace: "other" }, /contradicts/],
    [
      "a patch of the owner",
      patchOf("merge", "metadata: { ownerReferences: [] }"),
      /metadata.ownerReferences may not be patched/,
    ],
    [
      "a JSON patch of the status",
      patchOf("json", '[{"op":"replace","path":"/status","value":{}}]'),
      /\/status may not be patched/,
    ],
    [
      "a manifest of a role",
      {
        action: "apply_manifest",
        parameters: {
          applyManifest: {
            manifest: '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"x"}}',
          },
        },
      },
      /cannot be applied/,
    ],
    [
      "a manifest without a namespace",
      {
        action: "apply_manifest",
        parameters: { applyManifest: { manifest: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}' } },
      },
      /metadata.namespace must be set/,
    ],
    [
      "two manifests",
      { action: "apply_manifest", parameters: { applyManifest: { manifest: `${manifest}\n---\n${manifest}` } } },
      /exactly one object/,
    ],
    [
      "a key given twice",
      { action: "apply_manifest", parameters: { applyManifest: { manifest: "kind: ConfigMap\nkind: Secret" } } },
      /twice/,
    ],
  ];
  for (const [name, request, message] of refusals)
    test(`${name} is refused`, () => {
      const checked = checkParameters(request as Parameters<typeof checkParameters>[0]);
      assert.equal(checked.ok, false);
      if (!checked.ok) assert.match(checked.problems.join("; "), message);
    });

  test("the target may stand beside the parameters, as in the specification's code", () => {
    const checked = checkParameters({ action: "rollout_restart", targetNamespace: "shop", resourceName: "web" });
    assert.deepEqual(checked, {
      ok: true,
      action: "rollout_restart",
      parameters: { deployment: "web", namespace: "shop" },
    });
  });

  test("a refused secret is not quoted", () => {
    const data = { password: "canary not base64!" };
    const checked = checkParameters({
      action: "update_secret",
      parameters: { updateSecret: { secret: "a", ...shop, data } },
    });
    assert.equal(checked.ok, false);
    assert.ok(!JSON.stringify(checked).includes("canary"));
  });
});

describe("names, orders and results", () => {
  test("H6: names of Jobs are valid and differ, at any length", () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/);
    fc.assert(
      fc.property(name, fc.uuid(), fc.uuid(), fc.constantFrom(...actions), (text, a, b, action) => {
        const job = jobNameOf({ name: text, uid: a }, action, false);
        assert.match(job, /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        assert.notEqual(job, jobNameOf({ name: text, uid: a }, action, true));
        if (a !== b) assert.notEqual(job, jobNameOf({ name: text, uid: b }, action, false));
      }),
    );
  });

  test("a result always fits into a termination message", () => {
    const affected = Array.from({ length: 500 }, (_, index) => ({
      kind: "Pod",
      name: `pod-${index}`,
      action: "evicted",
    }));
    const text = encodeResult({
      version: 1,
      token: "t",
      outcome: "Succeeded",
      message: "m".repeat(9000),
      affected,
      affectedCount: 500,
      warnings: ["ü".repeat(5000)],
    });
    assert.ok(Buffer.byteLength(text) <= 4096);
    const read = decodeResult(text);
    assert.ok(read.ok);
    assert.equal(read.value.affectedCount, 500);
  });

  test("H8: what is no result is not taken for one", () => {
    for (const text of [
      "",
      "deployment scaled",
      "[]",
      '{"version":2}',
      '{"version":1,"token":"t","outcome":"Great","message":"","affected":[],"warnings":[]}',
    ])
      assert.equal(decodeResult(text).ok, false);
    for (const text of ["", "{}", '{"version":1,"token":"t","action":"x"}']) assert.equal(decodeOrder(text).ok, false);
  });
});

function withNamespace(namespace: string): object {
  return { action: "rollout_restart", parameters: { rolloutRestart: { deployment: "web", namespace } } };
}
function withReplicas(replicas: unknown): object {
  return { action: "scale_deployment", parameters: { scaleDeployment: { deployment: "web", ...shop, replicas } } };
}
function patchOf(patchType: string, patch: string): object {
  return {
    action: "patch_deployment",
    parameters: { patchDeployment: { deployment: "web", ...shop, patchType, patch } },
  };
}

function thing(apiVersion: string, kind: string, metadata: Partial<KubeObject["metadata"]>, body: object): KubeObject {
  return { apiVersion, kind, metadata, ...body } as KubeObject;
}

/** `spec.template.0.x` of an object. */
function at(path: string): (object: Readonly<Record<string, never>>) => unknown {
  return (object) => path.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], object);
}

const hands = (client: Client) => ({ env, client, signal: new AbortController().signal });

const orderOf = (
  action: Action,
  parameters: Readonly<Record<string, unknown>>,
  object: KubeObject | undefined,
): Order => ({
  version: 1,
  token: "uid-1",
  execution: { namespace: "shop", name: "x", uid: "uid-1" },
  action,
  parameters,
  ...(object?.metadata.uid && action !== "update_secret" && { targetUid: object.metadata.uid }),
  startedAt: "2026-01-01T00:00:00Z",
  dryRun: false,
});

const operations = (action: Action): readonly string[] =>
  actionDefinition(action).permissions.flatMap(({ group, resource, verbs }) =>
    verbs.map((verb) => `${verb} ${group} ${resource}`),
  );

const withoutVersion = (object: KubeObject | undefined): unknown =>
  object && { ...object, metadata: { ...object.metadata, managedFields: undefined } };
const specOf = (object: KubeObject | undefined): unknown => {
  const { spec, data } = (object ?? {}) as { spec?: Record<string, unknown>; data?: unknown };
  const taints = (spec?.["taints"] as readonly { key: string }[] | undefined)?.toSorted((a, b) =>
    a.key < b.key ? -1 : 1,
  );
  return { spec: { unschedulable: false, ...spec, ...(taints && { taints }) }, data };
};

interface Cluster {
  readonly admin: Client;
  readonly handler: HttpHandler;
  as(action: Action): Promise<Client>;
  reset(objects: readonly KubeObject[]): Promise<void>;
  related(action: Action, parameters: object, object: KubeObject | undefined): Promise<readonly KubeObject[]>;
  addRevision(deployment: string, image: string, revision: number): Promise<void>;
  stop(): Promise<void>;
}

async function startCluster(): Promise<Cluster> {
  const tokens = [{ token: "admin", user: { name: "admin", groups: ["system:masters"] } }];
  const server = await createApiServer({ env, file: ":memory:", tokens });
  const signedIn =
    (token: string): HttpHandler =>
    (request) =>
      server.handle({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } });
  const handler = signedIn("admin");
  const admin = createClient({ env, transport: handler });
  const clients = new Map<Action, Client>();
  const kindOf = ({ apiVersion, kind }: KubeObject) => {
    const found = findKind(apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "", kind);
    assert.ok(found, kind);
    return found;
  };
  const put = async (object: KubeObject): Promise<void> => {
    await admin.create(kindOf(object), object).catch((error: { reason?: string }) => {
      if (error.reason !== "AlreadyExists") throw error;
    });
  };
  return {
    admin,
    handler,
    async as(action) {
      const known = clients.get(action);
      if (known) return known;
      const token = await admin.createToken({ namespace: jobNamespace, name: serviceAccountOf(action) });
      const client = createClient({ env, transport: signedIn(token) });
      clients.set(action, client);
      return client;
    },
    async reset(objects) {
      for (const object of objects.filter(({ kind }) => kind === "Namespace")) await put(object);
      for (const object of actionRbacObjects()) await put(object);
      const made = await admin.get(ConfigMap, { ...shop, name: "made" }).catch(() => undefined);
      if (made) await admin.delete(ConfigMap, { ...shop, name: "made" });
      for (const object of objects) {
        if (object.kind === "Namespace" || object.kind === "ServiceAccount") {
          await put(object);
          continue;
        }
        const { name, namespace } = object.metadata;
        await admin
          .delete(kindOf(object), { name, ...(namespace !== undefined && { namespace }) }, { gracePeriodSeconds: 0 })
          .catch(() => undefined);
        await put(object);
      }
    },
    async related(action, parameters, object) {
      const wanted = object && actionDefinition(action).related?.(parameters, object);
      if (!wanted) return [];
      const { kind, ...options } = wanted;
      return (await admin.list(kind, options)).items;
    },
    async addRevision(name, image, revision) {
      const deployment = await admin.get(findKind("apps", "Deployment") ?? Pod, { ...shop, name });
      const container = { ...template.spec.containers[0], image };
      const labelled = { app: "web", "pod-template-hash": String(revision) };
      await put(
        thing(
          "apps/v1",
          "ReplicaSet",
          {
            ...shop,
            name: `${name}-${revision}`,
            labels: labelled,
            annotations: { "deployment.kubernetes.io/revision": String(revision) },
            ownerReferences: [
              { apiVersion: "apps/v1", kind: "Deployment", name, uid: deployment.metadata.uid ?? "", controller: true },
            ],
          },
          {
            spec: {
              replicas: 0,
              selector: { matchLabels: labelled },
              template: { metadata: { labels: labelled }, spec: { containers: [container] } },
            },
          },
        ),
      );
    },
    stop: () => server.close(),
  };
}
