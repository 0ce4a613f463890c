import type { ServiceHealth } from "../model/service.ts";
import { type Approach, maxProbeBytes } from "./probe.ts";

// Not by an import statement, which would read every export of node:http, its WebSocket included: that is all of undici.
const { request } = process.getBuiltinModule("node:http");

/** Healthy on 2xx. A redirect is not followed, no credential is sent, and a body is read only as far as the limit. */
export function probeHttp({ address, target, settings }: Approach): Promise<ServiceHealth> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(settings.timeoutMs);
    const asked = request({
      host: address,
      port: target.port,
      path: settings.path,
      method: "GET",
      agent: false,
      signal,
      headers: { host: `${target.host}:${target.port}`, "user-agent": "capstan-probe", connection: "close" },
    });
    asked.once("error", () => resolve("DOWN"));
    asked.once("response", (response) => {
      const { statusCode = 0 } = response;
      let bytes = 0;
      const end = (health: ServiceHealth): void => {
        response.destroy();
        resolve(health);
      };
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxProbeBytes) end("UNHEALTHY");
      });
      response.once("error", () => end("DOWN"));
      response.once("end", () => end(statusCode >= 200 && statusCode < 300 ? "HEALTHY" : "UNHEALTHY"));
    });
    asked.end();
  });
}
