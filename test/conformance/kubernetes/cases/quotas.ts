import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, configMap, mergePatch, type Reply } from "../case.ts";

/** Zero of everything that is limited, as whoever counts would write it. */
const unused = (hard: object): object => Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]));

/** A quota that is enforced: whoever counts has written its status, and admission has noticed. */
async function quota(t: Context, name: string, hard: object, more: QuotaOptions = {}): Promise<string> {
  const path = await t.core("resourcequotas");
  const made = await t.create(path, { metadata: { name }, spec: { hard, ...more.spec } });
  const status = { hard, used: { ...unused(hard), ...more.used } };
  const written = await t.request("PUT", `${path}/${name}/status`, { ...made.object(), status });
  // Where a controller runs, it may have been quicker.
  assert.ok(written.status === 200 || written.status === 409, written.body);
  await t.get(`${path}/${name}`);
  return `${path}/${name}`;
}

interface QuotaOptions {
  readonly spec?: object;
  readonly used?: object;
}

/** Admission of a real server reads quotas and limits from a cache, so that it may take a moment until it knows them. */
const refused = (t: Context, path: string, body: object): Promise<Reply> =>
  t.eventually("a refusal", async () => {
    const reply = await t.request("POST", `${path}?dryRun=All`, body);
    return reply.status === 201 ? undefined : reply;
  });

async function pods(t: Context): Promise<string> {
  const accounts = await t.core("serviceaccounts");
  if ((await t.request("GET", `${accounts}/s`)).status === 404) await t.create(accounts, { metadata: { name: "s" } });
  return t.core("pods");
}

const container = (name: string, requests?: object, limits?: object): object => ({
  name,
  image: "x",
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
});

const pod = (name: string, containers: readonly object[] = [container("c")], spec: object = {}): object => ({
  metadata: { name },
  spec: { serviceAccountName: "s", containers, terminationGracePeriodSeconds: 0, ...spec },
});

const service = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { ports: [{ port: 80, name: "a" }], selector: { app: "x" }, ...spec },
});

const claim = (name: string, storage: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage } }, ...spec },
});

const used = async (t: Context, path: string): Promise<unknown> => (await t.get(path)).at("status.used");

