import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "../../src/api/builtin/custom-resource-definition.ts";
import { Event } from "../../src/api/builtin/event.ts";
import { KnativeService } from "../../src/api/builtin/knative.ts";
import { HorizontalPodAutoscaler } from "../../src/api/builtin/scaling.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import type { Client } from "../../src/client/client.ts";
import { classFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { createPrometheus } from "../../src/controllers/class-runtime/nfr/prometheus.ts";
import { type ClassRuntimeSettings, defaultSettings } from "../../src/controllers/class-runtime/settings.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { customResourceDefinition } from "../../src/kube/crd.ts";
import { becomesQuiet, eventually, namespace, startClassWorld } from "./class-runtime-world.ts";

const quick = (features: Partial<ClassRuntimeSettings["features"]>): Partial<ClassRuntimeSettings> => ({
  features: { ...defaultSettings.features, nfrEnforcement: true, ...features },
  enforcement: { ...defaultSettings.enforcement, stabilityMs: 1_000, cooldownMs: 1_000, maxRetries: 100 },
  retry: { baseMs: 1_000, maxMs: 2_000 },
});

const key = { namespace, name: "cart" };

const deploy = (client: Client, spec: Partial<ClassRuntime["spec"]> = {}): Promise<ClassRuntime> =>
  client.create(ClassRuntime, {
    metadata: key,
    spec: {
      addons: [],
      functions: [classFunction("shop.Cart.add", { min_scale: 2 })],
      enforcement: { mode: "enforce", dimensions: ["replicas"] },
      ...spec,
    },
  });

const reaches = (client: Client, phase: string): Promise<ClassRuntime> =>
  eventually(
    () => client.get(ClassRuntime, key),
    (found) => assert.equal(found.status?.phase, phase, JSON.stringify(found.status)),
  );

const recommend = (client: Client, replicas: number): Promise<ClassRuntime> =>
  client.patch(
    ClassRuntime,
    key,
    { type: "merge", value: { status: { nfr_recommendations: { replicas } } } },
    { subresource: "status", fieldManager: "analyst" },
  );

const enforced = (client: Client, reason: string): Promise<ClassRuntime> =>
  eventually(
    () => client.get(ClassRuntime, key),
    ({ status }) =>
      assert.equal(findCondition(status?.conditions, "NfrEnforced")?.reason, reason, JSON.stringify(status)),
  );

test("replicas are enforced on a Deployment, and an edit by hand is a conflict", {
  timeout: 180_000,
}, async (context) => {
  const { client, metrics } = await startClassWorld(context, { settings: quick({}) });
  await deploy(client);
  await reaches(client, "available");
  const replicasOf = async (): Promise<number | undefined> => (await client.get(Deployment, key)).spec.replicas;
  assert.equal(await replicasOf(), 2);

  await recommend(client, 3);
  const applied = await enforced(client, "Applied");
  assert.equal(await replicasOf(), 3);
  assert.deepEqual(
    applied.status?.last_applied_recommendations?.map(({ component, dimension, target, basis, confidence }) => [
      component,
      dimension,
      target,
      basis,
      confidence,
    ]),
    [["function", "replicas", 3, "enforcer", 1]],
  );
  assert.deepEqual(applied.status?.nfr_recommendations, { replicas: 3 });
  assert.equal(findCondition(applied.status?.conditions, "NfrObserved")?.status, "True");
  const { managedFields } = (await client.get(Deployment, key)).metadata;
  assert.ok(managedFields?.some(({ manager }) => manager === "oprc-crm-enforcer"));
  await reaches(client, "available");

  await client.apply(Deployment, { metadata: key, spec: { replicas: 3 } }, { fieldManager: "by-hand", force: true });
  await recommend(client, 4);
  const conflict = await enforced(client, "EnforceConflict");
  assert.equal(
    findCondition((await reaches(client, "degraded")).status?.conditions, "Degraded")?.reason,
    "EnforceConflict",
  );
  assert.deepEqual(conflict.status?.nfr_recommendations, { replicas: 4 });
  assert.match(
    findCondition(conflict.status?.conditions, "NfrEnforced")?.message ?? "",
    /^Field manager ownership conflict applying enforcement\. Object: Deployment\/cart\.$/,
  );
  assert.match(metrics.expose(), /crm_nfr_recommendation\{dimension="replicas"\} 4/, "whoever recommended it");

  await client.apply(Deployment, { metadata: key }, { fieldManager: "by-hand", force: true });
  await enforced(client, "Applied");
  await reaches(client, "available");
  assert.equal(await replicasOf(), 4);
  await eventually(
    () => client.list(Event, { namespace }),
    ({ items }) => {
      const reasons = new Set(items.map(({ reason }) => reason));
      for (const reason of ["NFRApplied", "NFRSkippedStability", "NFRApplyFailed"])
        assert.ok(reasons.has(reason), reason);
    },
  );
  const text = metrics.expose();
  assert.match(text, /crm_nfr_enforcement_apply_total\{dimension="replicas"\} 2/);
  assert.match(text, /crm_nfr_enforcement_fail_total\{reason="EnforceConflict"\} [1-9]/);
  assert.match(text, /crm_nfr_enforcement_latency_seconds_count [1-9]/);
});

const details = (values: Readonly<Record<string, { readonly confidence: number; readonly load?: number }>>) =>
  Object.fromEntries(
    Object.entries(values).map(([dimension, { confidence, load }]) => [
      dimension,
      { observed_at: new Date().toISOString(), confidence, ...(load !== undefined && { load }) },
    ]),
  );

test("cpu and memory pass their own gates, and what is not enforced says so", { timeout: 180_000 }, async (context) => {
  const enforcement = { ...defaultSettings.enforcement, stabilityMs: 100, cooldownMs: 100 };
  const { client, deployments } = await startClassWorld(context, { settings: { ...quick({}), enforcement } });
  await deploy(client, {
    addons: ["odgm"],
    functions: [classFunction("shop.Cart.add", { cpu_request: "200m", memory_request: "64Mi", cpu_limit: "2" })],
    enforcement: { mode: "enforce", dimensions: ["replicas", "memory", "cpu", "odgm_replicas"] },
  });
  await reaches(client, "available");
  const advise = (recommended: Readonly<Record<string, number>>, detail: ReturnType<typeof details>) =>
    client.patch(
      ClassRuntime,
      key,
      {
        type: "merge",
        value: { status: { nfr_recommendations: recommended, nfr_recommendation_details: detail } },
      },
      { subresource: "status", fieldManager: "analyst" },
    );
  const resources = async () => (await client.get(Deployment, key)).spec.template.spec.containers[0]?.resources;
  const says = (pattern: RegExp): Promise<ClassRuntime> =>
    eventually(
      () => client.get(ClassRuntime, key),
      ({ status }) =>
        assert.match(findCondition(status?.conditions, "NfrEnforced")?.message ?? "", pattern, JSON.stringify(status)),
    );

  await advise({ memory: 128 * mebibyte }, details({ memory: { confidence: 0.4 } }));
  await says(/memory has confidence 0\.4; 0\.5 is needed/);
  await advise({ memory: 128 * mebibyte }, details({ memory: { confidence: 0.9 } }));
  await eventually(resources, (found) => assert.notEqual(found?.requests?.["memory"], "64Mi"));

  await advise({ cpu: 300 }, details({ cpu: { confidence: 0.9 } }));
  await says(/cpu is not changed without a load query/);
  await advise({ cpu: 300 }, details({ cpu: { confidence: 0.9, load: 0.95 } }));
  await says(/cpu is not changed at a load above 0\.8/);
  assert.equal((await resources())?.requests?.["cpu"], "200m");
  await advise({ cpu: 300 }, details({ cpu: { confidence: 0.9, load: 0.3 } }));
  // Both go on until less than a fifth is missing, and neither loses what the other has reached.
  const reached = await eventually(resources, (found) => {
    assert.equal(found?.requests?.["memory"], "112Mi");
    assert.equal(found?.requests?.["cpu"], "300m");
  });
  assert.deepEqual(reached?.limits, { cpu: "2", memory: "176Mi" });
  // A quarter at once, so that a wrong measurement does not hurt much.
  const steps = (resource: string): readonly unknown[] => [
    ...new Set(
      deployments
        .filter(({ metadata }) => metadata.name === key.name)
        .flatMap(({ spec }) => spec.template.spec.containers[0]?.resources?.requests?.[resource] ?? []),
    ),
  ];
  assert.deepEqual(steps("memory"), ["64Mi", "80Mi", "96Mi", "112Mi"]);
  assert.deepEqual(steps("cpu"), ["200m", "250m", "300m"]);
  const { managedFields } = (await client.get(Deployment, key)).metadata;
  const own = JSON.stringify(managedFields?.find(({ manager }) => manager === "oprc-crm-enforcer")?.fieldsV1);
  for (const field of ["f:cpu", "f:memory"]) assert.ok(own.includes(`"${field}"`), own);

  await advise({ odgm_replicas: 3 }, details({ odgm_replicas: { confidence: 0.9 } }));
  const told = await says(
    /odgm_replicas is only recommended: the health of the data store's partitions cannot be read/,
  );
  assert.equal(findCondition(told.status?.conditions, "NfrEnforced")?.reason, "NotEnforceable");
  assert.equal((await client.get(Deployment, { namespace, name: "cart-odgm" })).spec.replicas, 1);
  await reaches(client, "available");
});

const mebibyte = 1024 * 1024;

test("with an autoscaler its minimum is raised, within the bound", { timeout: 180_000 }, async (context) => {
  const { client } = await startClassWorld(context, {
    settings: {
      ...quick({ hpa: true }),
      enforcement: { ...defaultSettings.enforcement, stabilityMs: 500, cooldownMs: 500, maxReplicas: 5 },
    },
  });
  await deploy(client);
  await reaches(client, "available");
  await recommend(client, 9);
  await enforced(client, "Applied");
  const { spec } = await client.get(HorizontalPodAutoscaler, key);
  assert.deepEqual([spec.minReplicas, spec.maxReplicas], [5, 5]);
  await eventually(
    () => client.list(Event, { namespace }),
    ({ items }) => assert.ok(items.some(({ reason }) => reason === "NFRClampedMax")),
  );
});

test("a kind that is defined but not served yet is waited for, and what serves meanwhile stays", {
  timeout: 180_000,
}, async (context) => {
  const { client, history } = await startClassWorld(context, {
    settings: { timeouts: { ...defaultSettings.timeouts, missingMs: 600_000 } },
  });
  await deploy(client, { selected_template: "kn" });
  await reaches(client, "available");
  const definition = customResourceDefinition(KnativeService);
  const served = (isServed: boolean) => definition.spec.versions.map((version) => ({ ...version, served: isServed }));
  await client.create(CustomResourceDefinition, {
    ...definition,
    spec: { ...definition.spec, versions: served(false) },
  });
  await reaches(client, "progressing");
  assert.equal((await client.get(Deployment, key)).status?.availableReplicas, 2);
  await client.patch(
    CustomResourceDefinition,
    { name: definition.metadata.name },
    { type: "merge", value: { spec: { versions: served(true) } } },
  );
  await eventually(
    () => client.get(KnativeService, key),
    () => undefined,
  );
  await eventually(
    () => client.list(Deployment, { namespace }),
    ({ items }) => assert.equal(items.length, 0),
  );
  assert.deepEqual(
    history.filter(({ status }) => status?.phase === "degraded").map(({ status }) => status?.message),
    [],
  );
});

test("Knative is used once it is there, is enforced through minScale, and leaves nothing behind", {
  timeout: 180_000,
}, async (context) => {
  const { client, installKind } = await startClassWorld(context, { settings: quick({}) });
  await deploy(client, { selected_template: "kn", functions: [classFunction("a"), classFunction("b")] });
  const early = await reaches(client, "available");
  assert.match(
    early.status?.message ?? "",
    /template "kn" cannot be used here because its API is not served; dev is used instead/,
  );

  await installKind(KnativeService);
  const services = await eventually(
    () => client.list(KnativeService, { namespace }),
    ({ items }) => assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), ["cart-fn-0", "cart-fn-1"]),
  );
  for (const { metadata } of services.items) {
    await client.patch(
      KnativeService,
      { namespace, name: metadata.name },
      {
        type: "merge",
        value: {
          status: {
            observedGeneration: metadata.generation,
            url: `http://${metadata.name}.example`,
            conditions: [{ type: "Ready", status: "True" }],
          },
        },
      },
      { subresource: "status" },
    );
  }
  const ready = await reaches(client, "available");
  await eventually(
    () => client.get(ClassRuntime, key),
    ({ status }) =>
      assert.deepEqual(
        status?.functions?.map(({ template, observed_url }) => [template, observed_url]),
        [
          ["knative", "http://cart-fn-0.example"],
          ["knative", "http://cart-fn-1.example"],
        ],
      ),
  );
  assert.equal((await client.list(Deployment, { namespace })).items.length, 0, ready.status?.message);

  await recommend(client, 2);
  await enforced(client, "Applied");
  for (const { spec } of (await client.list(KnativeService, { namespace })).items) {
    assert.equal(spec.template.metadata?.annotations?.["autoscaling.knative.dev/minScale"], "2");
    assert.equal(spec.template.spec.containers[0]?.image, "example/echo:1");
  }

  await client.delete(ClassRuntime, key);
  await eventually(
    () => client.list(ClassRuntime, { namespace }),
    ({ items }) => assert.equal(items.length, 0),
  );
  assert.equal((await client.list(KnativeService, { namespace })).items.length, 0);
});

