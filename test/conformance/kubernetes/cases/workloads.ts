import assert from "node:assert/strict";
import { type Case, type Context, configMap, type Json, mergePatch } from "../case.ts";

const patienceMs = 30_000;
const selector = { matchLabels: { app: "x" } };
const containers = [{ name: "c", image: "registry.example/x:1" }];
/** No node has this label, so nobody but the case writes the pods' statuses. */
const nowhere = { nodeSelector: { "conformance.example/nowhere": "true" } };
const template = (spec: object = nowhere) => ({ metadata: { labels: { app: "x" } }, spec: { containers, ...spec } });
const onceTemplate = { spec: { containers, restartPolicy: "Never", ...nowhere } };

const ofApps = (t: Context, plural: string): Promise<string> => t.group("apps/v1", plural);

async function listed(t: Context, path: string, count: number): Promise<readonly Json[]> {
  return t.eventually(
    `${count} of ${path}`,
    async () => {
      const items = (await t.get(path)).list("items").filter((item) => !item.at("metadata.deletionTimestamp"));
      return items.length === count && items;
    },
    patienceMs,
  );
}

const gone = (t: Context, path: string): Promise<unknown> =>
  t.eventually(`${path} is gone`, async () => (await t.request("GET", path)).status === 404, patienceMs);

const until = (t: Context, path: string, holds: (object: Json) => boolean, what: string): Promise<Json> =>
  t.eventually(
    what,
    async () => {
      const object = await t.get(path);
      return holds(object) && object;
    },
    patienceMs,
  );

const conditionOf = (object: Json, type: string): Json | undefined =>
  object.list("status.conditions").find((condition) => condition.at("type") === type);

const isTrue = (object: Json, type: string): boolean => conditionOf(object, type)?.at("status") === "True";

const ownerOf = (object: Json): readonly unknown[] => [
  object.at("metadata.ownerReferences[0].kind"),
  object.at("metadata.ownerReferences[0].name"),
  object.at("metadata.ownerReferences[0].controller"),
];

async function setPhase(t: Context, pod: Json, phase: string): Promise<void> {
  await t.patch(`${await t.core("pods")}/${pod.text("metadata.name")}/status`, mergePatch, { status: { phase } });
}

async function deployment(t: Context, name: string, spec: object = {}): Promise<string> {
  const path = await ofApps(t, "deployments");
  await t.create(path, { metadata: { name }, spec: { replicas: 2, selector, template: template(), ...spec } });
  return `${path}/${name}`;
}

async function job(t: Context, name: string, spec: object = {}): Promise<string> {
  const path = await t.group("batch/v1", "jobs");
  await t.create(path, { metadata: { name }, spec: { template: onceTemplate, ...spec } });
  return `${path}/${name}`;
}

const revision = "metadata.annotations[deployment.kubernetes.io/revision]";
const index = "batch.kubernetes.io/job-completion-index";

