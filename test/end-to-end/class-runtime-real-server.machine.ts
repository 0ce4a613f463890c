import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { missingRealServer } from "../../scripts/cluster/api-server.ts";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { HorizontalPodAutoscaler } from "../../src/api/builtin/scaling.ts";
import { Service } from "../../src/api/builtin/service.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { readManifests } from "../../src/cli/manifest-files.ts";
import { defaultSettings } from "../../src/controllers/class-runtime/settings.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { defineReconciler } from "../../src/runtime/controller.ts";
import { createManager } from "../../src/runtime/manager.ts";
import { done } from "../../src/runtime/result.ts";
import { becomesQuiet, eventually, namespace, startClassWorld } from "./class-runtime-world.ts";
import { startRealApiServer } from "./real-api-server.ts";

/** What the cluster's own controllers would do to a Deployment; there is no node. */
const availableAtOnce = defineReconciler<Deployment>({
  name: "stand-in",
  reconciles: Deployment,
  async reconcile(key, { read, write }) {
    const found = read.get(Deployment, key);
    const count = found?.spec.replicas ?? 1;
    const { observedGeneration, availableReplicas } = found?.status ?? {};
    if (found === undefined || (observedGeneration === found.metadata.generation && availableReplicas === count))
      return done;
    const status = {
      observedGeneration: found.metadata.generation,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
      readyReplicas: count,
    };
    await write.patch(Deployment, key, { type: "merge", value: { status } }, { subresource: "status" });
    return done;
  },
});

test("on a real kube-apiserver", { skip: missingRealServer, timeout: 300_000 }, async (context) => {
  const real = await startRealApiServer(context);
  const { client, writes } = await startClassWorld(context, {
    client: real,
    settings: {
      enforcement: { ...defaultSettings.enforcement, stabilityMs: 500, cooldownMs: 500 },
      retry: { baseMs: 300, maxMs: 1_000 },
    },
  });
  const node = createManager({ env: systemEnv, client });
  context.after(() => node.stop());
  node.add(availableAtOnce);
  await node.start();
  const names: string[] = [];
  const reaches = (name: string, phase: string): Promise<ClassRuntime> =>
    eventually(
      () => client.get(ClassRuntime, { namespace, name }),
      (found) => assert.equal(found.status?.phase, phase, `${name}: ${JSON.stringify(found.status)}`),
    );
  const managersOf = async (name: string): Promise<readonly string[]> =>
    [
      ...new Set(
        (await client.get(Deployment, { namespace, name })).metadata.managedFields?.flatMap(
          ({ manager }) => manager ?? [],
        ),
      ),
    ].sort();

  await context.test("every example is taken unchanged and becomes available", async () => {
    for (const { object } of readManifests(globSync("examples/{oaas,class-runtime}/*.yaml").sort())) {
      const kind: KindRef = object.kind === "ConfigMap" ? ConfigMap : ClassRuntime;
      if (kind === ClassRuntime) names.push(object.metadata.name);
      await client.create(kind, { ...object, metadata: { ...object.metadata, namespace } });
    }
    for (const name of names) await reaches(name, "available");
    assert.ok((await managersOf("hello-class")).includes("oprc-crm"));
  });

  await context.test("at rest nothing is written: the server's defaults are no difference to us", async () => {
    await becomesQuiet(writes, 2_000);
  });

  await context.test("a second manager's field is a conflict until it is given back", async () => {
    const target = { metadata: { name: "hello-class", namespace } };
    await client.apply(Deployment, { ...target, spec: { replicas: 2 } }, { fieldManager: "other", force: true });
    const sick = await reaches("hello-class", "degraded");
    assert.equal(findCondition(sick.status?.conditions, "Degraded")?.reason, "Conflict");
    assert.match(sick.status?.message ?? "", /applying Deployment\/hello-class\. Fields: \.spec\.replicas/);
    await client.apply(Deployment, target, { fieldManager: "other", force: true });
    await reaches("hello-class", "available");
  });

  await context.test("replicas, memory and cpu are enforced under a manager of their own, and all stay", async () => {
    const now = { observed_at: new Date().toISOString(), confidence: 0.9, load: 0.2 };
    const status = {
      nfr_recommendations: { replicas: 4, memory: 800 * 1024 * 1024, cpu: 600 },
      nfr_recommendation_details: { memory: now, cpu: now },
    };
    await client.patch(
      ClassRuntime,
      { namespace, name: "enforced" },
      { type: "merge", value: { status } },
      { subresource: "status" },
    );
    await eventually(
      () => client.get(Deployment, { namespace, name: "enforced" }),
      ({ spec }) => {
        const { requests } = spec.template.spec.containers[0]?.resources ?? {};
        // Which step comes first decides about the last one; all end less than a fifth from 208Mi and 150m.
        assert.equal(spec.replicas, 4);
        assert.ok(Number.parseInt(String(requests?.["memory"]), 10) >= 176, String(requests?.["memory"]));
        assert.ok(Number.parseInt(String(requests?.["cpu"]), 10) >= 130, String(requests?.["cpu"]));
      },
    );
    assert.ok((await managersOf("enforced")).includes("oprc-crm-enforcer"));
    await reaches("enforced", "available");
  });

  await context.test("deleting leaves nothing", async () => {
    for (const name of names) await client.delete(ClassRuntime, { namespace, name });
    await eventually(
      () => client.list(ClassRuntime, { namespace }),
      ({ items }) => assert.equal(items.length, 0),
    );
    for (const kind of [Deployment, Service, HorizontalPodAutoscaler] as readonly KindRef[])
      assert.deepEqual((await client.list(kind, { namespace, labelSelector: "oaas.io/owner" })).items, []);
  });
});
