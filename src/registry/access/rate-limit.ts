import type { Env } from "../../env/env.ts";

export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** A bucket of tokens for each identity. Nobody can use up what others need. */
export class RateLimiter {
  readonly #env: Env;
  readonly #limit: RateLimit;
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();

  constructor(env: Env, limit: RateLimit) {
    this.#env = env;
    this.#limit = limit;
  }

  /** False: too much for now. */
  take(identity: string): boolean {
    const nowMs = this.#env.monotonicMs();
    const { perSecond, burst } = this.#limit;
    let bucket = this.#buckets.get(identity);
    if (bucket === undefined) {
      if (this.#buckets.size >= maxBuckets) this.#dropFull(nowMs);
      bucket = { tokens: burst, atMs: nowMs };
      this.#buckets.set(identity, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  /** A bucket that has filled up again says nothing that a new one would not. */
  #dropFull(nowMs: number): void {
    const { perSecond, burst } = this.#limit;
    for (const [identity, { tokens, atMs }] of this.#buckets)
      if (tokens + ((nowMs - atMs) / 1000) * perSecond >= burst) this.#buckets.delete(identity);
  }
}

const maxBuckets = 10_000;
