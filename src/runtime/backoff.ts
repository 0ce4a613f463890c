import type { Env } from "../env/env.ts";

/** How long to wait after failures: exponential, bounded, with jitter where many clients could march in step. */
export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
  /** 0.5 spreads a delay evenly over [delay, 1.5 × delay]. */
  readonly jitter?: number;
}

export function backoffMs(options: BackoffOptions, failures: number, random: () => number): number {
  // 2 ** 53 is far beyond any cap, so larger exponents need not be computed.
  const exact = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(Math.max(0, failures - 1), 53));
  return exact * (1 + (options.jitter ?? 0) * random());
}

/** The defaults of client-go: 5 ms doubling to 1000 s for one key, 10 a second after a burst of 100 for all together. */
export const keyBackoff: BackoffOptions = { baseMs: 5, maxMs: 1_000_000 };
export const retryBucket: TokenBucketOptions = { ratePerSecond: 10, burst: 100 };

export interface TokenBucketOptions {
  readonly ratePerSecond: number;
  readonly burst: number;
}

/** Tokens that come back at a steady rate. A reservation may lie in the future, so that nobody is ever refused. */
export class TokenBucket {
  readonly #env: Env;
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #atMs: number;

  constructor(env: Env, options: TokenBucketOptions) {
    this.#env = env;
    this.#options = options;
    this.#tokens = options.burst;
    this.#atMs = env.monotonicMs();
  }

  /** Takes one token and answers how long to wait until it is really there. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#options.ratePerSecond) * 1000;
  }

  /** Takes one token if it is there now. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** All tokens are back: it is like a new one. */
  isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#options.burst;
  }

  #refill(): void {
    const nowMs = this.#env.monotonicMs();
    const gained = ((nowMs - this.#atMs) / 1000) * this.#options.ratePerSecond;
    this.#tokens = Math.min(this.#options.burst, this.#tokens + gained);
    this.#atMs = nowMs;
  }
}
