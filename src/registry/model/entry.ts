import type { Heard } from "./expiry.ts";
import type { Instance } from "./instance.ts";
import { KeptTarget, type TargetKind } from "./kept-target.ts";

/** One service in memory: what is durable of it, replaced by changes, and its heartbeats, which are not. */
export class Entry implements Heard {
  /** The target's, a step nearer: among a million services each step is a wait for memory. */
  head: string;
  kind: TargetKind;
  /** In whole milliseconds, which V8 keeps without a box, rounded up: nobody may expire early. */
  heardAtMs: number;
  instance: KeptInstance;
  heardElsewhere = false;
  /** The last heartbeat on the wall clock, for people; undefined before the first. */
  lastSeenMs: number | undefined;
  /** On the monotonic clock, when it went into hiding. */
  hiddenSinceMs = 0;
  /** When the sweep will look at it next. */
  scheduledAtMs: number | undefined;

  constructor(instance: Instance, nowMs: number) {
    const target = KeptTarget.of(instance.target);
    this.head = target.head;
    this.kind = target.kind;
    this.heardAtMs = Math.ceil(nowMs);
    this.instance = keep(instance, target);
  }

  /** See KeptTarget. */
  moveHead(text?: string, at?: number): void {
    const { target } = this.instance;
    target.moveHead(text, at);
    this.head = target.head;
  }

  /** The same service after a change. An equal target stays the one that it was. */
  become(instance: Instance): void {
    const before = this.instance.target;
    const target = before.equals(instance.target) ? before : KeptTarget.of(instance.target);
    this.head = target.head;
    this.kind = target.kind;
    this.instance = keep(instance, target);
  }
}

export interface KeptInstance extends Instance {
  readonly target: KeptTarget;
}

const keep = (instance: Instance, target: KeptTarget): KeptInstance => ({ ...instance, target });

/** Oldest registration first, then id: the same on every replica. */
export const byOrder = (a: Entry, b: Entry): number =>
  a.instance.order - b.instance.order || (a.instance.target.id < b.instance.target.id ? -1 : 1);
