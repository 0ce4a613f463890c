/** A small tool that keeps itself registered: `node tool.ts REGISTRY_URL`. Stop it with Ctrl-C and it says goodbye. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeRegistration } from "../../src/registry/client/node.ts";

const url = process.argv[2] ?? "http://127.0.0.1:8080";
const dataDir = process.argv[3] ?? ".";

const server = createServer((_request, response) => response.end("forecast: sunny\n"));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

const manager = nodeRegistration({
  url,
  dataDir, // the id is kept here, so that the tool comes back as the same one
  target: { serviceName: "forecast-tool", host: "127.0.0.1", port, serviceType: "tool-invoker" },
  pingIntervalMs: 10_000,
});
manager.addCallBack({
  onRegistration: (_, { serviceName, id }) => console.log(`${serviceName} is registered as ${id}`),
  onPing: (_manager, _target, status) => status !== 200 && console.error(`a heartbeat was answered with ${status}`),
  onDeregistration: () => server.close(),
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => manager.stop());
await manager.start();
