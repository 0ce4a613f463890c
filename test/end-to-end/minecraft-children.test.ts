import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { TCPRoute } from "../../src/api/builtin/gateway.ts";
import { NetworkPolicy } from "../../src/api/builtin/network-policy.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { PersistentVolumeClaim } from "../../src/api/builtin/volume.ts";
import { StatefulSet } from "../../src/api/builtin/workloads.ts";
import { PaperMCServer } from "../../src/api/papermc-server.ts";
import { Plugin } from "../../src/api/plugin.ts";
import { annotations } from "../../src/api/well-known.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import { eventually } from "./embedded.ts";
import { recordHangar, recordPaper } from "./minecraft-recordings.ts";
import { namespace, newPlugin, newServer, startMinecraft } from "./minecraft-world.ts";

const offRcon = { rcon: { enabled: false, passwordSecret: { name: "", key: "" }, port: 25575 } };
const key = { namespace, name: "survival" };

test("what a server consists of follows every change of it", async (context) => {
  const world = await startMinecraft(context);
  const { client, recordings } = world;
  const definition = customResourceDefinition(TCPRoute);
  const approved = { "api-approved.kubernetes.io": "unapproved, for a test" };
  await client.create(CustomResourceDefinition, {
    ...definition,
    metadata: { ...definition.metadata, annotations: approved },
  });
  await eventually(
    () => client.list(TCPRoute, { namespace }),
    () => undefined,
  );
  recordPaper(recordings, { "1.21.1": [{ id: 133 }] });
  await newServer(client, "survival", 25575, { ...offRcon, storage: { size: "10Gi" } });
  const change = (spec: object): Promise<PaperMCServer> =>
    client.patch(PaperMCServer, key, { type: "merge", value: { spec } });
  const set = (passes: (found: StatefulSet) => void): Promise<StatefulSet> =>
    eventually(() => client.get(StatefulSet, key), passes);
  await set(({ spec }) => assert.equal(spec.template.spec.containers[0]?.name, "minecraft"));

  await context.test("the pod", async () => {
    const resources = { requests: { memory: "2Gi" } };
    await change({ podTemplate: { spec: { containers: [{ name: "minecraft", resources }] } } });
    await set(({ spec }) => assert.deepEqual(spec.template.spec.containers[0]?.resources, resources));
  });

  await context.test("the Service, without RCON on it", async () => {
    await change({ service: { type: "NodePort", annotations: { pool: "games" } } });
    await newPlugin(client, "map", { port: 8123, source: { type: "hangar", project: "nowhere" } });
    const { spec, metadata } = await eventually(
      () => client.get(Service, key),
      (service) => assert.equal(service.spec.ports?.length, 3),
    );
    assert.equal(spec.type, "NodePort");
    assert.equal(metadata.annotations?.["pool"], "games");
    assert.deepEqual(
      spec.ports?.map(({ name }) => name),
      ["minecraft", "plugin-8123-tcp", "plugin-8123-udp"],
    );
    await client.delete(Plugin, { namespace, name: "map" });
    await eventually(
      () => client.get(Service, key),
      (service) => assert.equal(service.spec.ports?.length, 1),
    );
  });

  await context.test("the NetworkPolicy, and what cannot become one", async () => {
    const policies = { namespace, fieldSelector: "metadata.name=survival-minecraft" };
    await change({ network: { networkPolicy: { enabled: true, allowFrom: [{ cidr: "10.0.0.0/8" }] } } });
    await eventually(
      () => client.list(NetworkPolicy, policies),
      ({ items }) => assert.deepEqual(items[0]?.spec?.ingress?.[0]?.from?.[1], { ipBlock: { cidr: "10.0.0.0/8" } }),
    );
    await change({ network: { networkPolicy: { enabled: true, allowFrom: [{ cidr: "999.0.0.0/8" }] } } });
    await eventually(
      () => world.server("survival"),
      ({ status }) => {
        const ready = findCondition(status?.conditions, "Ready");
        assert.equal(ready?.status, "False");
        assert.match(ready?.message ?? "", /spec\.network\.networkPolicy\.allowFrom\[0\]\.cidr/);
      },
    );
    await change({ network: null });
    await eventually(
      () => client.list(NetworkPolicy, policies),
      ({ items }) => assert.equal(items.length, 0),
    );
    const mine = { metadata: { name: "survival-minecraft", namespace }, spec: { podSelector: {} } };
    await client.create(NetworkPolicy, mine);
    await change({ updateDelay: "30m" });
    await eventually(
      () => world.server("survival"),
      ({ status, metadata }) => assert.equal(status?.observedGeneration, metadata.generation),
    );
    assert.equal((await client.list(NetworkPolicy, policies)).items.length, 1, "one made by hand stays");
    await client.delete(NetworkPolicy, mine.metadata);
  });

  await context.test("the routes, where they are served", async () => {
    const gateway = {
      enabled: true,
      parentRefs: [{ name: "games" }],
      tcpRoute: { enabled: true },
      udpRoute: { enabled: true },
    };
    await change({ gateway });
    await eventually(
      () => client.list(TCPRoute, { namespace }),
      ({ items }) =>
        assert.deepEqual(
          items.map(({ metadata }) => metadata.name),
          ["survival-tcp"],
        ),
    );
    for (const off of [{ enabled: false }, null]) {
      await change({ gateway: off });
      await eventually(
        () => client.list(TCPRoute, { namespace }),
        ({ items }) => assert.equal(items.length, 0),
      );
      await change({ gateway });
      await eventually(
        () => client.list(TCPRoute, { namespace }),
        ({ items }) => assert.equal(items.length, 1),
      );
    }
    await change({ gateway: null });
    await eventually(
      () => client.list(TCPRoute, { namespace }),
      ({ items }) => assert.equal(items.length, 0),
    );
    const mine = { metadata: { name: "survival-tcp", namespace }, spec: { parentRefs: [], rules: [] } };
    await client.create(TCPRoute, mine);
    await change({ updateDelay: "1h" });
    await eventually(
      () => world.server("survival"),
      ({ status, metadata }) => assert.equal(status?.observedGeneration, metadata.generation),
    );
    assert.equal((await client.list(TCPRoute, { namespace })).items.length, 1, "a route made by hand stays");
    const removals = world.writes.get("DELETE");
    const labels = { environment: "production", touched: "yes" };
    await client.patch(PaperMCServer, key, { type: "merge", value: { metadata: { labels } } });
    await newPlugin(client, "late", { source: { type: "hangar", project: "nowhere" } });
    await eventually(
      () => world.server("survival"),
      ({ status }) => assert.equal(status?.plugins?.length, 1),
    );
    assert.equal(world.writes.get("DELETE"), removals, "what is gone is not removed again and again");
    await client.delete(Plugin, { namespace, name: "late" });
  });

  await context.test("the volume, which grows and never shrinks", async () => {
    const claim = { namespace, name: "data-survival-0" };
    await client.create(PersistentVolumeClaim, {
      metadata: claim,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
    });
    await change({ storage: { size: "20Gi" } });
    await eventually(
      () => world.server("survival"),
      ({ status, metadata }) => assert.equal(status?.observedGeneration, metadata.generation),
    );
    const { items } = await client.list(PersistentVolumeClaim, { namespace });
    // A volume that nobody has bound cannot grow, and the status says so; the embedded API is as strict as a real one.
    const ready = findCondition((await world.server("survival")).status?.conditions, "Ready");
    const size = String(items[0]?.spec.resources?.requests?.["storage"]);
    assert.ok(size === "20Gi" || /spec\.storage\.size: the volume cannot grow/.test(ready?.message ?? ""), size);
  });
});

