import { bindingEndpoints } from "../controllers/binding-endpoints/controller.ts";
import { endpointConfig } from "../controllers/binding-endpoints/endpoint-config.ts";
import { capabilityResolver } from "../controllers/capability-resolver/controller.ts";
import { gameStatus } from "../controllers/capability-resolver/game-status.ts";
import { moduleStatus } from "../controllers/capability-resolver/module-status.ts";
import type { Controller } from "../runtime/controller.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";

/** Every system by the name that `--controllers` takes; each is one or more controllers that belong together. */
export interface Systems {
  readonly metrics: MetricsRegistry;
  /** Where services live that registered without a namespace of their own. */
  readonly registryNamespace: string;
}

export const systems: Readonly<Record<string, (options: Systems) => readonly Controller[]>> = {
  resolver: ({ metrics, registryNamespace }) => [
    capabilityResolver(metrics),
    gameStatus,
    moduleStatus(),
    bindingEndpoints({ registryNamespace }),
    endpointConfig,
  ],
};

export const systemNames: readonly string[] = Object.keys(systems).sort();

export const controllersOf = (names: readonly string[], options: Systems): readonly Controller[] =>
  names.flatMap((name) => systems[name]?.(options) ?? []);
