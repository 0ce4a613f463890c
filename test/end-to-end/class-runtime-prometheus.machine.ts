import assert from "node:assert/strict";
import { test } from "node:test";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../src/api/class-runtime.ts";
import { analyzerOf } from "../../src/control-plane/class-runtimes.ts";
import { classFunction } from "../../src/controllers/class-runtime/example-class.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { defaultSettings } from "../../src/controllers/class-runtime/settings.ts";
import { systemEnv } from "../../src/env/system.ts";
import { findCondition } from "../../src/kube/condition.ts";
import { eventually, namespace, startClassWorld } from "./class-runtime-world.ts";
import { missingPrometheus, startPrometheus } from "./prometheus.ts";

const mebibyte = 1024 * 1024;
const maxAgeMs = 8_000;
const key = { namespace, name: "cart" };

/** Two pods of the class use 1.2 cores and 100 MiB each; others with names like theirs use far more. */
const exported = (at: number): readonly string[] => {
  const pods = [
    { pod: "cart-5d8f7-aaaaa", cores: 1.2, bytes: 100 * mebibyte },
    { pod: "cart-5d8f7-bbbbb", cores: 1.2, bytes: 100 * mebibyte },
    { pod: "cartoon-5d8f7-ccccc", cores: 30, bytes: 9_000 * mebibyte },
    { pod: "cart-odgm-5d8f7-ddddd", cores: 40, bytes: 9_000 * mebibyte },
  ];
  return [
    ...pods.flatMap(({ pod, cores, bytes }) => {
      const labels = `{namespace="${namespace}",pod="${pod}",container="function"}`;
      return [
        `container_cpu_usage_seconds_total${labels} ${cores * at}`,
        `container_memory_working_set_bytes${labels} ${bytes}`,
      ];
    }),
    ...["0.05", "0.1", "1", "+Inf"].map(
      (le) =>
        `http_server_requests_seconds_bucket{oaas_owner="cart",namespace="${namespace}",le="${le}"} ${Math.floor(20 * at)}`,
    ),
    "node_busy 0.3",
  ];
};

test("a real Prometheus leads to recommendations, and those to enforcement", {
  skip: missingPrometheus,
  timeout: 300_000,
}, async (context) => {
  const prometheus = await startPrometheus(context, exported);
  const analyzer = analyzerOf(systemEnv, {
    ...defaultInstallation.analysis,
    prometheusUrl: prometheus.url,
    intervalMs: 500,
    loadQuery: "avg(node_busy)",
  });
  assert.ok(analyzer);
  const { client, metrics } = await startClassWorld(context, {
    analyzer,
    settings: {
      enforcement: { ...defaultSettings.enforcement, stabilityMs: 1_000, cooldownMs: 1_000, maxAgeMs },
    },
  });
  await client.create(ClassRuntime, {
    metadata: key,
    spec: {
      addons: [],
      functions: [classFunction("shop.Cart.add", { min_scale: 2 })],
      enforcement: { mode: "enforce", dimensions: ["replicas", "memory", "cpu"] },
    },
  });

  const observed = await eventually(
    () => client.get(ClassRuntime, key),
    ({ status }) => assert.equal(findCondition(status?.conditions, "NfrObserved")?.status, "True", status?.message),
  );
  const found = observed.status?.nfr_recommendations as Record<string, number>;
  // 2,400 millicores are 4.8 pods of 500; 30% and 20% are head room.
  assert.equal(found["replicas"], 5);
  assert.ok(Math.abs((found["cpu"] ?? 0) - 3_120) <= 40, `cpu ${found["cpu"]}`);
  assert.equal(found["memory"], 240 * mebibyte);
  assert.equal(observed.status?.nfr_recommendation_details?.["cpu"]?.load, 0.3);

  const enforced = await eventually(
    () => client.get(ClassRuntime, key),
    ({ status }) => {
      assert.equal(findCondition(status?.conditions, "NfrEnforced")?.status, "True", JSON.stringify(status));
      assert.equal(status?.phase, "available");
    },
  );
  const { spec, metadata } = await client.get(Deployment, key);
  assert.equal(spec.replicas, 5);
  const { resources } = spec.template.spec.containers[0] ?? {};
  assert.match(String(resources?.requests?.["memory"]), /^\d+Mi$/);
  assert.match(String(resources?.requests?.["cpu"]), /^\d+m$/);
  assert.ok(metadata.managedFields?.some(({ manager }) => manager === "oprc-crm-enforcer"));
  assert.deepEqual(
    [...new Set(enforced.status?.last_applied_recommendations?.map(({ dimension }) => dimension))].sort(),
    ["cpu", "memory", "replicas"],
  );
  assert.match(metrics.expose(), /crm_nfr_recommendation\{dimension="replicas"\} 5/);

  await prometheus.kill();
  const { status: last } = await client.get(ClassRuntime, key);
  const measuredAt = last?.nfr_recommendation_details?.["replicas"]?.observed_at ?? "";
  const leftMs = Date.parse(measuredAt) + maxAgeMs + 2_000 - Date.now();
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
  await client.patch(
    ClassRuntime,
    key,
    { type: "merge", value: { status: { nfr_recommendations: { replicas: 7 } } } },
    { subresource: "status" },
  );
  const old = await eventually(
    () => client.get(ClassRuntime, key),
    ({ status }) =>
      assert.equal(findCondition(status?.conditions, "NfrEnforced")?.reason, "RecommendationStale", status?.message),
  );
  assert.equal(old.status?.phase, "available", "somebody else's trouble is no trouble of the class");
  assert.equal((await client.get(Deployment, key)).spec.replicas, 5, "an old recommendation is not applied");
  assert.equal(old.status?.nfr_recommendations?.["replicas"], 7, "and it is never taken back");
});
