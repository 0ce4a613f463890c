import type { QueuedKey } from "./queue.ts";

/** What is known of a key. */
export class Item implements QueuedKey {
  readonly key: string;
  priority = 0;
  readyAtMs = 0;
  addedAtMs = 0;
  startedAtMs = 0;
  sequence = 0;
  /** Idle: not in the queue. A husk was replaced by another entry, and only waits to be skipped. */
  state: "idle" | "ready" | "delayed" | "processing" | "husk" = "idle";
  /** Added while it is being processed. */
  again: Again | undefined = undefined;

  constructor(key: string) {
    this.key = key;
  }
}
export interface Again {
  readonly priority: number;
  readonly readyAtMs: number;
  readonly addedAtMs: number;
}
