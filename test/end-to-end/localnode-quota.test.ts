import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Namespace, ResourceQuota } from "../../src/api/builtin/cluster.ts";
import { ConfigMap, ServiceAccount } from "../../src/api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Pod } from "../../src/api/builtin/pod.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { isForbidden } from "../../src/client/api-error.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { systemEnv } from "../../src/env/system.ts";
import { MetadataMonitors } from "../../src/localnode/garbage-collector/metadata-monitors.ts";
import { quotaController } from "../../src/localnode/quota/controller.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { eventually } from "./embedded.ts";
import { startNode } from "./localnode.ts";

const namespace = "test";
const key = { namespace, name: "q" };

const usedIs = (client: Client, wanted: Readonly<Record<string, string>>): Promise<ResourceQuota> =>
  eventually(
    () => client.get(ResourceQuota, key),
    ({ status }) => assert.deepEqual(status?.used, wanted),
  );

const hasAccount = (client: Client): Promise<ServiceAccount> =>
  eventually(
    () => client.get(ServiceAccount, { namespace, name: "default" }),
    () => undefined,
  );

const pod = (name: string, cpu: string, simulate?: string) => ({
  metadata: { namespace, name, ...(simulate && { annotations: { "localnode.capstan.dev/simulate": simulate } }) },
  spec: {
    restartPolicy: "Never" as const,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "c", image: "example/app", resources: { requests: { cpu } } }],
  },
});

test("what pods and services use is given back when they end, change or go", async (context) => {
  const { client } = await startNode(context);
  await hasAccount(client);
  const hard = { pods: "5", "count/pods": "5", "requests.cpu": "2", "services.loadbalancers": "1" };
  await client.create(ResourceQuota, { metadata: key, spec: { hard } });
  await usedIs(client, { "count/pods": "0", pods: "0", "requests.cpu": "0", "services.loadbalancers": "0" });
  await client.create(Pod, pod("stays", "500m"));
  await client.create(Pod, pod("ends", "700m", "exit=0 after=300ms"));
  const ports = [{ port: 80 }];
  await client.create(Service, { metadata: { namespace, name: "s" }, spec: { type: "LoadBalancer", ports } });
  await usedIs(client, { "count/pods": "2", pods: "2", "requests.cpu": "1200m", "services.loadbalancers": "1" });
  await context.test("a pod that has ended is only counted as an object", async () => {
    await usedIs(client, { "count/pods": "2", pods: "1", "requests.cpu": "500m", "services.loadbalancers": "1" });
  });
  await context.test("a service of another type takes no load balancer", async () => {
    const value = { spec: { type: "ClusterIP" } };
    await client.patch(Service, { namespace, name: "s" }, { type: "merge", value });
    await usedIs(client, { "count/pods": "2", pods: "1", "requests.cpu": "500m", "services.loadbalancers": "0" });
  });
  await context.test("a pod that is deleted is not counted at all", async () => {
    await client.delete(Pod, { namespace, name: "stays" });
    await client.delete(Pod, { namespace, name: "ends" });
    await usedIs(client, { "count/pods": "0", pods: "0", "requests.cpu": "0", "services.loadbalancers": "0" });
  });
});

