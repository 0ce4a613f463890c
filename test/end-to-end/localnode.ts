import type { TestContext } from "node:test";
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
}

export async function startNode(context: TestContext, options: Partial<LocalNodeOptions> = {}): Promise<NodeWorld> {
  const node = createLocalNode({ env: systemEnv, version: "0.0.0-test", ...options });
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }],
  });
  const handle: HttpHandler = (request) =>
    server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer t" } });
  const client = createClient({ env: systemEnv, transport: handle });
  const manager = createManager({ env: systemEnv, client, ...(process.env["CAPSTAN_TEST_LOG"] && { log: loud }) });
  for (const controller of node.controllers({ client, caCertificate: "none" })) manager.add(controller);
  await manager.start();
  context.after(async () => {
    await manager.stop();
    await node.stop();
    await server.close();
  });
  await client.create(Namespace, { metadata: { name: "test" } });
  return { client, manager, handle };
}

/** Set CAPSTAN_TEST_LOG to see what goes wrong inside. */
const loud: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (message: string, fields: unknown) => console.error("warn", message, fields),
  error: (message: string, fields: unknown) => console.error("error", message, fields),
  with: () => loud,
} as unknown as Logger;
