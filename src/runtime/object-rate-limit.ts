import type { Env } from "../env/env.ts";

/** At most so many reconciles of one object within a time; the rest wait, none is lost. */
export interface ObjectRate {
  readonly times: number;
  readonly withinMs: number;
}

export class ObjectRateLimit {
  readonly #env: Env;
  readonly #rate: ObjectRate;
  readonly #starts = new Map<string, number[]>();

  constructor(env: Env, rate: ObjectRate) {
    if (!(rate.times >= 1 && rate.withinMs > 0))
      throw new RangeError("a rate needs at least one time within more than 0 ms");
    this.#env = env;
    this.#rate = rate;
  }

  /** 0: go on, and it is counted. Otherwise how long to wait. */
  waitMs(key: string): number {
    const nowMs = this.#env.monotonicMs();
    const recent = (this.#starts.get(key) ?? []).filter((atMs) => nowMs - atMs < this.#rate.withinMs);
    const oldest = recent[0];
    if (recent.length >= this.#rate.times && oldest !== undefined) return oldest + this.#rate.withinMs - nowMs;
    recent.push(nowMs);
    this.#starts.delete(key);
    this.#starts.set(key, recent);
    this.#forgetOld(nowMs);
    return 0;
  }

  /** The map is in order of the last start, so what is out of date comes first. */
  #forgetOld(nowMs: number): void {
    for (const [key, starts] of this.#starts) {
      if (nowMs - (starts.at(-1) ?? 0) < this.#rate.withinMs) return;
      this.#starts.delete(key);
    }
  }
}
