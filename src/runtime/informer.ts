import { isKindMissing } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import type { Env } from "../env/env.ts";
import { apiVersionOf, type KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { ObjectCache, withoutManagedFields } from "./cache.ts";
import type { Logger } from "./log.ts";
import { ownerIndex, ownerUids } from "./read.ts";
import type { WatcherHealth } from "./watch-health.ts";
import { Watcher, type WatcherOptions, type WatcherScope } from "./watcher.ts";

/** A cache and the watcher that writes it; shared by all controllers that follow the same objects. */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: KindRef<T>;
  readonly scope: WatcherScope;
  readonly cache: ObjectCache<T>;
  readonly health: WatcherHealth;
  /** Runs once; later calls answer the same promise. */
  run(signal: AbortSignal): Promise<void>;
}

export interface InformerSettings {
  readonly env: Env;
  readonly client: Client;
  readonly log: Logger;
  readonly transform?: (object: KubeObject) => KubeObject;
  readonly onHandlerError?: (error: unknown, kind: KindRef) => void;
  readonly watcher?: Partial<
    Pick<WatcherOptions<KubeObject>, "watchList" | "pageSize" | "idleTimeoutMs" | "relistEveryMs" | "backoff">
  >;
}

export function createInformer<T extends KubeObject>(
  kind: KindRef<T>,
  scope: WatcherScope,
  settings: InformerSettings,
): Informer<T> {
  const { env, client, transform } = settings;
  const log = settings.log.with({
    kind: kind.kind,
    ...(scope.namespace !== undefined && { namespace: scope.namespace }),
  });
  const cache = new ObjectCache<T>({
    env,
    indexes: { [ownerIndex]: ownerUids },
    transform: transformOf(kind, scope, transform as unknown as ((object: T) => T) | undefined),
    onHandlerError: (error, change) => {
      log.error("a handler of cache changes failed", {
        object: change.object.metadata.name,
        change: change.kind,
        error,
      });
      settings.onHandlerError?.(error, kind);
    },
    onFault: (error, retryInMs) =>
      // A kind that is not served may be installed later; until then there is nothing to warn of.
      log[isKindMissing(error) ? "debug" : "warn"]("the watch failed and goes on", {
        retryInMs: Math.round(retryInMs),
        error,
      }),
  });
  const watcher = new Watcher<T>({ ...settings.watcher, env, client, kind, scope, sink: cache.writer() });
  let running: Promise<void> | undefined;
  return {
    kind,
    scope,
    cache,
    health: watcher.health,
    run: (signal) => {
      running ??= watcher.run(signal);
      return running;
    },
  };
}

/** Metadata comes under a kind of its own; a reader wants to know what it is the metadata of. */
function transformOf<T extends KubeObject>(
  kind: KindRef<T>,
  scope: WatcherScope,
  own: ((object: T) => T) | undefined,
): (object: T) => T {
  const transform = own ?? withoutManagedFields;
  if (!scope.metadataOnly) return transform;
  const header = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return (object) => transform({ ...object, ...header });
}

export const informerId = (kind: KindRef, scope: WatcherScope): string =>
  [
    kind.group,
    kind.version,
    kind.plural,
    scope.namespace ?? "",
    scope.labelSelector ?? "",
    scope.fieldSelector ?? "",
    scope.metadataOnly ? "metadata" : "",
  ].join("|");
