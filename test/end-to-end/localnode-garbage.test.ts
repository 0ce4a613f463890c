import assert from "node:assert/strict";
import { test } from "node:test";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { ConfigMap, ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Deployment, ReplicaSet } from "../../src/api/builtin/workloads.ts";
import { isNotFound } from "../../src/client/api-error.ts";
import type { Client, DeleteOptions } from "../../src/client/client.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import type { KubeObject, ObjectKey } from "../../src/kube/object.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";

const gone = (client: Client, kind: KindRef, key: ObjectKey) =>
  eventually(
    () =>
      client.get(kind, key).then(
        () => true,
        (error: unknown) => !isNotFound(error),
      ),
    (isThere) => assert.equal(isThere, false, `${kind.kind} ${key.name} is still there`),
  );

async function tree(client: Client, name: string, finalizers: readonly string[] = []): Promise<void> {
  await client.create(Deployment, {
    metadata: { namespace, name, labels: { app: name } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, finalizers },
        spec: { containers: [{ name: "web", image: "example/web:1" }] },
      },
    },
  });
  await eventually(
    () => client.get(Deployment, { namespace, name }),
    ({ status }) => assert.equal(status?.availableReplicas, 2),
  );
}

const children = async (client: Client, name: string) => ({
  sets: (await client.list(ReplicaSet, { namespace, labelSelector: `app=${name}` })).items,
  pods: (await client.list(Pod, { namespace, labelSelector: `app=${name}` })).items,
});

test("what an object owns goes with it, in the way that was asked for", async (context) => {
  const { client } = await startNode(context);
  const remove = (name: string, options: DeleteOptions = {}) => client.delete(Deployment, { namespace, name }, options);

  await context.test("in the background: the owner at once, then the rest", async () => {
    await tree(client, "back");
    await remove("back", { propagationPolicy: "Background" });
    await assert.rejects(client.get(Deployment, { namespace, name: "back" }), isNotFound);
    await eventually(
      () => children(client, "back"),
      ({ sets, pods }) => assert.deepEqual([sets.length, pods.length], [0, 0]),
    );
  });

  await context.test("in the foreground: the owner last", async () => {
    await tree(client, "fore");
    const [pod] = (await children(client, "fore")).pods;
    assert.ok(pod);
    await client.patch(Pod, pod.metadata, {
      type: "merge",
      value: { metadata: { finalizers: ["test.example/hold"] } },
    });
    await remove("fore", { propagationPolicy: "Foreground" });
    await eventually(
      () => children(client, "fore"),
      ({ pods }) =>
        assert.deepEqual(
          pods.map(({ metadata }) => metadata.name),
          [pod.metadata.name],
        ),
    );
    const { metadata } = await client.get(Deployment, { namespace, name: "fore" });
    assert.deepEqual(metadata.finalizers, ["foregroundDeletion"]);
    assert.equal((await children(client, "fore")).sets.length, 1);
    await client.patch(Pod, pod.metadata, { type: "merge", value: { metadata: { finalizers: null } } });
    await gone(client, Deployment, { namespace, name: "fore" });
    assert.equal((await children(client, "fore")).sets.length, 0);
  });

  await context.test("not at all: the children stay, without an owner, and can be adopted", async () => {
    await tree(client, "orphan");
    await remove("orphan", { propagationPolicy: "Orphan" });
    await gone(client, Deployment, { namespace, name: "orphan" });
    const { sets, pods } = await children(client, "orphan");
    assert.deepEqual([sets.length, pods.length], [1, 2]);
    assert.equal(sets[0]?.metadata.ownerReferences, undefined);
    await tree(client, "orphan");
    const adopted = (await children(client, "orphan")).sets;
    assert.deepEqual(
      adopted.map(({ metadata }) => metadata.uid),
      [sets[0]?.metadata.uid],
    );
    assert.equal(adopted[0]?.metadata.ownerReferences?.[0]?.kind, "Deployment");
  });

  await context.test("an object with another owner left only loses the reference", async () => {
    const owners = await Promise.all(
      ["first", "second"].map((name) => client.create(ConfigMap, { metadata: { namespace, name } })),
    );
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: metadata.name,
      uid: metadata.uid ?? "",
    }));
    const shared = { namespace, name: "shared" };
    await client.create(ConfigMap, { metadata: { ...shared, ownerReferences } });
    await client.delete(ConfigMap, { namespace, name: "first" });
    await eventually(
      () => client.get(ConfigMap, shared),
      ({ metadata }) =>
        assert.deepEqual(
          metadata.ownerReferences?.map(({ name }) => name),
          ["second"],
        ),
    );
    await client.delete(ConfigMap, { namespace, name: "second" });
    await gone(client, ConfigMap, shared);
  });

  await context.test(
    "an owner that never was dooms an object too, and kinds that are installed later count",
    async () => {
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "no-such-uid" }];
      await client.create(ConfigMap, { metadata: { namespace, name: "stray", ownerReferences } });
      await gone(client, ConfigMap, { namespace, name: "stray" });

      await client.create(CustomResourceDefinition, widgets);
      await eventually(
        () => client.list(Widget),
        ({ items }) => assert.equal(items.length, 0),
      );
      const widget = await client.create(Widget, { metadata: { namespace, name: "w" } });
      await client.create(ConfigMap, {
        metadata: {
          namespace,
          name: "of-widget",
          ownerReferences: [
            { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: widget.metadata.uid ?? "" },
          ],
        },
      });
      const child = await client.create(Widget, {
        metadata: {
          namespace,
          name: "child",
          ownerReferences: [
            { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: widget.metadata.uid ?? "" },
          ],
        },
      });
      await client.delete(Widget, { namespace, name: "w" });
      await gone(client, ConfigMap, { namespace, name: "of-widget" });
      await gone(client, Widget, { namespace, name: child.metadata.name });
    },
  );
});

