import assert from "node:assert/strict";
import { test } from "node:test";
import { Node } from "../../src/api/builtin/cluster.ts";
import { ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { DaemonSet, Deployment } from "../../src/api/builtin/workloads.ts";
import type { Client } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

const template = (app: string, affinity: object, annotations: Readonly<Record<string, string>> = {}) => ({
  metadata: { labels: { app }, annotations },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "app", image: "example/app:1" }],
    affinity: affinity as Readonly<Record<string, unknown>>,
  },
});

async function createPod(client: Client, name: string, affinity: object, simulate?: string): Promise<void> {
  const annotations: Readonly<Record<string, string>> =
    simulate === undefined ? {} : { "localnode.capstan.dev/simulate": simulate };
  const { metadata, spec } = template(name, affinity, annotations);
  await eventually(
    () => client.get(ServiceAccount, { namespace, name: "default" }),
    () => undefined,
  );
  await client.create(Pod, { metadata: { ...metadata, namespace, name }, spec });
}

const waits = (client: Client, name: string, message: string): Promise<Pod> =>
  eventually(
    () => client.get(Pod, { namespace, name }),
    ({ status }) => {
      const scheduled = findCondition(status?.conditions, "PodScheduled");
      assert.deepEqual(
        [status?.phase, scheduled?.status, scheduled?.reason, scheduled?.message],
        ["Pending", "False", "Unschedulable", `0/1 nodes are available: 1 ${message}.`],
      );
    },
  );

const runs = (client: Client, name: string): Promise<Pod> =>
  eventually(
    () => client.get(Pod, { namespace, name }),
    ({ status }) => assert.equal(status?.phase, "Running"),
  );

const required = (terms: readonly object[]): object => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
const beside = (app: string): object => ({
  labelSelector: { matchLabels: { app } },
  topologyKey: "kubernetes.io/hostname",
});

test("a pod that wants another node waits until the node is what it wants", async (context) => {
  const { client } = await startNode(context);
  const matchExpressions = [{ key: "example.com/disk", operator: "In", values: ["ssd"] }];
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  };
  await createPod(client, "picky", affinity);
  await client.create(DaemonSet, {
    metadata: { namespace, name: "agent" },
    spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent", affinity) },
  });
  const agent = () => client.get(DaemonSet, { namespace, name: "agent" });
  await waits(client, "picky", "node(s) didn't match Pod's node affinity/selector");
  await eventually(agent, ({ status }) => assert.equal(status?.desiredNumberScheduled, 0));
  const value = { metadata: { labels: { "example.com/disk": "ssd" } } };
  await client.patch(Node, { name: "localnode" }, { type: "merge", value });
  await runs(client, "picky");
  await eventually(agent, ({ status }) => assert.equal(status?.numberAvailable, 1));
});

test("a pod that wants company waits until the other is there", async (context) => {
  const { client } = await startNode(context);
  await createPod(client, "web", { podAffinity: required([beside("cache")]) });
  await waits(client, "web", "node(s) didn't match pod affinity rules");
  await createPod(client, "cache", {});
  await runs(client, "web");
});

test("pods that repel each other do not share the node, however fast they come", async (context) => {
  const { client } = await startNode(context);
  const spec = {
    replicas: 4,
    selector: { matchLabels: { app: "lonely" } },
    template: template("lonely", { podAntiAffinity: required([beside("lonely")]) }),
  };
  await client.create(Deployment, { metadata: { namespace, name: "lonely" }, spec });
  const pods = () => client.list(Pod, { namespace, labelSelector: "app=lonely" });
  const { items } = await eventually(pods, ({ items: all }) => {
    const messages = all.map(({ status }) => findCondition(status?.conditions, "PodScheduled")?.message ?? "");
    const refused = "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.";
    assert.deepEqual(messages.toSorted(), ["", refused, refused, refused]);
  });
  const [there, ...others] = items.toSorted(({ spec: a }, { spec: b }) =>
    (a.nodeName ?? "") < (b.nodeName ?? "") ? 1 : -1,
  );
  assert.ok(there?.spec.nodeName);
  await createPod(client, "guest", {});
  await client.setScale(Deployment, { namespace, name: "lonely" }, others.length);
  await client.delete(Pod, there.metadata);
  await eventually(pods, ({ items: all }) =>
    assert.equal(all.filter(({ spec: { nodeName }, metadata }) => nodeName && !metadata.deletionTimestamp).length, 1),
  );
});

test("a pod that is said to fit nowhere waits until that is taken back", async (context) => {
  const { client } = await startNode(context);
  await createPod(client, "large", {}, "unschedulable=nvidia.com/gpu");
  await waits(client, "large", "Insufficient nvidia.com/gpu");
  const value = { metadata: { annotations: { "localnode.capstan.dev/simulate": null } } };
  await client.patch(Pod, { namespace, name: "large" }, { type: "merge", value });
  await runs(client, "large");
});

test("a container that is said to take too much memory is killed like one that does", async (context) => {
  const { client } = await startNode(context, { restartBackoff: { baseMs: 50, maxMs: 100 } });
  await createPod(client, "greedy", {}, "oom after=50ms");
  await eventually(
    () => client.get(Pod, { namespace, name: "greedy" }),
    ({ status }) => {
      const [container] = status?.containerStatuses ?? [];
      const { reason, exitCode } = container?.lastState?.terminated ?? {};
      assert.deepEqual([reason, exitCode], ["OOMKilled", 137]);
      assert.ok((container?.restartCount ?? 0) >= 2);
    },
  );
});