test("a kind that comes after the quota that counts it is counted too", async (context) => {
  const { client } = await startNode(context);
  const name = "count/things.example.com";
  await client.create(ResourceQuota, { metadata: key, spec: { hard: { [name]: "1" } } });
  await eventually(
    () => client.get(ResourceQuota, key),
    ({ status }) => assert.deepEqual(status?.hard, { [name]: "1" }),
  );
  const names = { plural: "things", kind: "Thing" };
  const schema = { openAPIV3Schema: { type: "object" as const } };
  await client.create(CustomResourceDefinition, {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  await usedIs(client, { [name]: "0" });
  const Thing = { group: "example.com", version: "v1", kind: "Thing", plural: "things", namespaced: true };
  const make = (thing: string) => client.create(Thing, { metadata: { namespace, name: thing } });
  await make("a");
  await assert.rejects(
    make("b"),
    /exceeded quota: q, requested: count\/things.example.com=1, used: .*=1, limited: .*=1/,
  );
  await client.delete(Thing, { namespace, name: "a" });
  await usedIs(client, { [name]: "0" });
  await make("b");
});

test("no quota is overrun while many come and go and everything is counted again and again", async (context) => {
  const { client } = await startNode(context);
  const most = 5;
  const hard = { "count/configmaps": String(most + 1) };
  await client.create(ResourceQuota, { metadata: key, spec: { hard } });
  // The namespace has the certificate of its server in it.
  await usedIs(client, { "count/configmaps": "1" });
  const counts = { made: 0, refused: 0, most: 0 };
  const present = new Set<string>();
  const worker = async (id: number): Promise<void> => {
    for (let round = 0; round < 25; round++) {
      const name = `c-${id}-${round}`;
      try {
        await client.create(ConfigMap, { metadata: { namespace, name } });
        present.add(name);
        counts.made++;
      } catch (error) {
        if (!isForbidden(error)) throw error;
        counts.refused++;
        continue;
      }
      const { items } = await client.list(ConfigMap, { namespace });
      counts.most = Math.max(counts.most, items.length);
      // The quota itself changes as well, so that counting never rests.
      const value = { spec: { hard: { secrets: String(round) } } };
      await client.patch(ResourceQuota, key, { type: "merge", value });
      await client.delete(ConfigMap, { namespace, name });
      present.delete(name);
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, id) => worker(id)));
  assert.ok(counts.made > 0 && counts.refused > 0, JSON.stringify(counts));
  assert.ok(counts.most <= most + 1, `${counts.most} at once where ${most + 1} are allowed`);
  await eventually(
    () => client.get(ResourceQuota, key),
    ({ status }) => assert.equal(status?.used?.["count/configmaps"], String(present.size + 1)),
  );
});

test("what is charged while the objects are being counted is not lost", async (context) => {
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  const client = createClient({
    env: systemEnv,
    transport: (request) => server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } }),
  });
  let meanwhile: (() => Promise<unknown>) | undefined;
  // Whoever counts learns what was there before something came.
  const slow: Client = {
    ...client,
    async list(kind, options) {
      const answer = await client.list(kind, options);
      if (kind.plural === "configmaps" && meanwhile) {
        const happens = meanwhile;
        meanwhile = undefined;
        await happens();
      }
      return answer;
    },
  };
  const monitors = new MetadataMonitors(systemEnv, client);
  const manager = createManager({ env: systemEnv, client });
  manager.add(quotaController(slow, monitors));
  await monitors.refresh(new AbortController().signal);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    await monitors.close();
    await server.close();
  });
  const create = (name: string) => client.create(ConfigMap, { metadata: { namespace, name } });
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ResourceQuota, { metadata: key, spec: { hard: { configmaps: "3" } } });
  await usedIs(client, { configmaps: "0" });
  await create("a");
  await create("b");
  await usedIs(client, { configmaps: "2" });
  await monitors.whenSynced();
  meanwhile = () => create("c");
  await client.delete(ConfigMap, { namespace, name: "b" });
  await eventually(
    async () => meanwhile,
    (left) => assert.equal(left, undefined),
  );
  // Two are left and two are charged, so that one more fits and no other.
  await usedIs(client, { configmaps: "2" });
  await create("d");
  await assert.rejects(
    create("e"),
    /exceeded quota: q, requested: configmaps=1, used: configmaps=3, limited: configmaps=3/,
  );
});

test("what went while nobody counted is noticed after a start", async (context) => {
  const { client, restart } = await startNode(context);
  await client.create(ResourceQuota, { metadata: key, spec: { hard: { "count/configmaps": "9" } } });
  await usedIs(client, { "count/configmaps": "1" });
  await client.create(ConfigMap, { metadata: { namespace, name: "a" } });
  await client.create(ConfigMap, { metadata: { namespace, name: "b" } });
  await usedIs(client, { "count/configmaps": "3" });
  // A status that nobody keeps true: as if deletions had been missed.
  const value = { status: { used: { "count/configmaps": "8" } } };
  await client.patch(ResourceQuota, key, { type: "merge", value }, { subresource: "status" });
  await restart();
  await usedIs(client, { "count/configmaps": "3" });
});

test("what is charged is on disk with what it is charged for", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "capstan-quota-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const start = async () => {
    const tokens = [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }];
    const server = await createApiServer({ env: systemEnv, file: join(folder, "api.db"), tokens });
    const client = createClient({
      env: systemEnv,
      transport: (request) => server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } }),
    });
    return { server, client };
  };
  const first = await start();
  const where = { namespace: "default", name: "q" };
  const hard = { configmaps: "7" };
  const made = await first.client.create(ResourceQuota, { metadata: where, spec: { hard } });
  const status = { hard, used: { configmaps: "0" } };
  await first.client.update(ResourceQuota, { ...made, status }, { subresource: "status" });
  const create = ({ client }: typeof first, name: string): Promise<boolean> =>
    client.create(ConfigMap, { metadata: { namespace: "default", name } }).then(
      () => true,
      (error: unknown) => {
        if (isForbidden(error)) return false;
        throw error;
      },
    );
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => create(first, `c${index}`)));
  assert.equal(answers.filter((isMade) => isMade).length, 7);
  await first.server.close();
  const second = await start();
  context.after(() => second.server.close());
  const kept = await second.client.get(ResourceQuota, where);
  assert.deepEqual(kept.status, { hard, used: { configmaps: "7" } });
  assert.equal((await second.client.list(ConfigMap, { namespace: "default" })).items.length, 7);
  assert.equal(await create(second, "more"), false);
});
