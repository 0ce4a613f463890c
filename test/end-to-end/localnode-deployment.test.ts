import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment, ReplicaSet } from "../../src/api/builtin/workloads.ts";
import type { NewObject } from "../../src/client/client.ts";
import { findCondition, isConditionTrue } from "../../src/kube/condition.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

const deployment = (name: string, spec: Partial<Deployment["spec"]> = {}, simulate = ""): NewObject<Deployment> => ({
  metadata: { namespace, name, labels: { app: name } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: {
        labels: { app: name },
        ...(simulate && { annotations: { "localnode.capstan.dev/simulate": simulate } }),
      },
      spec: { containers: [{ name: "web", image: "example/web:1" }] },
    },
    ...spec,
  },
});

test("a Deployment becomes available, follows its template and can be rolled back", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "web" };
  const current = () => client.get(Deployment, key);
  const sets = async (): Promise<readonly ReplicaSet[]> =>
    (await client.list(ReplicaSet, { namespace, labelSelector: "app=web" })).items;
  const complete = (revision: string) =>
    eventually(current, ({ metadata, status, spec }) => {
      assert.equal(status?.observedGeneration, metadata.generation);
      assert.equal(status?.updatedReplicas, spec.replicas);
      assert.equal(status?.availableReplicas, spec.replicas);
      assert.equal(status?.replicas, spec.replicas);
      assert.equal(metadata.annotations?.["deployment.kubernetes.io/revision"], revision);
    });

  await context.test("its pods run on the node, ready, with addresses of their own", async () => {
    await client.create(Deployment, deployment("web"));
    const { status } = await complete("1");
    assert.ok(isConditionTrue(status?.conditions, "Available"));
    const progressing = findCondition(status?.conditions, "Progressing");
    assert.equal(progressing?.reason, "NewReplicaSetAvailable");
    assert.match(progressing?.message ?? "", /^ReplicaSet "web-[a-z0-9]+" has successfully progressed\.$/);
    const pods = (await client.list(Pod, { namespace })).items;
    assert.equal(pods.length, 3);
    assert.equal(new Set(pods.map((pod) => pod.status?.podIP)).size, 3);
    for (const pod of pods) {
      assert.equal(pod.spec.nodeName, "localnode");
      assert.equal(pod.status?.phase, "Running");
      assert.deepEqual(pod.status?.conditions?.map(({ type, status: is }) => `${type}=${is}`).sort(), [
        "ContainersReady=True",
        "Initialized=True",
        "PodReadyToStartContainers=True",
        "PodScheduled=True",
        "Ready=True",
      ]);
    }
  });

  await context.test("a new image makes a new ReplicaSet and empties the old one", async () => {
    await client.patch(Deployment, key, {
      type: "strategic",
      value: { spec: { template: { spec: { containers: [{ name: "web", image: "example/web:2" }] } } } },
    });
    await complete("2");
    const sizes = (await sets()).map(({ spec, metadata }) => [
      metadata.annotations?.["deployment.kubernetes.io/revision"],
      spec.replicas,
    ]);
    assert.deepEqual(sizes.sort(), [
      ["1", 0],
      ["2", 3],
    ]);
    await eventually(
      () => client.list(Pod, { namespace }),
      ({ items }) =>
        assert.deepEqual(
          items.map(({ spec }) => spec.containers[0]?.image),
          Array(3).fill("example/web:2"),
        ),
    );
  });

  await context.test("the former template brings back the former ReplicaSet under a new number", async () => {
    await client.patch(Deployment, key, {
      type: "strategic",
      value: { spec: { template: { spec: { containers: [{ name: "web", image: "example/web:1" }] } } } },
    });
    await complete("3");
    const all = await sets();
    assert.equal(all.length, 2);
    const back = all.find(({ spec }) => spec.replicas === 3);
    assert.equal(back?.metadata.annotations?.["deployment.kubernetes.io/revision-history"], "1");
  });

  await context.test("a change of the number of replicas is followed up and down", async () => {
    await client.setScale(Deployment, key, 5);
    await complete("3");
    assert.equal((await client.list(Pod, { namespace })).items.length, 5);
    await client.setScale(Deployment, key, 1);
    await complete("3");
    await eventually(
      () => client.list(Pod, { namespace }),
      ({ items }) => assert.equal(items.length, 1),
    );
  });

  await context.test("while it is paused nothing rolls, and afterwards it does", async () => {
    await client.patch(Deployment, key, { type: "merge", value: { spec: { paused: true } } });
    await eventually(current, ({ status }) =>
      assert.equal(findCondition(status?.conditions, "Progressing")?.reason, "DeploymentPaused"),
    );
    await client.patch(Deployment, key, {
      type: "strategic",
      value: { spec: { template: { spec: { containers: [{ name: "web", image: "example/web:4" }] } } } },
    });
    await eventually(current, ({ metadata, status }) => assert.equal(status?.observedGeneration, metadata.generation));
    assert.equal((await sets()).length, 2);
    await client.patch(Deployment, key, { type: "merge", value: { spec: { paused: false } } });
    await complete("4");
  });

  await context.test("a pod that somebody deletes is replaced", async () => {
    const [pod] = (await client.list(Pod, { namespace })).items;
    assert.ok(pod);
    await client.delete(Pod, pod.metadata);
    await eventually(
      () => client.list(Pod, { namespace }),
      ({ items }) => {
        assert.equal(items.length, 1);
        assert.notEqual(items[0]?.metadata.uid, pod.metadata.uid);
        assert.ok(isConditionTrue(items[0]?.status?.conditions, "Ready"));
      },
    );
  });
});

