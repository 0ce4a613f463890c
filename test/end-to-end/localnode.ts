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
import { createLocalNode, type LocalNodeOptions } from "../../src/localnode/local-node.ts";
import type { Logger } from "../../src/runtime/log.ts";
import { createManager, type Manager } from "../../src/runtime/manager.ts";

/** The embedded API in memory with a local node, and a client that is its administrator. */
export interface NodeWorld {
  readonly client: Client;
  readonly manager: Manager;
  readonly handle: HttpHandler;
  readonly dataDir: string;
}

export async function startNode(context: TestContext, options: Partial<LocalNodeOptions> = {}): Promise<NodeWorld> {
  const dataDir = mkdtempSync(join(tmpdir(), "capstan-node-"));
  const node = createLocalNode({
    env: systemEnv,
    version: "0.0.0-test",
    dataDir,
    image: "capstan:test",
    processes: "own",
    command: [process.execPath, fakeProgram],
    ...options,
  });
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
    podLogs: node.podLogs,
  });
  const handle: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  const client = createClient({ env: systemEnv, transport: handle });
  const manager = createManager({ env: systemEnv, client, ...(process.env["CAPSTAN_TEST_LOG"] && { log: loud }) });
  for (const controller of node.controllers({ client, serverUrl: "https://127.0.0.1:1", caCertificate: "none" }))
    manager.add(controller);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    await node.stop();
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  await client.create(Namespace, { metadata: { name: "test" } });
  return { client, manager, handle, dataDir };
}

/** Stands for our own program: does what its arguments say. */
const fakeProgram = fileURLToPath(new URL("localnode-program.mjs", import.meta.url));

/** Set CAPSTAN_TEST_LOG to see what goes wrong inside. */
const loud: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string, fields: unknown) => console.error("warn", message, fields),
  error: (message: string, fields: unknown) => console.error("error", message, fields),
  with: () => loud,
} as unknown as Logger;
