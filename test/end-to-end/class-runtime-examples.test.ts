import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { ConfigMap } from "../../src/api/builtin/configuration.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { readManifests } from "../../src/cli/manifest-files.ts";
import { findCondition } from "../../src/kube/condition.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

test("every example of a class, old forms included, is applied as it is and becomes available", {
  timeout: 180_000,
}, async (context) => {
  const { client } = await startClassWorld(context);
  const files = globSync("examples/{oaas,class-runtime}/*.yaml").sort();
  assert.ok(files.length >= 7, files.join(", "));
  const names: string[] = [];
  for (const { object } of readManifests(files)) {
    const kind: KindRef = object.kind === "ConfigMap" ? ConfigMap : ClassRuntime;
    if (kind === ClassRuntime) names.push(object.metadata.name);
    await client.create(kind, { ...object, metadata: { ...object.metadata, namespace } });
  }
  const found = new Map<string, ClassRuntime>();
  for (const name of names) {
    const available = await eventually(
      () => client.get(ClassRuntime, { namespace, name }),
      ({ status }) => assert.equal(status?.phase, "available", `${name}: ${status?.message}`),
    );
    found.set(name, available);
    assert.equal(available.status?.observed_generation, available.metadata.generation);
    assert.equal(available.status?.functions?.length, available.spec.functions?.length);
  }

  await context.test("the short form has its image and its data store", async () => {
    const { spec } = await client.get(Deployment, { namespace, name: "hello-class" });
    assert.equal(spec.template.spec.containers[0]?.image, "ghcr.io/pawissanutt/oaas-rs/echo-fn:latest");
    const odgm = await client.get(Deployment, { namespace, name: "hello-class-odgm" });
    const collections = odgm.spec.template.spec.containers[0]?.env?.find(({ name }) => name === "ODGM_COLLECTION");
    assert.deepEqual(
      (JSON.parse(collections?.value ?? "[]") as readonly { name: string }[]).map(({ name }) => name),
      ["orders", "users"],
    );
  });

  await context.test("null is the same as nothing", async () => {
    const record = found.get("example-record");
    assert.deepEqual(record?.spec.addons, ["odgm"], "a field with a default gets it");
    const { spec } = await client.get(Deployment, { namespace, name: "example-record-fn-0" });
    assert.deepEqual(
      spec.template.spec.containers[0]?.ports?.map(({ containerPort }) => containerPort),
      [80],
    );
    const odgm = await client.get(Deployment, { namespace, name: "example-record-odgm" });
    const env = new Map(odgm.spec.template.spec.containers[0]?.env?.map(({ name, value }) => [name, value]));
    assert.deepEqual(
      ["ODGM_NODE_ID", "ODGM_MEMBERS", "ODGM_LOG", "OPRC_CLS_ID"].map((name) => env.get(name)),
      ["1", "1", "debug,h2=info", "example.Record"],
    );
  });

  await context.test("a template that cannot be used yet says so, and telemetry that goes nowhere too", () => {
    const { status } = found.get("serverless") ?? {};
    assert.match(status?.message ?? "", /template "knative" cannot be used here because its API is not served/);
    assert.equal(findCondition(status?.conditions, "TelemetryDegraded")?.reason, "NoEndpoint");
    assert.equal(status?.functions?.find(({ function_key }) => function_key === "EventLogger.sum")?.ready, true);
  });

  await context.test("a mode in capitals is understood", () => {
    const { status } = found.get("enforced") ?? {};
    assert.equal(findCondition(status?.conditions, "NfrEnforced")?.reason, "NoRecommendation");
  });
});
