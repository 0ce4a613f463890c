import assert from "node:assert/strict";
import { test } from "node:test";
import { MetricsRegistry } from "../../runtime/metrics.ts";
import { manualEnv } from "../../testing/manual-env.ts";
import { solverMetrics } from "../version-solver/metrics.ts";
import { minecraftMetrics } from "./metrics.ts";

test("dashboards of the original operator find their metrics, with their labels and buckets", async () => {
  const registry = new MetricsRegistry();
  const env = manualEnv();
  const metrics = minecraftMetrics(registry, env);
  const broken = (): Promise<never> => Promise.reject(new Error("broken"));
  for (const controller of ["plugin", "papermcserver", "update", "backup"])
    await metrics.reconciled(controller, async () => undefined);
  await assert.rejects(metrics.reconciled("plugin", broken));
  await metrics.asked("hangar", async () => undefined);
  await assert.rejects(metrics.asked("hangar", broken));
  metrics.updated("success");
  metrics.updated("failure");
  const { timed } = solverMetrics(registry, env);
  await timed(async () => "answered");
  await timed(async () => undefined);
  const lines = registry.expose().split("\n");
  const expected = [
    'minecraft_operator_reconcile_total{controller="plugin"} 2',
    'minecraft_operator_reconcile_total{controller="papermcserver"} 1',
    'minecraft_operator_reconcile_total{controller="update"} 1',
    'minecraft_operator_reconcile_total{controller="backup"} 1',
    'minecraft_operator_reconcile_errors_total{controller="plugin"} 1',
    'minecraft_operator_plugin_api_requests_total{source="hangar"} 2',
    'minecraft_operator_plugin_api_errors_total{source="hangar"} 1',
    'minecraft_operator_solver_runs_total{type="plugin_version"} 2',
    'minecraft_operator_solver_runs_total{type="paper_version"} 2',
    'minecraft_operator_solver_errors_total{type="plugin_version"} 1',
    'minecraft_operator_solver_errors_total{type="paper_version"} 1',
    'minecraft_operator_updates_total{result="success"} 1',
    'minecraft_operator_updates_total{result="failure"} 1',
  ];
  assert.deepEqual(
    expected.filter((line) => !lines.includes(line)),
    [],
  );
  const bucketsOf = (name: string, label: string): readonly string[] =>
    lines.flatMap((line) => {
      const found = new RegExp(`^${name}_bucket\\{${label},le="([^"]+)"\\}`).exec(line);
      return found?.[1] ? [found[1]] : [];
    });
  assert.equal(
    bucketsOf("minecraft_operator_reconcile_duration_seconds", 'controller="plugin"').join(),
    "0.01,0.05,0.1,0.25,0.5,1,2.5,5,10,30,+Inf",
  );
  assert.equal(
    bucketsOf("minecraft_operator_plugin_api_duration_seconds", 'source="hangar"').join(),
    "0.05,0.1,0.25,0.5,1,2.5,5,10,30,+Inf",
  );
  assert.equal(
    bucketsOf("minecraft_operator_solver_duration_seconds", 'type="paper_version"').join(),
    "0.0001,0.0005,0.001,0.005,0.01,0.05,0.1,0.5,1,+Inf",
  );
});
