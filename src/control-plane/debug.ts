import type { Env } from "../env/env.ts";
import { listen } from "../http/server.ts";
import { createDiagnostics } from "../runtime/diagnostics.ts";
import type { Logger } from "../runtime/log.ts";
import type { Manager } from "../runtime/manager.ts";
import type { StoppablePart } from "./parts.ts";

export interface DebugOptions {
  readonly env: Env;
  readonly log: Logger;
  readonly manager: Manager;
  readonly port: number;
}

/** A look inside, for whoever is on this machine or may forward a port of the pod: on loopback, and only when asked for. */
export async function startDebug({ env, log, manager, port }: DebugOptions): Promise<StoppablePart> {
  const listener = await listen({ env, handler: createDiagnostics(env, manager), port });
  log.warn("heap snapshots and profiles are served to everybody on this machine", { url: `${listener.url}/debug/` });
  return { stop: () => listener.close() };
}
