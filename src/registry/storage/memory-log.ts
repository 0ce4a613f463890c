import { type Change, numberChanges } from "../model/change.ts";
import type { Instance } from "../model/instance.ts";
import { type Follower, LogBehindError, type RegistryLog } from "./registry-log.ts";

/** A log that lasts as long as the process: for simulations, and for registries that need not survive. */
export class MemoryLog {
  readonly #services = new Map<string, Instance>();
  readonly #beats = new Map<string, number>();
  readonly #followers = new Map<Follower, RegistryLog>();
  readonly #nowMs: () => number;
  #changes: Change[] = [];
  #sequence = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The log as one replica sees it. */
  replica(): RegistryLog {
    const own: RegistryLog = {
      load: async () => ({
        sequence: this.#sequence,
        services: [...this.#services].map(([id, instance]) => ({ instance, lastSeenMs: this.#beats.get(id) })),
      }),
      commit: async ({ applied, confirm, decide }) => {
        const missed = applied === this.#sequence ? [] : this.#changes.filter(({ sequence }) => sequence > applied);
        if (missed.length < this.#sequence - applied) throw new LogBehindError(applied);
        const changes = numberChanges(decide(missed, this.#agesOf(confirm)), this.#sequence);
        this.#changes.push(...changes);
        for (const { id, instance } of changes) {
          if (instance !== null) this.#services.set(id, instance);
          else this.#services.delete(id);
          if (!instance?.pinged) this.#beats.delete(id);
        }
        this.#sequence += changes.length;
        if (changes.length > 0) this.#tell(own, (follower) => follower.onChanges(this.#sequence));
        return changes;
      },
      changesAfter: async (after, limit) => ({
        changes: this.#changes.filter(({ sequence }) => sequence > after).slice(0, limit),
        oldest: this.#changes[0]?.sequence ?? this.#sequence + 1,
      }),
      saveBeats: async (beats) => {
        for (const { id, ageMs } of beats) if (this.#services.has(id)) this.#beats.set(id, this.#nowMs() - ageMs);
        this.#tell(own, (follower) => follower.onBeats(beats.map(({ id }) => id)));
      },
      follow: async (follower) => {
        this.#followers.set(follower, own);
        return async () => void this.#followers.delete(follower);
      },
      prune: async (upTo) => {
        this.#changes = this.#changes.filter(({ sequence }) => sequence > upTo);
      },
    };
    return own;
  }

  #agesOf(ids: readonly string[]): ReadonlyMap<string, number> {
    const known = ids.map((id) => [id, this.#beats.get(id)] as const);
    return new Map(known.flatMap(([id, atMs]) => (atMs === undefined ? [] : [[id, this.#nowMs() - atMs]])));
  }

  #tell(from: RegistryLog, tell: (follower: Follower) => void): void {
    for (const [follower, owner] of this.#followers) if (owner !== from) tell(follower);
  }
}
