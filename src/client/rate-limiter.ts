import { type Env, sleep } from "../env/env.ts";
import type { ClientMetrics } from "./client-metrics.ts";

/** A token bucket in front of all requests of one client. Off unless asked for: the server has fairness of its own. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

export interface RateLimiter {
  /** Resolves when the request may go; first come, first served. */
  take(method: string, signal?: AbortSignal): Promise<void>;
}

export function createRateLimiter(env: Env, limit: RateLimit, host: string, metrics: ClientMetrics): RateLimiter {
  if (!(limit.requestsPerSecond > 0) || !(limit.burst >= 1))
    throw new RangeError(
      `rate limit: requestsPerSecond must be above 0 and burst at least 1, not ${limit.requestsPerSecond} and ${limit.burst}`,
    );
  let tokens = limit.burst;
  let refilledAtMs = env.monotonicMs();
  return {
    async take(method, signal) {
      const nowMs = env.monotonicMs();
      tokens = Math.min(limit.burst, tokens + ((nowMs - refilledAtMs) / 1000) * limit.requestsPerSecond);
      refilledAtMs = nowMs;
      tokens -= 1;
      // Below zero the tokens are a queue: each waiter has its own later moment.
      const waitMs = tokens >= 0 ? 0 : (-tokens / limit.requestsPerSecond) * 1000;
      metrics.requestDelayed?.({ method, host, seconds: waitMs / 1000 });
      if (waitMs > 0) await sleep(env, waitMs, signal);
    },
  };
}
