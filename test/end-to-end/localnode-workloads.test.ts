import assert from "node:assert/strict";
import { test } from "node:test";
import { Node } from "../../src/api/builtin/cluster.ts";
import { ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { HorizontalPodAutoscaler, PodDisruptionBudget } from "../../src/api/builtin/scaling.ts";
import { EndpointSlice, Service } from "../../src/api/builtin/service.ts";
import { PersistentVolumeClaim } from "../../src/api/builtin/volume.ts";
import {
  ControllerRevision,
  DaemonSet,
  Deployment,
  ReplicationController,
  StatefulSet,
} from "../../src/api/builtin/workloads.ts";
import { isDisruptionBudgetReached } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { Endpoints } from "../../src/localnode/service/endpoints-kind.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";
const labels = (app: string) => ({ matchLabels: { app } });
const template = (app: string, image = "example/app:1") => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: "app", image, ports: [{ name: "http", containerPort: 8080 }] }] },
});

const podNames = async (client: Client, app: string): Promise<readonly string[]> =>
  (await client.list(Pod, { namespace, labelSelector: `app=${app}` })).items
    .map(({ metadata }) => metadata.name)
    .sort();

test("a ReplicationController keeps as many pods as it wants, found by plain labels", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "old" };
  await client.create(ReplicationController, { metadata: key, spec: { replicas: 2, template: template("old") } });
  const settled = (replicas: number) =>
    eventually(
      () => client.get(ReplicationController, key),
      ({ status }) => assert.deepEqual([status?.replicas, status?.availableReplicas], [replicas, replicas]),
    );
  await settled(2);
  assert.equal((await client.getScale(ReplicationController, key)).status?.selector, "app=old");
  await client.setScale(ReplicationController, key, 3);
  await settled(3);
  await client.delete(ReplicationController, key);
  await eventually(
    () => podNames(client, "old"),
    (names) => assert.deepEqual(names, []),
  );
});

test("a StatefulSet replaces pods that never ran when its template changes", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "stuck" };
  const nowhere = template("stuck");
  const spec = { ...nowhere.spec, nodeSelector: { "example.com/nowhere": "true" } };
  await client.create(StatefulSet, {
    metadata: key,
    spec: {
      replicas: 2,
      podManagementPolicy: "Parallel",
      serviceName: "stuck",
      selector: labels("stuck"),
      template: { ...nowhere, spec },
    },
  });
  await eventually(
    () => podNames(client, "stuck"),
    (names) => assert.deepEqual(names, ["stuck-0", "stuck-1"]),
  );
  await client.patch(StatefulSet, key, {
    type: "merge",
    value: { spec: { template: { spec: { nodeSelector: null } } } },
  });
  await eventually(
    () => client.get(StatefulSet, key),
    ({ status }) => assert.deepEqual([status?.readyReplicas, status?.updatedReplicas], [2, 2], JSON.stringify(status)),
  );
});

test("a NoExecute taint sends away the pods that do not tolerate it", async (context) => {
  const { client } = await startNode(context);
  const pod = (name: string, tolerations: NonNullable<Pod["spec"]["tolerations"]>) =>
    client.create(Pod, {
      metadata: { namespace, name, labels: { app: "taint" } },
      spec: { containers: [{ name: "app", image: "example/app:1" }], terminationGracePeriodSeconds: 0, tolerations },
    });
  await eventually(
    () => client.get(ServiceAccount, { namespace, name: "default" }),
    () => undefined,
  );
  await pod("stays", [{ key: "broken", operator: "Exists", effect: "NoExecute" }]);
  await pod("waits", [{ key: "broken", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 }]);
  await pod("goes", []);
  await eventually(
    () => client.list(Pod, { namespace, labelSelector: "app=taint" }),
    ({ items }) =>
      assert.deepEqual(
        items.map(({ status }) => status?.phase),
        ["Running", "Running", "Running"],
      ),
  );
  const taints = [{ key: "broken", effect: "NoExecute" as const }];
  await client.patch(Node, { name: "localnode" }, { type: "merge", value: { spec: { taints } } });
  await eventually(
    () => podNames(client, "taint"),
    (names) => assert.deepEqual(names, ["stays", "waits"]),
  );
  await eventually(
    () => podNames(client, "taint"),
    (names) => assert.deepEqual(names, ["stays"]),
  );
});