test("a workload that another operator made is taken over with the next update, not with a restart in between", async (context) => {
  const world = await startMinecraft(context);
  const { client, recordings } = world;
  recordPaper(recordings, { "1.21.1": [{ id: 133 }], "1.20.6": [{ id: 151 }] });
  recordHangar(recordings, "essentialsx", { "2.21.0": { minecraft: ["1.20.6", "1.21.1"] } });
  const labels = { app: "papermc", "mc.k8s.lex.la/server-name": "survival" };
  const original = {
    metadata: { ...key, labels },
    spec: {
      serviceName: "survival",
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "papermc", image: "docker.io/lexfrei/papermc:1.20.6-151" }] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "10Gi" } } },
        },
      ],
    },
  };
  await client.create(StatefulSet, original, { fieldManager: "minecraft-operator" });
  await newPlugin(client, "essentialsx");
  await newServer(client, "survival", 25575, offRcon);
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.currentVersion, "1.20.6");
      assert.equal(status.availableUpdate?.version, "1.21.1");
      assert.equal(findCondition(status.conditions, "Ready")?.status, "True");
    },
  );
  const before = await client.get(StatefulSet, key);
  assert.equal(before.metadata.generation, 1, "nothing of it was changed yet");
  const value = {
    metadata: { annotations: { [annotations.applyNow]: String(Math.floor(systemEnv.now().getTime() / 1_000)) } },
  };
  await client.patch(PaperMCServer, key, { type: "merge", value });
  const taken = await eventually(
    () => client.get(StatefulSet, key),
    ({ spec }) => assert.equal(spec.template.spec.containers[0]?.image, "docker.io/lexfrei/papermc:1.21.1-133"),
  );
  assert.deepEqual(
    taken.spec.template.spec.containers.map(({ name }) => name),
    ["minecraft"],
    "what the other operator wrote does not stay beside it",
  );
  assert.equal(taken.spec.template.spec.initContainers?.[0]?.name, "capstan-prepare");
  assert.equal(taken.metadata.uid, before.metadata.uid);
  await world.playNode();
  await eventually(
    () => world.server("survival"),
    ({ status }) => {
      assert.equal(status?.lastUpdate?.successful, true);
      assert.equal(status.plugins?.[0]?.currentVersion, "2.21.0");
    },
  );
});
