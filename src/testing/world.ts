import type { Client } from "../client/client.ts";
import { createClient } from "../client/create-client.ts";
import type { HttpHandler } from "../http/message.ts";
import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { CoreEventKind } from "../runtime/events.ts";
import { LeaseKind } from "../runtime/leader-election.ts";
import { FaultPlan } from "./faults.ts";
import { type ManualEnv, manualEnv } from "./manual-env.ts";
import { createMemoryApi, type ServedKind } from "./memory-api.ts";
import { MemoryStore, resourceOf } from "./memory-store.ts";

/**
 * A Kubernetes API in memory, a clock that a test moves, and faults that a test injects. Controllers reach it through
 * the same client as any cluster.
 */
export interface World {
  readonly env: ManualEnv;
  /** Through the faults, as controllers should use it. */
  readonly client: Client;
  /** Past the faults, for the test itself. */
  readonly direct: Client;
  readonly handler: HttpHandler;
  readonly faults: FaultPlan;
  readonly store: MemoryStore;
  /** A kind that is installed from now on. */
  serve(kind: ServedKind): void;
  /** All objects of a kind as the server has them. */
  all<T extends KubeObject>(kind: KindRef<T>): readonly T[];
  /** The API as a replica shows it that has not come further than the given version. */
  replicaAt(version: number): HttpHandler;
}

export interface WorldOptions {
  readonly env?: ManualEnv;
  readonly seed?: number;
  readonly kinds?: readonly ServedKind[];
}

export function createWorld(options: WorldOptions = {}): World {
  const env = options.env ?? manualEnv(options.seed === undefined ? {} : { seed: options.seed });
  const store = new MemoryStore();
  const kinds: ServedKind[] = [CoreEventKind, LeaseKind, ...(options.kinds ?? [])];
  const replica = (horizon: () => number): HttpHandler => {
    const api = createMemoryApi({ env, store, horizon });
    return (request) => {
      for (const kind of kinds) api.serve(kind);
      return api.handler(request);
    };
  };
  const handler = replica(() => Number.POSITIVE_INFINITY);
  const faults = new FaultPlan();
  return {
    env,
    store,
    faults,
    handler,
    client: createClient({ transport: faults.around(env, handler), env }),
    direct: createClient({ transport: handler, env }),
    serve: (kind) => void kinds.push(kind),
    all: <T extends KubeObject>(kind: KindRef<T>) =>
      [...store.state(resourceOf(kind)).values()].filter(({ apiVersion }) => apiVersion === apiVersionOf(kind)) as T[],
    replicaAt: (version) => replica(() => version),
  };
}