test("StatefulSets keep names and volumes, and are updated from the last pod to the first", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "db" };
  const settled = (replicas: number) =>
    eventually(
      () => client.get(StatefulSet, key),
      ({ metadata, status }) => {
        assert.equal(status?.observedGeneration, metadata.generation);
        assert.equal(status?.readyReplicas, replicas, JSON.stringify(status));
        assert.equal(status?.updatedReplicas, replicas);
        assert.equal(status?.currentRevision, status?.updateRevision);
      },
    );
  await client.create(StatefulSet, {
    metadata: key,
    spec: {
      replicas: 3,
      serviceName: "db",
      selector: labels("db"),
      template: template("db"),
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  });
  await settled(3);
  assert.deepEqual(await podNames(client, "db"), ["db-0", "db-1", "db-2"]);
  await eventually(
    () => client.list(PersistentVolumeClaim, { namespace }),
    ({ items }) =>
      assert.deepEqual(
        items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`),
        ["data-db-0 Bound", "data-db-1 Bound", "data-db-2 Bound"],
      ),
  );
  const order: string[] = [];
  const end = new AbortController();
  const {
    metadata: { resourceVersion = "" },
  } = await client.list(Pod, { namespace });
  const watching = (async () => {
    for await (const event of client.watch(Pod, { namespace, resourceVersion, signal: end.signal })) {
      if (event.type === "DELETED") order.push(event.object.metadata.name);
    }
  })().catch(() => undefined);
  await client.patch(StatefulSet, key, {
    type: "merge",
    value: { spec: { template: template("db", "example/app:2") } },
  });
  await settled(3);
  end.abort();
  await watching;
  assert.deepEqual(order, ["db-2", "db-1", "db-0"]);
  const revisions = (await client.list(ControllerRevision, { namespace })).items;
  assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [1, 2]);
  await client.setScale(StatefulSet, key, 1);
  await settled(1);
  await eventually(
    () => podNames(client, "db"),
    (names) => assert.deepEqual(names, ["db-0"]),
  );
  assert.equal((await client.list(PersistentVolumeClaim, { namespace })).items.length, 3);
  await client.delete(PersistentVolumeClaim, { namespace, name: "data-db-2" });
  await eventually(
    () => client.list(PersistentVolumeClaim, { namespace }),
    ({ items }) => assert.equal(items.length, 2),
  );
});

test("DaemonSets have a pod on the node, and replace it when the template changes", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "agent" };
  const updated = (image: string) =>
    eventually(
      async () => ({ set: await client.get(DaemonSet, key), pods: (await client.list(Pod, { namespace })).items }),
      ({ set: { metadata, status }, pods }) => {
        assert.equal(status?.observedGeneration, metadata.generation);
        assert.deepEqual(
          [status?.desiredNumberScheduled, status?.numberAvailable, status?.updatedNumberScheduled],
          [1, 1, 1],
        );
        assert.deepEqual(
          pods.map(({ spec }) => spec.containers[0]?.image),
          [image],
        );
      },
    );
  await client.create(DaemonSet, { metadata: key, spec: { selector: labels("agent"), template: template("agent") } });
  await updated("example/app:1");
  await client.patch(DaemonSet, key, {
    type: "merge",
    value: { spec: { template: template("agent", "example/app:2") } },
  });
  await updated("example/app:2");
});

test("Services know their pods, budgets protect them, and autoscalers keep their number within bounds", async (context) => {
  const { client } = await startNode(context);
  await client.create(Service, {
    metadata: { namespace, name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "http" }] },
  });
  await client.create(Deployment, {
    metadata: { namespace, name: "web" },
    spec: { replicas: 2, selector: labels("web"), template: template("web") },
  });
  const slices = () => client.list(EndpointSlice, { namespace, labelSelector: "kubernetes.io/service-name=web" });
  const { items } = await eventually(slices, ({ items: found }) => {
    assert.equal(found.length, 1);
    assert.equal(found[0]?.endpoints.filter(({ conditions }) => conditions?.ready).length, 2);
  });
  assert.deepEqual(
    items[0]?.ports?.map(({ port, protocol }) => [port, protocol]),
    [[8080, "TCP"]],
  );
  await eventually(
    () => client.get(Endpoints, { namespace, name: "web" }),
    ({ subsets }) => assert.equal(subsets?.[0]?.addresses?.length, 2),
  );

  await context.test("an eviction beyond the budget is refused, and one within it is not", async () => {
    const budget = { namespace, name: "web" };
    await client.create(PodDisruptionBudget, { metadata: budget, spec: { minAvailable: 2, selector: labels("web") } });
    await eventually(
      () => client.get(PodDisruptionBudget, budget),
      ({ status }) =>
        assert.deepEqual([status?.currentHealthy, status?.desiredHealthy, status?.disruptionsAllowed], [2, 2, 0]),
    );
    const [name = ""] = await podNames(client, "web");
    await assert.rejects(client.evict({ namespace, name }), isDisruptionBudgetReached);
    await client.patch(PodDisruptionBudget, budget, { type: "merge", value: { spec: { minAvailable: 1 } } });
    await eventually(
      () => client.get(PodDisruptionBudget, budget),
      ({ status }) => assert.equal(status?.disruptionsAllowed, 1),
    );
    await client.evict({ namespace, name });
    await eventually(
      () => podNames(client, "web"),
      (names) => {
        assert.equal(names.length, 2);
        assert.ok(!names.includes(name));
      },
    );
  });

  await context.test("an autoscaler lifts the number to its minimum and cuts it to its maximum", async () => {
    const scaler = { namespace, name: "web" };
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    await client.create(HorizontalPodAutoscaler, {
      metadata: scaler,
      spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 4 },
    });
    const replicas = async () => (await client.get(Deployment, scaler)).spec.replicas;
    await eventually(replicas, (count) => assert.equal(count, 3));
    await client.setScale(Deployment, scaler, 9);
    await eventually(replicas, (count) => assert.equal(count, 4));
    await eventually(
      () => client.get(HorizontalPodAutoscaler, scaler),
      ({ status }) => {
        assert.equal(status?.currentReplicas, 4);
        assert.equal(findCondition(status?.conditions, "AbleToScale")?.status, "True");
      },
    );
  });

  await context.test("a Service that goes takes its endpoints along", async () => {
    await client.delete(Service, { namespace, name: "web" });
    await eventually(slices, ({ items: left }) => assert.equal(left.length, 0));
    await eventually(
      () => client.list(Endpoints, { namespace }),
      ({ items: left }) => assert.equal(left.length, 0),
    );
  });
});
