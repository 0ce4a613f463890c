import type { HttpResponse } from "../../http/message.ts";
import type { RegistryCore } from "../registry-core.ts";
import { whole } from "./answers.ts";

/** `/q/health` and its parts, in the shape that MicroProfile clients expect. Open to everyone, like any probe. */
export function health(path: string, core: RegistryCore): HttpResponse | undefined {
  const parts = checksOf[path];
  if (!parts) return undefined;
  const checks = parts.map((part) => checkers[part](core));
  const status = checks.every((check) => check.status === "UP") ? "UP" : "DOWN";
  return whole(status === "UP" ? 200 : 503, JSON.stringify({ status, checks }));
}

interface Check {
  readonly name: string;
  readonly status: "UP" | "DOWN";
  readonly data?: Readonly<Record<string, number>>;
}

type Part = "ready" | "live";

const checkers: Readonly<Record<Part, (core: RegistryCore) => Check>> = {
  ready: (core) => ({
    name: "service-registry",
    status: core.isReady ? "UP" : "DOWN",
    data: { totalCapabilities: core.directory.registeredSize },
  }),
  live: () => ({ name: "process", status: "UP" }),
};

const checksOf: Readonly<Record<string, readonly Part[]>> = {
  "/q/health": ["live", "ready"],
  "/q/health/ready": ["ready"],
  "/q/health/live": ["live"],
  "/q/health/started": ["ready"],
};