test("a namespace has its defaults, and goes with everything that is in it", async (context) => {
  const { client } = await startNode(context);
  await eventually(
    () => client.get(ServiceAccount, { namespace, name: "default" }),
    () => undefined,
  );
  await eventually(
    () => client.get(ConfigMap, { namespace, name: "kube-root-ca.crt" }),
    ({ data }) => assert.ok(data?.["ca.crt"]),
  );
  await client.delete(ServiceAccount, { namespace, name: "default" });
  await eventually(
    () => client.get(ServiceAccount, { namespace, name: "default" }),
    () => undefined,
  );
  await tree(client, "app");
  const held = { namespace, name: "held" };
  await client.create(ConfigMap, { metadata: { ...held, finalizers: ["test.example/hold"] } });
  await client.delete(Namespace, { name: namespace });
  const leaving = await eventually(
    () => client.get(Namespace, { name: namespace }),
    ({ status }) => {
      assert.equal(
        findCondition(status?.conditions, "NamespaceContentRemaining")?.message,
        "Some resources are remaining: configmaps. has 1 resource instances",
      );
    },
  );
  assert.equal(leaving.status?.phase, "Terminating");
  assert.equal(
    findCondition(leaving.status?.conditions, "NamespaceFinalizersRemaining")?.message,
    "Some content in the namespace has finalizers remaining: test.example/hold in 1 resource instances",
  );
  await client.patch(ConfigMap, held, { type: "merge", value: { metadata: { finalizers: null } } });
  await gone(client, Namespace, { name: namespace });
  for (const kind of [Pod, ReplicaSet, Deployment, ConfigMap, ServiceAccount] as readonly KindRef[]) {
    assert.deepEqual((await client.list(kind, { namespace })).items, [], kind.kind);
  }
});

const Widget: KindRef<KubeObject> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};
const widgets = {
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList" },
    scope: "Namespaced" as const,
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" as const } } }],
  },
};
