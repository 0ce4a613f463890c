import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readManifests } from "../../src/cli/manifest-files.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../../src/control-plane.ts";
import { defaultInstallation } from "../../src/controllers/class-runtime/installation.ts";
import { defaultBaseUrls } from "../../src/controllers/minecraft/base-urls.ts";
import { sleep } from "../../src/env/env.ts";
import { systemEnv } from "../../src/env/system.ts";
import { silentLogger } from "../../src/runtime/log.ts";

/** A whole control plane on a temporary directory and free ports, and a client that reaches it over TLS. */
export interface Embedded {
  readonly plane: ControlPlane;
  readonly client: Client;
  readonly dataDir: string;
  /** Before the test ends; the directory stays for another start. */
  stop(): Promise<void>;
}

export async function startEmbedded(
  context: TestContext,
  manifests: readonly string[] = [],
  chosen: Partial<
    Pick<
      ControlPlaneOptions,
      "env" | "command" | "threads" | "actions" | "demo" | "dataDir" | "database" | "log" | "baseUrls"
    >
  > = {},
): Promise<Embedded> {
  const dataDir = chosen.dataDir ?? mkdtempSync(join(tmpdir(), "capstan-test-"));
  const plane = await startControlPlane({
    env: systemEnv,
    version: "0.0.0-test",
    dataDir,
    image: "capstan:test",
    processes: "own",
    command: [process.execPath, join(import.meta.dirname, "../../src/cli/main.ts")],
    searchPath: process.env["PATH"] ?? "",
    // Nothing listens there, and what the demo asks is answered from inside: end-to-end tests never leave this machine.
    baseUrls: chosen.demo
      ? { ...defaultBaseUrls, modrinth: nowhere }
      : { hangar: nowhere, modrinth: nowhere, paper: nowhere, dockerHub: nowhere },
    classRuntimes: defaultInstallation,
    grpcPort: { port: 0, isChosen: true },
    registry: { namespace: "capstan-system" },
    database: join(dataDir, "capstan.db"),
    apiPort: 0,
    httpPort: 0,
    assets: new Map(),
    log: silentLogger,
    objects: readManifests(manifests).map(({ object }) => object),
    ...chosen,
  });
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [plane.kubeconfig] });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= close().then(() => plane.stop());
    return stopped;
  };
  context.after(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { plane, client, dataDir, stop };
}

const nowhere = "http://127.0.0.1:9";
const patienceMs = 60_000;
const pollMs = 25;

/** Asks until the answer passes; the last objection is the failure's message. */
export async function eventually<T>(ask: () => Promise<T>, passes: (answer: T) => void): Promise<T> {
  const deadline = systemEnv.monotonicMs() + patienceMs;
  while (true) {
    try {
      const answer = await ask();
      passes(answer);
      return answer;
    } catch (error) {
      if (systemEnv.monotonicMs() > deadline) throw error;
    }
    await sleepAwake(pollMs);
  }
}

/** The system's timers do not keep a process alive, and a waiting test must. */
async function sleepAwake(delayMs: number): Promise<void> {
  const keepAlive = setInterval(() => undefined, 1_000);
  await sleep(systemEnv, delayMs);
  clearInterval(keepAlive);
}
