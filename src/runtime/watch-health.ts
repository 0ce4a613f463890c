import type { KubeObject } from "../kube/object.ts";
import type { State } from "./watch-state.ts";

/** What a probe needs to know of a watcher: one that is silent for minutes although bookmarks are asked for is not healthy. */
export interface WatcherHealth {
  state: State<KubeObject>["kind"];
  lastActivityAtMs: number;
  lastEventAtMs: number | undefined;
  lastBookmarkAtMs: number | undefined;
  resourceVersion: string | undefined;
  consecutiveFailures: number;
  lastError: unknown;
  /** The server does not know the kind (yet). */
  absent: boolean;
  readonly counts: {
    lists: number;
    watches: number;
    faults: number;
    expired: number;
    /** Events that came after a later one. */
    stale: number;
    /** Events or lists from before what we had already seen. */
    timeTravels: number;
    malformed: number;
  };
}

export const newHealth = (nowMs: number): WatcherHealth => ({
  state: "Empty",
  lastActivityAtMs: nowMs,
  lastEventAtMs: undefined,
  lastBookmarkAtMs: undefined,
  resourceVersion: undefined,
  consecutiveFailures: 0,
  lastError: undefined,
  absent: false,
  counts: { lists: 0, watches: 0, faults: 0, expired: 0, stale: 0, timeTravels: 0, malformed: 0 },
});
