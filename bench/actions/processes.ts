// One-step actions as real processes: the local node runs `capstan act` for each of them.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { Deployment } from "../../src/api/builtin/workloads.ts";
import { KubernetesExecution } from "../../src/api/kubernetes-execution.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { startControlPlane } from "../../src/control-plane.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { systemEnv } from "../../src/env/system.ts";
import { silentLogger } from "../../src/runtime/log.ts";
import { inFlight, observe } from "./observe.ts";
import { spread } from "./stood-in.ts";

export interface Processes {
  readonly actions: number;
  readonly jobDoneToStatusMs: { readonly p50: number; readonly p99: number };
  /** From the Job's creation to its end: the process itself, its start included. */
  readonly actionMs: { readonly p50: number; readonly p99: number };
  /** From submitting to the end, without that. */
  readonly overheadMs: { readonly p50: number; readonly p99: number };
  readonly effects: number;
}

export async function measureProcesses(actions: number): Promise<Processes> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
  const bundle = join(import.meta.dirname, "../../bin/capstan.mjs");
  const nowhere = "http://127.0.0.1:9";
  const plane = await startControlPlane({
    env: systemEnv,
    version: "0.0.0-bench",
    dataDir,
    image: "capstan:bench",
    processes: "own",
    command: [process.execPath, existsSync(bundle) ? bundle : join(import.meta.dirname, "../../src/cli/main.ts")],
    searchPath: process.env["PATH"] ?? "",
    baseUrls: { hangar: nowhere, modrinth: nowhere, paper: nowhere, dockerHub: nowhere },
    classRuntimes: defaultInstallation,
    grpcPort: { port: 0, isChosen: true },
    registry: { namespace: "capstan-system" },
    database: join(dataDir, "capstan.db"),
    apiPort: 0,
    httpPort: 0,
    assets: new Map(),
    log: silentLogger,
    objects: [],
  });
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [plane.kubeconfig] });
  const observer = await observe(client);
  try {
    await client.create(Namespace, { metadata: { name: "bench" } });
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
    await client.create(Deployment, {
      metadata: { namespace: "bench", name: "web" },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
    const jobDoneToStatus: number[] = [];
    const overhead: number[] = [];
    const action: number[] = [];
    await inFlight(actions, 2, async (index) => {
      const name = `action-${index}`;
      const submitted = performance.now();
      await client.create(KubernetesExecution, {
        metadata: { namespace: "bench", name },
        spec: { action: "rollout_restart", parameters: { rolloutRestart: { deployment: "web", namespace: "bench" } } },
      } as never);
      const { jobCreated = 0, jobDone = 0, ended = 0, phase, message } = await observer.ended(name);
      if (phase === "failed") throw new Error(`${name} has failed: ${message}`);
      jobDoneToStatus.push(ended - jobDone);
      action.push(jobDone - jobCreated);
      overhead.push(ended - submitted - (jobDone - jobCreated));
    });
    const { metadata } = await client.get(Deployment, { namespace: "bench", name: "web" });
    return {
      actions,
      jobDoneToStatusMs: spread(jobDoneToStatus),
      actionMs: spread(action),
      overheadMs: spread(overhead),
      // Each of them changes the template once.
      effects: (metadata.generation ?? 1) - 1,
    };
  } finally {
    observer.stop();
    await close();
    await plane.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
