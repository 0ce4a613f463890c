import type { Client } from "../../src/client/client.ts";
import { systemEnv } from "../../src/env/system.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import { createInformer } from "../../src/runtime/informer.ts";
import { silentLogger } from "../../src/runtime/log.ts";

const Pod: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** The runtime's informer as a controller uses it, in the few words that the benchmark needs. */
export function informerOf(
  client: Client,
  namespace: string,
  options: { readonly throwOnce?: boolean; readonly idleTimeoutMs?: number } = {},
): { readonly synced: Promise<void>; size(): number; has(name: string): boolean } {
  const informer = createInformer(
    Pod,
    { namespace },
    {
      env: systemEnv,
      client,
      log: silentLogger,
      watcher: options.idleTimeoutMs === undefined ? {} : { watchList: false, idleTimeoutMs: options.idleTimeoutMs },
    },
  );
  let throws = options.throwOnce === true;
  informer.cache.subscribe(() => {
    if (!throws) return;
    throws = false;
    throw new Error("injected: a handler throws");
  });
  void informer.run(new AbortController().signal);
  return {
    synced: informer.cache.whenSynced(),
    size: () => informer.cache.size,
    has: (name) => informer.cache.get({ namespace, name }) !== undefined,
  };
}