/** What quotas count and refuse. */
export const quotaCases: readonly Case[] = [
  {
    name: "quotas: a new one has no status, and its status is written on its own path only",
    async run(t) {
      const path = await t.core("resourcequotas");
      const status = { hard: { pods: "1" }, used: { pods: "1" } };
      const made = await t.create(path, { metadata: { name: "q" }, spec: { hard: { pods: 1 } }, status });
      assert.deepEqual([made.at("spec.hard.pods"), made.at("status.used.pods")], ["1", undefined]);
      const written = await t.put(`${path}/q/status`, { ...made.object(), spec: { hard: { pods: 9 } }, status });
      assert.deepEqual([written.at("spec.hard.pods"), written.at("status.used.pods")], ["1", "1"]);
      const changed = await t.patch(`${path}/q`, mergePatch, { spec: { hard: { pods: 2 } }, status: { used: null } });
      assert.deepEqual([changed.at("spec.hard.pods"), changed.at("status.used.pods")], ["2", "1"]);
    },
  },
  {
    name: "quotas: whoever may view a namespace may see its quotas and limits, and not change them",
    // Somebody has to put the role together from its parts.
    needs: ["workload-controllers"],
    async run(t) {
      const namespace = await t.namespace();
      await t.create(await t.core("serviceaccounts"), { metadata: { name: "viewer" } });
      await t.create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name: "viewer" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
        subjects: [{ kind: "ServiceAccount", name: "viewer", namespace }],
      });
      const made = await t.create(`${await t.core("serviceaccounts")}/viewer/token`, { spec: {} });
      const token = made.text("status.token");
      for (const resource of ["resourcequotas", "limitranges"]) {
        const path = await t.core(resource);
        await t.eventually(`${resource} are seen`, async () => {
          const reply = await t.request("GET", path, undefined, { token });
          return reply.status === 200;
        });
        assertStatus(await t.request("POST", path, { metadata: { name: "x" } }, { token }), 403, "Forbidden");
      }
    },
  },
  {
    name: "quotas: kubectl get shows what is used of what may be, limits apart",
    async run(t) {
      const hard = { pods: "10", "requests.cpu": "2", "limits.memory": "1Gi" };
      await quota(t, "q", hard, { used: { pods: "3", "limits.memory": "128Mi" } });
      const table = await t.get(await t.core("resourcequotas"), { accept: asTable });
      const cells = table.list("rows")[0]?.at("cells") as readonly string[];
      assert.deepEqual(cells.slice(0, 3), ["q", "pods: 3/10, requests.cpu: 0/2", "limits.memory: 128Mi/1Gi"]);
    },
  },
  {
    name: "quotas: a delete answers the object",
    async run(t) {
      const path = await quota(t, "q", { pods: "1" });
      assert.equal((await t.remove(path)).at("kind"), "ResourceQuota");
    },
  },
  {
    name: "quotas: what is too much is refused with what was asked, used and allowed",
    async run(t) {
      await quota(t, "q", { pods: "2", "requests.cpu": "1" }, { used: { pods: "1", "requests.cpu": "600m" } });
      const path = await pods(t);
      const reply = await refused(t, path, pod("p", [container("c", { cpu: "500m" })]));
      const why = "exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1";
      assertStatus(reply, 403, "Forbidden", `pods "p" is forbidden: ${why}`);
      assert.deepEqual(reply.at("details"), { name: "p", kind: "pods" });
    },
  },
  {
    name: "quotas: everything that is exceeded is told, in the order of names",
    async run(t) {
      await quota(t, "q", { pods: "0", cpu: "1", "limits.memory": "1Gi" });
      const reply = await refused(
        t,
        await pods(t),
        pod("p", [
          container("a", { cpu: "700m" }, { memory: "1Gi" }),
          container("b", { cpu: "400m" }, { memory: "1Mi" }),
        ]),
      );
      const why =
        "exceeded quota: q, requested: cpu=1100m,limits.memory=1025Mi,pods=1, used: cpu=0,limits.memory=0,pods=0, limited: cpu=1,limits.memory=1Gi,pods=0";
      assertStatus(reply, 403, "Forbidden", `pods "p" is forbidden: ${why}`);
    },
  },
  {
    name: "quotas: under a quota of cpu or memory every container says what it needs",
    async run(t) {
      await quota(t, "q", { "limits.cpu": "1", "requests.memory": "1Gi" });
      const containers = [container("b", { memory: "1Mi" }), container("a", {}, { cpu: "1m" })];
      const initContainers = [container("i", { memory: "1Mi" })];
      const reply = await refused(t, await pods(t), pod("p", containers, { initContainers }));
      const why = "failed quota: q: must specify limits.cpu for: b,i; requests.memory for: a";
      assertStatus(reply, 403, "Forbidden", `pods "p" is forbidden: ${why}`);
    },
  },
  {
    name: "quotas: resources of the whole pod stand for those of its containers",
    async run(t) {
      const path = await quota(t, "q", { "limits.cpu": "2", "requests.cpu": "2" });
      const resources = { requests: { cpu: "1" }, limits: { cpu: "2" } };
      await t.create(await pods(t), pod("p", [container("c")], { resources }));
      assert.deepEqual(await used(t, path), { "limits.cpu": "2", "requests.cpu": "1" });
    },
  },
  {
    name: "quotas: one whose use nobody has counted lets nothing through",
    async run(t) {
      const path = await t.core("resourcequotas");
      const hard = { configmaps: "2", "count/configmaps": "3", secrets: "1" };
      const made = await t.create(path, { metadata: { name: "q" }, spec: { hard } });
      await t.put(`${path}/q/status`, { ...made.object(), status: { hard, used: { secrets: "0" } } });
      const reply = await refused(t, await t.core("configmaps"), configMap("c"));
      const why = "status unknown for quota: q, resources: configmaps,count/configmaps";
      assertStatus(reply, 403, "Forbidden", `configmaps "c" is forbidden: ${why}`);
      await t.create(await t.core("secrets"), { metadata: { name: "s" } });
    },
  },
  {
    name: "quotas: what is used grows with each object and not with a dry run or a refusal",
    async run(t) {
      const path = await quota(t, "q", { configmaps: "2", "count/configmaps": "5" });
      const maps = await t.core("configmaps");
      await t.create(maps, configMap("a"));
      await t.create(`${maps}?dryRun=All`, configMap("b"));
      await t.put(`${maps}/a`, configMap("a", { x: "1" }));
      assert.deepEqual(await used(t, path), { configmaps: "1", "count/configmaps": "1" });
      await t.create(maps, configMap("b"));
      const reply = await t.request("POST", maps, configMap("c"));
      const why = "exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2";
      assertStatus(reply, 403, "Forbidden", `configmaps "c" is forbidden: ${why}`);
      assert.deepEqual(await used(t, path), { configmaps: "2", "count/configmaps": "2" });
      const charged = (await t.get(path))
        .list("metadata.managedFields")
        .find((entry) => entry.at("manager") === "kube-apiserver");
      assert.deepEqual([charged?.at("operation"), charged?.at("subresource")], ["Update", "status"]);
    },
  },
  {
    name: "quotas: many at once get exactly what is left",
    async run(t) {
      const path = await quota(t, "q", { "count/secrets": "7" });
      const secrets = await t.core("secrets");
      const names = Array.from({ length: 24 }, (_, index) => `s${index}`);
      const replies = await Promise.all(names.map((name) => t.request("POST", secrets, { metadata: { name } })));
      const codes = replies.map(({ status }) => status);
      assert.deepEqual(
        [codes.filter((code) => code === 201).length, codes.filter((code) => code === 403).length],
        [7, 17],
      );
      assert.deepEqual(await used(t, path), { "count/secrets": "7" });
      assert.equal((await t.get(secrets)).list("items").length, 7);
    },
  },
  {
    name: "quotas: an object that is there already is not charged twice",
    needs: ["embedded"],
    async run(t) {
      const path = await quota(t, "q", { configmaps: "5" });
      const maps = await t.core("configmaps");
      await t.create(maps, configMap("a"));
      assertStatus(await t.request("POST", maps, configMap("a")), 409, "AlreadyExists");
      assert.deepEqual(await used(t, path), { configmaps: "1" });
    },
  },
  {
    name: "quotas: all of a namespace count, and other namespaces do not",
    async run(t) {
      const wide = await quota(t, "wide", { configmaps: "5" });
      const narrow = await quota(t, "narrow", { "count/configmaps": "1", secrets: "1" });
      const maps = await t.core("configmaps");
      await t.create(maps, configMap("a"));
      assert.deepEqual(await used(t, wide), { configmaps: "1" });
      assert.deepEqual(await used(t, narrow), { "count/configmaps": "1", secrets: "0" });
      const reply = await t.request("POST", maps, configMap("b"));
      assertStatus(reply, 403, "Forbidden", /exceeded quota: narrow, requested: count\/configmaps=1/);
      assert.deepEqual(await used(t, wide), { configmaps: "1" }, "a refusal charges nobody");
      const other = `${t.id}-other`;
      await t.create("/api/v1/namespaces", { metadata: { name: other } });
      t.onCleanUp(() => t.request("DELETE", `/api/v1/namespaces/${other}`));
      await t.create(`/api/v1/namespaces/${other}/configmaps`, configMap("b"));
    },
  },
  {
    name: "quotas: the scopes say which pods are counted",
    async run(t) {
      const path = await pods(t);
      const scoped = (name: string, scope: string) => quota(t, name, { pods: "3" }, { spec: { scopes: [scope] } });
      const [bestEffort, rest, short, long] = [
        await scoped("best-effort", "BestEffort"),
        await scoped("not-best-effort", "NotBestEffort"),
        await scoped("terminating", "Terminating"),
        await scoped("not-terminating", "NotTerminating"),
      ];
      await t.create(path, pod("a"));
      await t.create(path, pod("b", [container("c", { cpu: "1m" })]));
      await t.create(path, pod("c", [container("c", { memory: "1Mi" })], { activeDeadlineSeconds: 9 }));
      const counts = await Promise.all([bestEffort, rest, short, long].map((each) => used(t, each)));
      assert.deepEqual(counts, [{ pods: "1" }, { pods: "2" }, { pods: "1" }, { pods: "2" }]);
      await t.patch(`${path}/b`, mergePatch, { spec: { activeDeadlineSeconds: 9 } });
      assert.deepEqual(await used(t, short), { pods: "2" }, "a deadline that comes later moves the pod");
    },
  },
  {
    name: "quotas: a selector of scopes counts pods of some priorities",
    async run(t) {
      const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
      const name = `p-${t.id}`;
      await t.create(classes, { metadata: { name }, value: 10 });
      t.onCleanUp(() => t.request("DELETE", `${classes}/${name}`));
      const selected = (operator: string, values?: readonly string[]): QuotaOptions => ({
        spec: {
          scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator, ...(values && { values }) }] },
        },
      });
      const [inside, outside, any, none] = [
        await quota(t, "in", { pods: "1" }, selected("In", [name])),
        await quota(t, "not-in", { pods: "5" }, selected("NotIn", [name])),
        await quota(t, "exists", { pods: "5" }, selected("Exists")),
        await quota(t, "does-not-exist", { pods: "5" }, selected("DoesNotExist")),
      ];
      const path = await pods(t);
      const important = { priorityClassName: name };
      await t.eventually("the class is known", async () => {
        const reply = await t.request("POST", `${path}?dryRun=All`, pod("a", undefined, important));
        return reply.status === 201;
      });
      await t.create(path, pod("a", undefined, important));
      await t.create(path, pod("b"));
      const counts = await Promise.all([inside, outside, any, none].map((each) => used(t, each)));
      assert.deepEqual(counts, [{ pods: "1" }, { pods: "1" }, { pods: "1" }, { pods: "1" }]);
      assertStatus(
        await t.request("POST", path, pod("c", undefined, important)),
        403,
        "Forbidden",
        'pods "c" is forbidden: exceeded quota: in, requested: pods=1, used: pods=1, limited: pods=1',
      );
    },
  },
  {
    name: "quotas: init containers count where they need more than the others, sidecars always",
    async run(t) {
      const path = await quota(t, "q", { "requests.cpu": "10", "limits.ephemeral-storage": "10Gi" });
      const initContainers = [
        { ...container("side", { cpu: "1" }), restartPolicy: "Always" },
        container("init", { cpu: "3" }, { "ephemeral-storage": "2Gi" }),
      ];
      const containers = [
        container("a", { cpu: "1" }),
        container("b", { cpu: "500m" }, { "ephemeral-storage": "1Gi" }),
      ];
      await t.create(await pods(t), pod("p", containers, { initContainers }));
      assert.deepEqual(await used(t, path), { "limits.ephemeral-storage": "2Gi", "requests.cpu": "4" });
    },
  },
  {
    name: "quotas: vendors' resources are counted by what is requested of them",
    async run(t) {
      const path = await quota(t, "q", { "requests.example.com/gpu": "3" });
      const gpu = { "example.com/gpu": "2" };
      const all = await pods(t);
      await t.create(all, pod("p", [container("c", gpu, gpu)]));
      assert.deepEqual(await used(t, path), { "requests.example.com/gpu": "2" });
      const reply = await t.request("POST", all, pod("o", [container("c", gpu, gpu)]));
      assertStatus(reply, 403, "Forbidden", /exceeded quota: q, requested: requests.example.com\/gpu=2, used/);
    },
  },
  {
    name: "quotas: services count with their node ports and load balancers, also when their type changes",
    async run(t) {
      const hard = { services: "5", "services.nodeports": "3", "services.loadbalancers": "1" };
      const path = await quota(t, "q", hard);
      const all = await t.core("services");
      const ports = [
        { port: 80, name: "a" },
        { port: 81, name: "b" },
      ];
      await t.create(all, service("plain"));
      await t.create(all, service("lb", { type: "LoadBalancer", ports }));
      assert.deepEqual(await used(t, path), {
        services: "2",
        "services.loadbalancers": "1",
        "services.nodeports": "2",
      });
      const reply = await t.request("POST", all, service("np", { type: "NodePort", ports }));
      const why =
        "exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=3";
      assertStatus(reply, 403, "Forbidden", `services "np" is forbidden: ${why}`);
      await t.patch(`${all}/plain`, mergePatch, { spec: { type: "NodePort" } });
      assert.deepEqual(await used(t, path), {
        services: "2",
        "services.loadbalancers": "1",
        "services.nodeports": "3",
      });
      const balanced = await t.patch(`${all}/plain`, mergePatch, { spec: { type: "LoadBalancer" } }, 403);
      assertStatus(balanced, 403, "Forbidden", /exceeded quota: q, requested: services.loadbalancers=1, used/);
    },
  },
  {
    name: "quotas: claims count with their storage, altogether and by class",
    async run(t) {
      const gold = "gold.storageclass.storage.k8s.io";
      const hard = {
        persistentvolumeclaims: "5",
        "requests.storage": "10Gi",
        [`${gold}/requests.storage`]: "2Gi",
        [`${gold}/persistentvolumeclaims`]: "2",
      };
      const path = await quota(t, "q", hard);
      const all = await t.core("persistentvolumeclaims");
      await t.create(all, claim("a", "1Gi"));
      await t.create(all, claim("b", "1536Mi", { storageClassName: "gold" }));
      assert.deepEqual(await used(t, path), {
        [`${gold}/persistentvolumeclaims`]: "1",
        [`${gold}/requests.storage`]: "1536Mi",
        persistentvolumeclaims: "2",
        "requests.storage": "2560Mi",
      });
      const reply = await t.request("POST", all, claim("c", "1Gi", { storageClassName: "gold" }));
      const names = `${gold}/requests.storage`;
      const why = `exceeded quota: q, requested: ${names}=1Gi, used: ${names}=1536Mi, limited: ${names}=2Gi`;
      assertStatus(reply, 403, "Forbidden", `persistentvolumeclaims "c" is forbidden: ${why}`);
    },
  },
  {
    name: "quotas: every kind can be counted, workloads and custom ones too",
    async run(t) {
      const group = `q${t.id.replace(/[^a-z0-9]/g, "")}.example.com`;
      const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const schema = { openAPIV3Schema: { type: "object" } };
      await t.create(definitions, {
        metadata: { name: `things.${group}` },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "things", kind: "Thing" },
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      });
      t.onCleanUp(() => t.request("DELETE", `${definitions}/things.${group}`));
      const thing = (name: string) => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name } });
      const things = await t.group(`${group}/v1`, "things");
      await t.eventually("the kind is served", async () => (await t.request("GET", things)).status === 200);
      const path = await quota(t, "q", { [`count/things.${group}`]: "1", "count/deployments.apps": "1" });
      await t.eventually("it can be created", async () => (await t.request("POST", things, thing("a"))).status === 201);
      assert.deepEqual(await used(t, path), { "count/deployments.apps": "0", [`count/things.${group}`]: "1" });
      const reply = await t.request("POST", things, thing("b"));
      const name = `count/things.${group}`;
      const why = `exceeded quota: q, requested: ${name}=1, used: ${name}=1, limited: ${name}=1`;
      assertStatus(reply, 403, "Forbidden", `things.${group} "b" is forbidden: ${why}`);
    },
  },
  {
    name: "quotas: what pods use is counted, falls when they end or go, and follows a new spec",
    needs: ["workload-controllers"],
    async run(t) {
      const path = await t.core("resourcequotas");
      const all = await pods(t);
      await t.create(all, pod("before", [container("c", { cpu: "100m" })]));
      await t.create(path, { metadata: { name: "q" }, spec: { hard: { pods: "2", "requests.cpu": "1" } } });
      const reaches = (wanted: object) =>
        t.eventually(JSON.stringify(wanted), async () => {
          const is = (await t.get(`${path}/q`)).at("status.used");
          return JSON.stringify(is) === JSON.stringify(wanted);
        });
      await reaches({ pods: "1", "requests.cpu": "100m" });
      await t.create(all, pod("after", [container("c", { cpu: "200m" })]));
      await reaches({ pods: "2", "requests.cpu": "300m" });
      assertStatus(await t.request("POST", all, pod("more", [container("c", { cpu: "1m" })])), 403, "Forbidden");
      await t.remove(`${all}/before?gracePeriodSeconds=0`);
      await reaches({ pods: "1", "requests.cpu": "200m" });
      await t.patch(`${path}/q`, mergePatch, { spec: { hard: { pods: "5", "requests.cpu": null, configmaps: "9" } } });
      await t.eventually("another spec", async () => {
        const status = (await t.get(`${path}/q`)).object("status");
        // The namespace has the certificate of its server in it.
        const wanted = { hard: { configmaps: "9", pods: "5" }, used: { configmaps: "1", pods: "1" } };
        return JSON.stringify(status) === JSON.stringify(wanted);
      });
    },
  },
  {
    name: "quotas: a set of pods says that a quota stops it, and goes on when the quota is gone",
    needs: ["workload-controllers"],
    async run(t) {
      const path = await t.core("resourcequotas");
      await t.create(path, { metadata: { name: "q" }, spec: { hard: { pods: "1" } } });
      await t.eventually("counted", async () => (await t.get(`${path}/q`)).at("status.used.pods") === "0");
      const sets = await t.group("apps/v1", "deployments");
      const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "x" }] } };
      const spec = { replicas: 2, selector: { matchLabels: { app: "x" } }, template };
      await t.create(sets, { metadata: { name: "d" }, spec });
      await t.eventually("a condition of the failure", async () => {
        const conditions = (await t.get(`${sets}/d`)).list("status.conditions");
        const failure = conditions.find((one) => one.at("type") === "ReplicaFailure");
        return failure?.text("message").includes("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1");
      });
      await t.remove(`${path}/q`);
      await t.eventually("both", async () => (await t.get(`${sets}/d`)).at("status.availableReplicas") === 2, 30_000);
    },
  },
];