test("recommendations come from Prometheus", { timeout: 180_000 }, async (context) => {
  const http = async ({ target }: { readonly target: string }) => {
    const query = new URL(target, "http://p").searchParams.get("query") ?? "";
    const value = query.includes("cpu_usage") ? "1200" : query.includes("working_set") ? "1000000" : "10";
    const body = Buffer.from(JSON.stringify({ status: "success", data: { result: [{ values: [[1, value]] }] } }));
    return {
      status: 200,
      headers: {},
      body: (async function* () {
        yield body;
      })(),
    };
  };
  const prometheus = createPrometheus({ env: systemEnv, http });
  const { client, metrics, writes } = await startClassWorld(context, {
    settings: quick({}),
    analyzer: { prometheus, intervalMs: 300 },
  });
  await deploy(client);
  const observed = await enforced(client, "Applied");
  assert.deepEqual(observed.status?.nfr_recommendations, { replicas: 3, cpu: 1560, memory: 1200000 });
  assert.equal(observed.status?.nfr_recommendation_details?.["replicas"]?.confidence, 0.6);
  assert.equal((await client.get(Deployment, key)).spec.replicas, 3);
  assert.match(metrics.expose(), /crm_nfr_recommendation\{dimension="replicas"\} 3/);
  await reaches(client, "available");
  // It is measured three times meanwhile, and a value that holds is not written again.
  await becomesQuiet(writes, 1_000);
});
