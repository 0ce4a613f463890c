import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Namespace } from "../../src/api/builtin/cluster.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import type { Client } from "../../src/client/client.ts";
import { createClient } from "../../src/client/create-client.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import { createLocalNode, type LocalNode, type LocalNodeOptions } from "../../src/localnode/local-node.ts";
import type { Logger } from "../../src/runtime/log.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";

/** The embedded API in memory with a local node, and a client that is its administrator. */
export interface NodeWorld {
  readonly client: Client;
  readonly dataDir: string;
  /** How many requests that change something the API has got, reads left out. */
  readonly writes: () => number;
  readonly metrics: () => string;
  /** Stops the node and everything that runs on it, and starts another one in its place. */
  restart(): Promise<void>;
}

export async function startNode(context: TestContext, options: Partial<LocalNodeOptions> = {}): Promise<NodeWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-node-"));
  let writes = 0;
  let running: { readonly node: LocalNode; readonly manager: Manager } | undefined;
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
    podLogs: (query) => running?.node.podLogs(query) ?? noLogs(),
  });
  const transport: HttpHandler = (request) => {
    if (request.method !== "GET") writes++;
    return server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  };
  const client = createClient({ env: systemEnv, transport });

  const start = async (): Promise<void> => {
    const node = createLocalNode({
      env: systemEnv,
      version: "0.0.0-test",
      dataDir,
      image: "capstan:test",
      processes: "own",
      command: [process.execPath, program],
      ...options,
    });
    const manager = createManager({ env: systemEnv, client, ...(process.env["CAPSTAN_TEST_LOG"] && { log: loud }) });
    const access = { client, serverUrl: "https://127.0.0.1:1", caCertificate: "none" };
    for (const controller of node.controllers(access)) manager.add(controller);
    await manager.start();
    running = { node, manager };
  };
  const stop = async (): Promise<void> => {
    await running?.manager.stop();
    await running?.node.stop();
    running = undefined;
  };
  context.after(async () => {
    await stop();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  await start();
  await client.create(Namespace, { metadata: { name: "test" } });
  return {
    client,
    dataDir,
    writes: () => writes,
    metrics: () => running?.manager.metrics.expose() ?? "",
    async restart() {
      await stop();
      await start();
    },
  };
}

/** Stands for our own program: does what its arguments say. */
const program = fileURLToPath(new URL("localnode-program.mjs", import.meta.url));

async function* noLogs(): AsyncGenerator<Uint8Array> {}

/** Set CAPSTAN_TEST_LOG to see what goes wrong inside. */
const loud: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string, fields: unknown) => console.error("warn", message, fields),
  error: (message: string, fields: unknown) => console.error("error", message, fields),
  with: () => loud,
} as unknown as Logger;
