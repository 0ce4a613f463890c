// The runtime against a real Kubernetes API server: `npm run cluster -- npm run test:machine -- src/runtime`, or any
// KUBECONFIG whose user may create namespaces and CRDs. Real time, so these tests take some seconds.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { missingRealServer, type RealServer, startRealServer } from "../../scripts/cluster/api-server.ts";
import { Namespace } from "../api/builtin/cluster.ts";
import { ConfigMap } from "../api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../api/builtin/custom-resource-definition.ts";
import type { Client } from "../client/client.ts";
import { type ClusterClient, clientFromKubeconfig } from "../client/connect.ts";
import { sleep } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import { customResourceDefinition } from "../kube/crd.ts";
import { defineKind } from "../kube/kind.ts";
import { controllerReference } from "../kube/owner-reference.ts";
import { integer, object, optional } from "../kube/schema/build.ts";
import { defineController } from "./controller.ts";
import { CoreEventKind } from "./events.ts";
import { createInformer } from "./informer.ts";
import { LeaseKind } from "./leader-election.ts";
import { silentLogger } from "./log.ts";
import { createManager } from "./manager.ts";

const group = `r${process.pid}.capstan.test`;
const Widget = defineKind({
  group,
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  description: "A thing with parts.",
  spec: object({ parts: integer() }),
  status: object({ made: optional(integer()) }),
});

const widgets = defineController({
  name: "widgets",
  reconciles: Widget,
  owns: [ConfigMap],
  finalizer: { name: `${group}/clean-up`, cleanUp: async () => ({ kind: "Finished" }) },
  observe: (widget) => widget,
  evaluate: ({ spec }) => Array.from({ length: spec.parts }, (_, part) => part),
  async act(parts, { object: widget, write }) {
    for (const part of parts) {
      const { name, namespace = "" } = widget.metadata;
      const metadata = { name: `${name}-${part}`, namespace, ownerReferences: [controllerReference(Widget, widget)] };
      const applied = await write.apply(ConfigMap, { metadata, data: { part: String(part) } });
      assert.ok(applied.ok);
    }
  },
  reduce: ({ decision }) => ({
    status: { made: decision.length },
    events: [{ type: "Normal", reason: "Made", message: `made ${decision.length} parts` }],
  }),
});

const { KUBECONFIG: named } = process.env;

describe("the runtime on a real API server", {
  skip: named ? false : missingRealServer,
  timeout: 120_000,
}, () => {
  const namespace = `capstan-runtime-${process.pid}`;
  let server: RealServer | undefined;
  let cluster: ClusterClient;
  let client: Client;
  before(async () => {
    if (!named) server = await startRealServer();
    cluster = await clientFromKubeconfig({
      env: systemEnv,
      paths: (named ?? server?.kubeconfig ?? "").split(":"),
      processEnv: process.env,
    });
    client = cluster.client;
    await client.create(Namespace, { metadata: { name: namespace } });
  });
  after(async () => {
    await client.delete(CustomResourceDefinition, { name: `widgets.${group}` }).catch(() => undefined);
    await client.delete(Namespace, { name: namespace });
    await cluster.close();
    await server?.stop();
  });

  async function eventually(check: () => unknown, withinMs = 30_000): Promise<void> {
    const deadlineMs = systemEnv.monotonicMs() + withinMs;
    for (;;) {
      try {
        await check();
        return;
      } catch (error) {
        if (systemEnv.monotonicMs() > deadlineMs) throw error;
      }
      await sleep(systemEnv, 50);
    }
  }

  test("two replicas: one leads, waits for its CRD, makes its children, is quiet, and hands over", async () => {
    const replica = (identity: string) => {
      const manager = createManager({
        env: systemEnv,
        client,
        instance: identity,
        namespaces: [namespace],
        leaderElection: { name: "capstan-test", namespace, identity },
      });
      manager.add(widgets);
      return manager;
    };
    const [first, second] = [replica("first"), replica("second")];
    await first.start();
    await eventually(() => assert.ok(first.isLeader));
    await second.start();
    const lease = await client.get(LeaseKind, { name: "capstan-test", namespace });
    assert.equal(lease.spec?.holderIdentity, "first");
    assert.match(lease.spec?.renewTime ?? "", /\.\d{6}Z$/);

    await client.create(CustomResourceDefinition, customResourceDefinition(Widget));
    await eventually(() => assert.ok(first.controllers[0]?.synced && second.controllers[0]?.synced));
    await client.create(Widget, { metadata: { name: "one", namespace }, spec: { parts: 3 } });
    await eventually(async () => assert.equal((await client.get(Widget, { name: "one", namespace })).status?.made, 3));
    assert.equal(
      first.controllers[0]?.reconciles,
      1,
      "neither the finalizer, nor the parts, nor the status wake it up again",
    );
    await sleep(systemEnv, 500);
    assert.equal(first.controllers[0]?.reconciles, 1);
    const events = await client.list(CoreEventKind, { namespace });
    assert.deepEqual(
      events.items.map(({ reason, message, involvedObject }) => [reason, message, involvedObject.name]),
      [["Made", "made 3 parts", "one"]],
    );

    await client.delete(ConfigMap, { name: "one-1", namespace });
    await eventually(() => client.get(ConfigMap, { name: "one-1", namespace }));
    await first.stop();
    await eventually(() => assert.ok(second.isLeader), 8_000);
    await client.delete(Widget, { name: "one", namespace });
    await eventually(() => assert.rejects(client.get(Widget, { name: "one", namespace })));
    await second.stop();
  });

  for (const watchList of [false, true]) {
    test(`a cache follows ${watchList ? "a streamed list" : "pages"} and every change`, async () => {
      const informer = createInformer(
        ConfigMap,
        { namespace, labelSelector: "follow=yes" },
        { env: systemEnv, client, log: silentLogger, watcher: { watchList, pageSize: 7 } },
      );
      const put = (name: string, follow: string, value: string): Promise<unknown> =>
        client.apply(
          ConfigMap,
          { metadata: { name, namespace, labels: { follow } }, data: { value } },
          { force: true },
        );
      for (let index = 0; index < 20; index++) await put(`thing-${index}`, "yes", "1");
      const abort = new AbortController();
      const run = informer.run(abort.signal);
      await informer.cache.whenSynced();
      assert.equal(informer.cache.size, 20);
      assert.equal(informer.cache.list()[0]?.metadata.managedFields, undefined);
      await put("thing-3", "yes", "2");
      await put("thing-4", "no", "1");
      await client.delete(ConfigMap, { name: "thing-5", namespace });
      await eventually(() => {
        assert.equal(informer.cache.get({ name: "thing-3", namespace })?.data?.["value"], "2");
        assert.equal(informer.cache.size, 18);
      });
      assert.deepEqual(
        [informer.health.counts.stale, informer.health.counts.timeTravels, informer.health.counts.faults],
        [0, 0, 0],
      );
      abort.abort();
      await run;
    });
  }
});
