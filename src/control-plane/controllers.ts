import { bindingEndpoints } from "../controllers/binding-endpoints/controller.ts";
import { endpointConfig } from "../controllers/binding-endpoints/endpoint-config.ts";
import { capabilityResolver } from "../controllers/capability-resolver/controller.ts";
import { gameStatus } from "../controllers/capability-resolver/game-status.ts";
import { moduleStatus } from "../controllers/capability-resolver/module-status.ts";
import type { Installation } from "../controllers/class-runtime/installation.ts";
import type { BaseUrls } from "../controllers/minecraft/base-urls.ts";
import { minecraftControllers } from "../controllers/minecraft/controllers.ts";
import { versionSolver } from "../controllers/version-solver/controller.ts";
import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";
import type { Controller } from "../runtime/controller.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";
import { type ActionParts, actionControllers } from "./actions.ts";
import { classRuntimeSystem } from "./class-runtimes.ts";

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
  readonly classRuntimes: Installation;
  /** Absent where actions are only asked what they need. */
  readonly actions?: ActionParts;
}

/** Every system by the name that `--controllers` takes; each is one or more controllers that belong together. */
export const systems: Readonly<Record<string, (options: SystemOptions) => readonly Controller[]>> = {
  actions: actionControllers,
  "class-runtimes": ({ env, metrics, classRuntimes }) =>
    classRuntimeSystem({ env, metrics, installation: classRuntimes }),
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

/** The registry is one too, though it is more than controllers. */
export const systemNames: readonly string[] = [...Object.keys(systems), "registry"].sort();

export const controllersOf = (names: readonly string[], options: SystemOptions): readonly Controller[] =>
  names.flatMap((name) => systems[name]?.(options) ?? []);