test("a rollout that cannot go on keeps the old pods and says so when its deadline is over", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "stuck" };
  await client.create(Deployment, deployment("stuck", { progressDeadlineSeconds: 1 }));
  await eventually(
    () => client.get(Deployment, key),
    ({ status }) => assert.equal(status?.availableReplicas, 3),
  );
  await client.patch(Deployment, key, {
    type: "merge",
    value: {
      spec: { template: { metadata: { annotations: { "localnode.capstan.dev/simulate": "never-ready" } } } },
    },
  });
  const stuck = await eventually(
    () => client.get(Deployment, key),
    ({ status }) => assert.equal(findCondition(status?.conditions, "Progressing")?.status, "False"),
  );
  const progressing = findCondition(stuck.status?.conditions, "Progressing");
  assert.equal(progressing?.reason, "ProgressDeadlineExceeded");
  assert.match(progressing?.message ?? "", /^ReplicaSet "stuck-[a-z0-9]+" has timed out progressing\.$/);
  assert.equal(stuck.status?.availableReplicas, 3);
  assert.equal(stuck.status?.updatedReplicas, 1);
});

test("Recreate ends every old pod before the first new one begins", async (context) => {
  const { client } = await startNode(context);
  const key = { namespace, name: "one" };
  await client.create(
    Deployment,
    deployment("one", { replicas: 2, strategy: { type: "Recreate" } }, "stop-after=300ms"),
  );
  await eventually(
    () => client.get(Deployment, key),
    ({ status }) => assert.equal(status?.availableReplicas, 2),
  );
  const seen = new Set<string>();
  const end = new AbortController();
  const watching = (async () => {
    const alive = new Map<string, string>();
    for await (const event of client.watch(Pod, { namespace, resourceVersion: "0", signal: end.signal })) {
      if (event.type === "BOOKMARK") continue;
      const { uid = "" } = event.object.metadata;
      if (event.type === "DELETED") alive.delete(uid);
      else alive.set(uid, (event.object as Pod).spec.containers[0]?.image ?? "");
      seen.add([...new Set(alive.values())].sort().join("+"));
    }
  })().catch(() => undefined);
  await client.patch(Deployment, key, {
    type: "strategic",
    value: { spec: { template: { spec: { containers: [{ name: "web", image: "example/web:2" }] } } } },
  });
  await eventually(
    () => client.get(Deployment, key),
    ({ metadata, status }) => {
      assert.equal(metadata.annotations?.["deployment.kubernetes.io/revision"], "2");
      assert.equal(status?.availableReplicas, 2);
    },
  );
  end.abort();
  await watching;
  assert.ok(seen.has("example/web:1") && seen.has("example/web:2"));
  assert.ok(!seen.has("example/web:1+example/web:2"), "old and new pods were there at the same time");
});
