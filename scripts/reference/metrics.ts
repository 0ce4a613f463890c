// docs/reference/metrics.md: every metric of a whole control plane, asked of one that was really started.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startControlPlane } from "../../src/control-plane.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { systemEnv } from "../../src/env/system.ts";
import { leaderElectionMetrics } from "../../src/runtime/leader-election.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import type { MetricDescription } from "../../src/runtime/metrics.ts";
import { code, generatedFrom, page, table } from "./markdown.ts";

export async function metricsPage(): Promise<string> {
  const all = await describedMetrics();
  const sections = groups.map(([prefixes, title]) => {
    const rows = all.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix))).map(rowOf);
    return [`## ${title}`, table(["Metric", "Type", "Labels", "What it says"], rows)];
  });
  return page([
    generatedFrom("the metrics of a running control plane"),
    "# Metrics",
    "Served on the HTTP port under `/metrics` in Prometheus' text format. [deploy/observability](../../deploy/observability) has a Grafana dashboard and alert rules that use them.",
    ...sections.flat(),
  ]);
}

/** Every metric belongs to one of these. */
const groups: readonly (readonly [readonly string[], string])[] = [
  [["capabilityresolver_"], "Capability resolver"],
  [["crm_"], "Class runtimes"],
  [["minecraft_operator_"], "Versions and Minecraft servers"],
  [
    [
      "kubernetes_executor_",
      "kubernetesexecution_",
      "kubernaut_kubernetesexecutor_",
      "condition_evaluations_",
      "remediation",
      "workflowexecution_",
    ],
    "Actions",
  ],
  [["capstan_registry_"], "Service registry"],
  [["controller_runtime_", "workqueue_", "leader_election_"], "Controller runtime"],
  [
    ["capstan_watch_", "capstan_cache_", "capstan_handler_", "capstan_own_", "capstan_workqueue_"],
    "Watches and caches",
  ],
  [["rest_client_"], "Requests to the Kubernetes API"],
  [["capstan_audit_", "capstan_trace_", "capstan_dashboard_"], "Audit trail, traces and dashboard"],
];

const rowOf = ({ name, type, labels, help }: MetricDescription): readonly string[] => [
  code(name),
  type,
  labels.map(code).join(", "),
  help,
];

export async function describedMetrics(): Promise<readonly MetricDescription[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-reference-"));
  const nowhere = "http://127.0.0.1:9";
  try {
    const plane = await startControlPlane({
      env: systemEnv,
      version: "0.0.0",
      dataDir,
      image: "capstan:reference",
      processes: "own",
      command: [],
      searchPath: "",
      baseUrls: { hangar: nowhere, modrinth: nowhere, paper: nowhere, dockerHub: nowhere },
      classRuntimes: defaultInstallation,
      grpcPort: { port: 0, isChosen: true },
      registry: { namespace: "capstan-system" },
      database: join(dataDir, "capstan.db"),
      // Switched on, so that its metrics are there; nothing is recorded.
      traces: { endpoint: nowhere, sampleRatio: 0 },
      apiPort: 0,
      httpPort: 0,
      assets: new Map(),
      log: silentLogger,
      objects: [],
    });
    // Only replicas elect.
    leaderElectionMetrics(plane.metrics);
    const described = plane.metrics.describe();
    await plane.stop();
    const strangers = described.filter(
      ({ name }) => !groups.some(([prefixes]) => prefixes.some((prefix) => name.startsWith(prefix))),
    );
    if (strangers.length > 0)
      throw new Error(
        `no group for ${strangers.map(({ name }) => name).join(", ")}: add one in scripts/reference/metrics.ts`,
      );
    return described;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
