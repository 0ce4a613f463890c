import type { Heard } from "./expiry.ts";
import type { Instance } from "./instance.ts";
import { KeptTarget } from "./kept-target.ts";

/** One service in memory: what is durable of it, replaced by changes, and its heartbeats, which are not. */
export class Entry implements Heard {
  /** The instance's, one step nearer: among a million services each step is a wait for memory. */
  target: KeptTarget;
  instance: KeptInstance;
  heardAtMs: number;
  heardElsewhere = false;
  /** The last heartbeat on the wall clock, for people; undefined before the first. */
  lastSeenMs: number | undefined;
  /** On the monotonic clock, when it went into hiding. */
  hiddenSinceMs = 0;
  /** When the sweep will look at it next. */
  scheduledAtMs: number | undefined;

  constructor(instance: Instance, nowMs: number) {
    this.target = KeptTarget.of(instance.target);
    this.instance = keep(instance, this.target);
    this.heardAtMs = nowMs;
  }

  /** The same service after a change. An equal target stays the one that it was. */
  become(instance: Instance): void {
    if (!this.target.equals(instance.target)) this.target = KeptTarget.of(instance.target);
    this.instance = keep(instance, this.target);
  }
}

export interface KeptInstance extends Instance {
  readonly target: KeptTarget;
}

const keep = (instance: Instance, target: KeptTarget): KeptInstance => ({ ...instance, target });

/** Oldest registration first, then id: the same on every replica. */
export const byOrder = (a: Entry, b: Entry): number =>
  a.instance.order - b.instance.order || (a.instance.target.id < b.instance.target.id ? -1 : 1);
