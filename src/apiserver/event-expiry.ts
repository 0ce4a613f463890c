import type { CancelTimer, Env } from "../env/env.ts";
import type { Store } from "./storage/store.ts";

/** As long as a real server keeps Events unless it is told otherwise. */
export const defaultEventTtlMs: number = 60 * 60_000;
const checkEveryMs = 60_000;
const events = "events";

/**
 * Forgets Events that were not written for a while. Nobody deletes them, so they would fill memory and disk for as long as
 * something happens. Answers the function that ends this.
 */
export function expireEvents(env: Env, store: Store, ttlMs: number): () => void {
  let cancel: CancelTimer = () => {};
  const look = (): void => {
    const oldest = env.now().getTime() - ttlMs;
    for (const entry of store.collection(events).range()) {
      if (entry.atMs > oldest) continue;
      // Written again meanwhile: then it is not old any more. Not stored: the next look finds it still there.
      void store.write(events, entry.key, entry, undefined)?.catch(() => {});
    }
    cancel = env.setTimer(Math.min(checkEveryMs, ttlMs / 5), look);
  };
  look();
  return () => cancel();
}
