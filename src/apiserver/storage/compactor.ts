import type { CancelTimer, Env } from "../../env/env.ts";
import type { CommitLog } from "./commit-log.ts";
import type { Change } from "./event-log.ts";

export interface HistoryLimits {
  /** Changes older than this are forgotten. */
  readonly maxAgeMs: number;
  /** More changes than this are not kept, however young. */
  readonly maxChanges: number;
  readonly maxBytes: number;
  readonly checkEveryMs: number;
}

/** The age is the real server's; the bounds keep a busy hour from filling the memory. */
export const defaultHistoryLimits: HistoryLimits = {
  maxAgeMs: 5 * 60_000,
  maxChanges: 20_000,
  maxBytes: 64 * 1024 * 1024,
  checkEveryMs: 60_000,
};

/** Looks often enough that nothing stays much longer than it should. */
export const historyOf = (maxAgeMs: number): Partial<HistoryLimits> => ({
  maxAgeMs,
  checkEveryMs: Math.min(defaultHistoryLimits.checkEveryMs, maxAgeMs / 5),
});

/** Decides how far history reaches back, and clears rows from the log that no reader can ask for any more. */
export class Compactor {
  readonly #env: Env;
  readonly #log: CommitLog;
  readonly #limits: HistoryLimits;
  readonly #dropHistory: (throughRevision: number) => void;
  /** Oldest first. */
  #tracked: TrackedChange[] = [];
  #bytes = 0;
  #cancelTimer: CancelTimer;
  compactedRevision = 0;

  constructor(env: Env, log: CommitLog, limits: Partial<HistoryLimits> = {}, dropHistory: (revision: number) => void) {
    this.#env = env;
    this.#log = log;
    this.#limits = { ...defaultHistoryLimits, ...limits };
    this.#dropHistory = dropHistory;
    this.#cancelTimer = this.#schedule();
  }

  track({ revision, kind, previous, entry, atMs }: Change): void {
    const replaced = [...(previous ? [previous.revision] : []), ...(kind === "Deleted" ? [revision] : [])];
    this.#tracked.push({ revision, replaced, atMs, bytes: entry.bytes.length });
    this.#bytes += entry.bytes.length;
  }

  compactIfFull(): void {
    const { maxChanges, maxBytes } = this.#limits;
    if (this.#tracked.length <= maxChanges && this.#bytes <= maxBytes) return;
    // Half of it at once, so that a busy server does not compact at every commit.
    let kept = this.#tracked.length;
    let bytes = this.#bytes;
    let index = 0;
    while (index < this.#tracked.length - 1 && (kept > maxChanges / 2 || bytes > maxBytes / 2)) {
      kept--;
      bytes -= this.#tracked[index]?.bytes ?? 0;
      index++;
    }
    this.#forget(index);
  }

  stop(): void {
    this.#cancelTimer();
  }

  #schedule(): CancelTimer {
    return this.#env.setTimer(this.#limits.checkEveryMs, () => {
      const oldest = this.#env.now().getTime() - this.#limits.maxAgeMs;
      const young = this.#tracked.findIndex(({ atMs }) => atMs > oldest);
      this.#forget(young < 0 ? this.#tracked.length : young);
      this.#cancelTimer = this.#schedule();
    });
  }

  #forget(count: number): void {
    const forgotten = this.#tracked.slice(0, count);
    const last = forgotten.at(-1);
    if (!last) return;
    this.#tracked = this.#tracked.slice(count);
    this.#bytes = this.#tracked.reduce((total, { bytes }) => total + bytes, 0);
    this.compactedRevision = last.revision;
    this.#dropHistory(last.revision);
    // Removing rows and remembering the revision are one transaction: after a failure the next start sees a longer history.
    this.#log
      .compact(
        last.revision,
        forgotten.flatMap(({ replaced }) => replaced),
      )
      .catch(() => {});
  }
}

interface TrackedChange {
  readonly revision: number;
  readonly replaced: readonly number[];
  readonly atMs: number;
  readonly bytes: number;
}
