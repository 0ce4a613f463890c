import type { Heard } from "./expiry.ts";
import type { Instance } from "./instance.ts";

/** One service in memory: what is durable of it, replaced by changes, and its heartbeats, which are not. */
export class Entry implements Heard {
  instance: Instance;
  heardAtMs: number;
  heardElsewhere = false;
  /** The last heartbeat on the wall clock, for people; undefined before the first. */
  lastSeenMs: number | undefined;
  /** On the monotonic clock, when it went into hiding. */
  hiddenSinceMs = 0;
  /** When the sweep will look at it next. */
  scheduledAtMs: number | undefined;

  constructor(instance: Instance, nowMs: number) {
    this.instance = instance;
    this.heardAtMs = nowMs;
  }
}

/** Oldest registration first, then id: the same on every replica. */
export const byOrder = (a: Entry, b: Entry): number =>
  a.instance.order - b.instance.order || (a.instance.target.id < b.instance.target.id ? -1 : 1);
