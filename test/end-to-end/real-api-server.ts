import type { TestContext } from "node:test";
import { startRealServer } from "../../scripts/cluster/api-server.ts";
import type { Client } from "../../src/client/client.ts";
import { clientFromKubeconfig } from "../../src/client/connect.ts";
import { systemEnv } from "../../src/env/system.ts";

/** etcd and kube-apiserver without a node: what the API itself does with our objects, and nothing that runs them. */
export async function startRealApiServer(context: TestContext): Promise<Client> {
  const server = await startRealServer();
  const { client, close } = await clientFromKubeconfig({ env: systemEnv, paths: [server.kubeconfig] });
  context.after(async () => {
    await close();
    await server.stop();
  });
  return client;
}
