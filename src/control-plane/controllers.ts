import { bindingEndpoints } from "../controllers/binding-endpoints/controller.ts";
import { endpointConfig } from "../controllers/binding-endpoints/endpoint-config.ts";
import { capabilityResolver } from "../controllers/capability-resolver/controller.ts";
import { gameStatus } from "../controllers/capability-resolver/game-status.ts";
import { moduleStatus } from "../controllers/capability-resolver/module-status.ts";
import { classRuntimeControllers } from "../controllers/class-runtime/controller.ts";
import type { BaseUrls } from "../controllers/minecraft/base-urls.ts";
import { minecraftControllers } from "../controllers/minecraft/controllers.ts";
import { versionSolver } from "../controllers/version-solver/controller.ts";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import type { Controller } from "../runtime/controller.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";

/** What the systems are made from. */
export interface SystemOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  /** Where services live that registered without a namespace of their own. */
  readonly registryNamespace: string;
  /** Our own image, for pods that do our work. */
  readonly image: string;
  /** Reaches the outside services; targets are whole URLs. */
  readonly fetch: HttpHandler;
  readonly baseUrls: Partial<BaseUrls>;
}

/** Every system by the name that `--controllers` takes; each is one or more controllers that belong together. */
export const systems: Readonly<Record<string, (options: SystemOptions) => readonly Controller[]>> = {
  "class-runtimes": ({ env, metrics }) => classRuntimeControllers({ env, metrics }),
  resolver: ({ metrics, registryNamespace }) => [
    capabilityResolver(metrics),
    gameStatus,
    moduleStatus(),
    bindingEndpoints({ registryNamespace }),
    endpointConfig,
  ],
  versions: ({ env, metrics, fetch, baseUrls, image }) => [
    ...versionSolver({ env, metrics }),
    ...minecraftControllers({ env, metrics, fetch, baseUrls, image }),
  ],
};

export const systemNames: readonly string[] = Object.keys(systems).sort();

export const controllersOf = (names: readonly string[], options: SystemOptions): readonly Controller[] =>
  names.flatMap((name) => systems[name]?.(options) ?? []);
