// The API server alone, as a process of its own: what the benchmark starts from a bundle.
import { startApiServer } from "../../src/apiserver/start.ts";
import { systemEnv } from "../../src/env/system.ts";

const [dataDir = "", port = "0"] = process.argv.slice(2);
const server = await startApiServer({ env: systemEnv, dataDir, port: Number(port) });
process.stdout.write(`${JSON.stringify({ url: server.url, token: server.adminToken })}\n`);
process.on("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});