const cases: readonly Omit<Case, "needs">[] = [
  {
    name: "deployment: makes a ReplicaSet of its own with the hash of its template",
    async run(t) {
      await deployment(t, "web");
      const [set] = await listed(t, await ofApps(t, "replicasets"), 1);
      const hash = set?.text("metadata.labels.pod-template-hash");
      assert.equal(set?.at("metadata.name"), `web-${hash}`);
      assert.deepEqual(set && ownerOf(set), ["Deployment", "web", true]);
      assert.equal(set?.at(revision), "1");
      assert.equal(set?.at("spec.selector.matchLabels.pod-template-hash"), hash);
    },
  },
  {
    name: "deployment: its pods carry the template's labels and the name of their ReplicaSet",
    async run(t) {
      await deployment(t, "web");
      const [set] = await listed(t, await ofApps(t, "replicasets"), 1);
      const pods = await listed(t, await t.core("pods"), 2);
      for (const pod of pods) {
        assert.deepEqual(ownerOf(pod), ["ReplicaSet", set?.at("metadata.name"), true]);
        assert.match(pod.text("metadata.name"), new RegExp(`^${set?.text("metadata.name")}-[a-z0-9]{5}$`));
        assert.equal(pod.at("metadata.labels.app"), "x");
      }
    },
  },
  {
    name: "deployment: another template makes another revision, the former one makes the newest",
    async run(t) {
      const path = await deployment(t, "web");
      const sets = await ofApps(t, "replicasets");
      await listed(t, sets, 1);
      const image = (tag: string) => ({
        spec: { template: { spec: { containers: [{ name: "c", image: `registry.example/x:${tag}` }] } } },
      });
      await t.patch(path, mergePatch, image("2"));
      const two = await listed(t, sets, 2);
      assert.deepEqual(two.map((set) => set.at(revision)).sort(), ["1", "2"]);
      await t.patch(path, mergePatch, image("1"));
      await until(t, path, (found) => found.at(revision) === "3", "the deployment has revision 3");
      const again = await listed(t, sets, 2);
      assert.deepEqual(again.map((set) => set.at(revision)).sort(), ["2", "3"]);
    },
  },
  {
    name: "deployment: while it is paused, another template makes nothing",
    async run(t) {
      const path = await deployment(t, "web", { paused: true });
      const seen = await until(
        t,
        path,
        (found) => found.at("status.observedGeneration") === 1,
        "the deployment is observed",
      );
      assert.equal(seen.list("status.conditions").length >= 0, true);
      await t.patch(path, mergePatch, { spec: { template: { metadata: { labels: { extra: "y" } } } } });
      await until(t, path, (found) => found.at("status.observedGeneration") === 2, "the change is observed");
      assert.equal((await t.get(await ofApps(t, "replicasets"))).list("items").length, 0);
      await t.patch(path, mergePatch, { spec: { paused: false } });
      await listed(t, await ofApps(t, "replicasets"), 1);
    },
  },
  {
    name: "deployment: follows its scale",
    async run(t) {
      const path = await deployment(t, "web");
      await listed(t, await t.core("pods"), 2);
      await t.patch(`${path}/scale`, mergePatch, { spec: { replicas: 1 } });
      await listed(t, await t.core("pods"), 1);
    },
  },
  {
    name: "replica set: adopts pods that it selects, and lets go what it no longer does",
    async run(t) {
      const pods = await t.core("pods");
      await t.eventually("the account of pods", async () => {
        const made = await t.request("POST", pods, {
          metadata: { name: "orphan", labels: { app: "x" } },
          spec: template().spec,
        });
        return made.status === 201;
      });
      await t.create(await ofApps(t, "replicasets"), {
        metadata: { name: "set" },
        spec: { replicas: 1, selector, template: template() },
      });
      await until(t, `${pods}/orphan`, (pod) => ownerOf(pod)[1] === "set", "the pod is adopted");
      await t.patch(`${pods}/orphan`, mergePatch, { metadata: { labels: { app: "y" } } });
      await until(t, `${pods}/orphan`, (pod) => pod.list("metadata.ownerReferences").length === 0, "the pod is let go");
      await listed(t, `${pods}?labelSelector=app%3Dx`, 1);
    },
  },
  {
    name: "replication controller: keeps as many pods as it wants",
    async run(t) {
      const path = await t.core("replicationcontrollers");
      await t.create(path, { metadata: { name: "old" }, spec: { replicas: 2, template: template() } });
      const pods = await listed(t, await t.core("pods"), 2);
      for (const pod of pods) assert.deepEqual(ownerOf(pod), ["ReplicationController", "old", true]);
    },
  },
  {
    name: "stateful set: begins with its first pod and the claim of it",
    async run(t) {
      await t.create(await ofApps(t, "statefulsets"), {
        metadata: { name: "db" },
        spec: {
          replicas: 2,
          serviceName: "db",
          selector,
          template: template(),
          volumeClaimTemplates: [
            {
              metadata: { name: "data" },
              spec: {
                accessModes: ["ReadWriteOnce"],
                storageClassName: "conformance-none",
                resources: { requests: { storage: "1Gi" } },
              },
            },
          ],
        },
      });
      const [first] = await listed(t, await t.core("pods"), 1);
      assert.equal(first?.at("metadata.name"), "db-0");
      assert.equal(first?.at("metadata.labels[apps.kubernetes.io/pod-index]"), "0");
      assert.equal(first?.at("metadata.labels[statefulset.kubernetes.io/pod-name]"), "db-0");
      assert.deepEqual([first?.at("spec.hostname"), first?.at("spec.subdomain")], ["db-0", "db"]);
      const [claim] = await listed(t, await t.core("persistentvolumeclaims"), 1);
      assert.equal(claim?.at("metadata.name"), "data-db-0");
    },
  },
  {
    name: "stateful set: Parallel makes all its pods at once",
    async run(t) {
      await t.create(await ofApps(t, "statefulsets"), {
        metadata: { name: "db" },
        spec: { replicas: 3, podManagementPolicy: "Parallel", serviceName: "db", selector, template: template() },
      });
      const pods = await listed(t, await t.core("pods"), 3);
      assert.deepEqual(pods.map((pod) => pod.text("metadata.name")).sort(), ["db-0", "db-1", "db-2"]);
    },
  },
  {
    name: "stateful set: keeps a ControllerRevision of its template",
    async run(t) {
      const path = await ofApps(t, "statefulsets");
      await t.create(path, { metadata: { name: "db" }, spec: { serviceName: "db", selector, template: template() } });
      const [kept] = await listed(t, await ofApps(t, "controllerrevisions"), 1);
      const set = await until(t, `${path}/db`, (found) => Boolean(found.at("status.updateRevision")), "its revision");
      assert.equal(kept?.at("metadata.name"), set.at("status.updateRevision"));
      assert.deepEqual(kept && ownerOf(kept), ["StatefulSet", "db", true]);
    },
  },
  {
    name: "daemon set: wants a pod on no node when none fits",
    async run(t) {
      const path = await ofApps(t, "daemonsets");
      await t.create(path, { metadata: { name: "agent" }, spec: { selector, template: template() } });
      const set = await until(t, `${path}/agent`, (found) => found.at("status.observedGeneration") === 1, "observed");
      assert.equal(set.at("status.desiredNumberScheduled"), 0);
    },
  },
  {
    name: "job: its pods wait to be counted and carry its labels",
    async run(t) {
      const path = await job(t, "sum");
      const uid = (await t.get(path)).at("metadata.uid");
      const [pod] = await listed(t, await t.core("pods"), 1);
      assert.deepEqual(pod?.at("metadata.finalizers"), ["batch.kubernetes.io/job-tracking"]);
      assert.equal(pod?.at("metadata.labels[batch.kubernetes.io/job-name]"), "sum");
      assert.equal(pod?.at("metadata.labels[batch.kubernetes.io/controller-uid]"), uid);
      assert.deepEqual(pod && ownerOf(pod), ["Job", "sum", true]);
    },
  },
  {
    name: "job: is complete when its pod has succeeded",
    async run(t) {
      const path = await job(t, "sum");
      const [pod] = await listed(t, await t.core("pods"), 1);
      if (pod) await setPhase(t, pod, "Succeeded");
      const ended = await until(t, path, (found) => isTrue(found, "Complete"), "the job is complete");
      assert.deepEqual([ended.at("status.succeeded"), ended.at("status.active")], [1, undefined]);
      assert.equal(conditionOf(ended, "Complete")?.at("reason"), "CompletionsReached");
      assert.ok(isTrue(ended, "SuccessCriteriaMet") && ended.at("status.completionTime"));
      const left = await t.get(`${await t.core("pods")}/${pod?.text("metadata.name")}`);
      assert.equal(left.at("metadata.finalizers"), undefined);
    },
  },
  {
    name: "job: has failed when its pods fail more often than allowed",
    async run(t) {
      const path = await job(t, "bad", { backoffLimit: 0 });
      const [pod] = await listed(t, await t.core("pods"), 1);
      if (pod) await setPhase(t, pod, "Failed");
      const ended = await until(t, path, (found) => isTrue(found, "Failed"), "the job has failed");
      assert.equal(ended.at("status.failed"), 1);
      const { reason, message } = conditionOf(ended, "Failed")?.object() ?? {};
      assert.deepEqual([reason, message], ["BackoffLimitExceeded", "Job has reached the specified backoff limit"]);
    },
  },
  {
    name: "job: is over at its deadline",
    async run(t) {
      const path = await job(t, "slow", { activeDeadlineSeconds: 1 });
      const ended = await until(t, path, (found) => isTrue(found, "Failed"), "the job has failed");
      assert.equal(conditionOf(ended, "Failed")?.at("reason"), "DeadlineExceeded");
    },
  },
  {
    name: "job: suspended makes no pods, resumed it does",
    async run(t) {
      const path = await job(t, "later", { suspend: true });
      const waiting = await until(t, path, (found) => isTrue(found, "Suspended"), "the job is suspended");
      assert.equal(waiting.at("status.startTime"), undefined);
      assert.equal((await t.get(await t.core("pods"))).list("items").length, 0);
      await t.patch(path, mergePatch, { spec: { suspend: false } });
      await listed(t, await t.core("pods"), 1);
    },
  },
  {
    name: "job: indexed pods are told their index",
    async run(t) {
      await job(t, "parts", { completionMode: "Indexed", completions: 2, parallelism: 2 });
      const pods = await listed(t, await t.core("pods"), 2);
      assert.deepEqual(pods.map((pod) => pod.at(`metadata.annotations[${index}]`)).sort(), ["0", "1"]);
      for (const pod of pods) {
        assert.match(pod.text("metadata.name"), /^parts-[01]-[a-z0-9]{5}$/);
        assert.equal(pod.at("spec.containers[0].env[0].name"), "JOB_COMPLETION_INDEX");
      }
    },
  },
  {
    name: "job: an index without tries left is given up, the others go on",
    async run(t) {
      const path = await job(t, "parts", {
        completionMode: "Indexed",
        completions: 2,
        parallelism: 2,
        backoffLimitPerIndex: 0,
      });
      const pods = await listed(t, await t.core("pods"), 2);
      for (const pod of pods) {
        await setPhase(t, pod, pod.at(`metadata.annotations[${index}]`) === "0" ? "Failed" : "Succeeded");
      }
      const ended = await until(t, path, (found) => isTrue(found, "Failed"), "the job has failed");
      assert.equal(conditionOf(ended, "Failed")?.at("reason"), "FailedIndexes");
      assert.deepEqual([ended.at("status.failedIndexes"), ended.at("status.completedIndexes")], ["0", "1"]);
    },
  },
  {
    name: "job: a success policy decides",
    async run(t) {
      const path = await job(t, "parts", {
        completionMode: "Indexed",
        completions: 3,
        parallelism: 3,
        successPolicy: { rules: [{ succeededIndexes: "2" }] },
      });
      const pods = await listed(t, await t.core("pods"), 3);
      const chosen = pods.find((pod) => pod.at(`metadata.annotations[${index}]`) === "2");
      if (chosen) await setPhase(t, chosen, "Succeeded");
      const ended = await until(t, path, (found) => isTrue(found, "SuccessCriteriaMet"), "the job has succeeded");
      assert.equal(conditionOf(ended, "SuccessCriteriaMet")?.at("reason"), "SuccessPolicy");
    },
  },
  {
    name: "job: goes by itself when its time after the end is over",
    async run(t) {
      const path = await job(t, "brief", { ttlSecondsAfterFinished: 0 });
      const [pod] = await listed(t, await t.core("pods"), 1);
      if (pod) await setPhase(t, pod, "Succeeded");
      await gone(t, path);
    },
  },
  {
    name: "endpoints: follow the pods of a service and their readiness",
    async run(t) {
      const pods = await t.core("pods");
      await t.create(await t.core("services"), {
        metadata: { name: "web" },
        spec: { selector: { app: "x" }, ports: [{ port: 80 }] },
      });
      await t.eventually("the account of pods", async () => {
        const made = await t.request("POST", pods, {
          metadata: { name: "p", labels: { app: "x" } },
          spec: template().spec,
        });
        return made.status === 201;
      });
      const ready = (status: string) => ({
        status: {
          phase: "Running",
          podIP: "10.9.8.7",
          podIPs: [{ ip: "10.9.8.7" }],
          conditions: [{ type: "Ready", status }],
        },
      });
      const slices = `${await t.group("discovery.k8s.io/v1", "endpointslices")}?labelSelector=kubernetes.io/service-name%3Dweb`;
      const shown = (isReady: boolean): Promise<unknown> =>
        t.eventually(
          `the endpoint is ${isReady ? "" : "not "}ready`,
          async () => {
            const [endpoint] = (await t.get(slices)).list("items").flatMap((slice) => slice.list("endpoints"));
            return endpoint?.at("addresses[0]") === "10.9.8.7" && endpoint.at("conditions.ready") === isReady;
          },
          patienceMs,
        );
      await t.patch(`${pods}/p/status`, mergePatch, ready("True"));
      await shown(true);
      await t.patch(`${pods}/p/status`, mergePatch, ready("False"));
      await shown(false);
    },
  },
  {
    name: "disruption budget: counts the pods that it protects",
    async run(t) {
      const budgets = await t.group("policy/v1", "poddisruptionbudgets");
      await t.create(await ofApps(t, "replicasets"), {
        metadata: { name: "set" },
        spec: { replicas: 2, selector, template: template() },
      });
      for (const pod of await listed(t, await t.core("pods"), 2)) {
        await t.patch(`${await t.core("pods")}/${pod.text("metadata.name")}/status`, mergePatch, {
          status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
        });
      }
      await t.create(budgets, { metadata: { name: "b" }, spec: { maxUnavailable: 1, selector } });
      const { status } = (
        await until(t, `${budgets}/b`, (found) => found.at("status.currentHealthy") === 2, "two healthy pods")
      ).object() as { status: Record<string, unknown> };
      assert.deepEqual([status["desiredHealthy"], status["expectedPods"], status["disruptionsAllowed"]], [1, 2, 1]);
    },
  },
  {
    name: "owners: in the background the owner goes first and everything under it follows",
    async run(t) {
      const path = await deployment(t, "web");
      await listed(t, await t.core("pods"), 2);
      await t.remove(path, { propagationPolicy: "Background" });
      await gone(t, path);
      await listed(t, await ofApps(t, "replicasets"), 0);
      await listed(t, await t.core("pods"), 0);
    },
  },
  {
    name: "owners: in the foreground the owner waits for those that hold it",
    async run(t) {
      const path = await t.core("configmaps");
      const owner = await t.create(path, configMap("owner"));
      const reference = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "owner",
        uid: owner.at("metadata.uid"),
        blockOwnerDeletion: true,
      };
      const finalizers = ["conformance.example/hold"];
      await t.create(path, configMap("child", {}, { ownerReferences: [reference], finalizers }));
      await t.remove(`${path}/owner`, { propagationPolicy: "Foreground" });
      await until(t, `${path}/child`, (child) => Boolean(child.at("metadata.deletionTimestamp")), "the child is going");
      assert.deepEqual((await t.get(`${path}/owner`)).at("metadata.finalizers"), ["foregroundDeletion"]);
      await t.patch(`${path}/child`, mergePatch, { metadata: { finalizers: null } });
      await gone(t, `${path}/owner`);
    },
  },
  {
    name: "owners: orphans stay and forget their owner",
    async run(t) {
      const path = await deployment(t, "web");
      await listed(t, await t.core("pods"), 2);
      await t.remove(path, { propagationPolicy: "Orphan" });
      await gone(t, path);
      const [set] = await listed(t, await ofApps(t, "replicasets"), 1);
      assert.equal(set?.at("metadata.ownerReferences"), undefined);
      await listed(t, await t.core("pods"), 2);
    },
  },
  {
    name: "namespace: gets an account and the authority's certificate, and gets them again",
    async run(t) {
      const accounts = await t.core("serviceaccounts");
      const first = await t.eventually("the account", async () => {
        const found = await t.request("GET", `${accounts}/default`);
        return found.status === 200 && found.text("metadata.uid");
      });
      const certificate = `${await t.core("configmaps")}/kube-root-ca.crt`;
      await t.eventually("the certificate", async () => (await t.request("GET", certificate)).status === 200);
      await t.remove(`${accounts}/default`);
      await t.eventually("another account", async () => {
        const found = await t.request("GET", `${accounts}/default`);
        return found.status === 200 && found.text("metadata.uid") !== first;
      });
    },
  },
];

/** What controllers make of workloads; the pods fit on no node, so that no container has to run. */
export const workloadCases: readonly Case[] = cases.map((each) => ({ ...each, needs: ["workload-controllers"] }));
