import { ApiError, isDisruptionBudgetReached } from "./api-error.ts";
import { ConnectionError } from "./connection-error.ts";

/** When a failed request is sent again, and how long to wait before. Pure; the waiting is done in exchange.ts. */
export interface RetryPolicy {
  /** Sends of one request, the first included. */
  readonly maxAttempts: number;
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** No further attempt begins once this much time has passed since the first. */
  readonly maxElapsedMs: number;
  /** A server that asks for a longer pause is answered by giving the error to the caller, who can do better than wait. */
  readonly maxRetryAfterMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  maxAttempts: 5,
  firstDelayMs: 100,
  maxDelayMs: 5_000,
  maxElapsedMs: 30_000,
  maxRetryAfterMs: 15_000,
};

export interface FailedAttempt {
  readonly error: unknown;
  /** Doing it twice does no harm: see `ApiRequest.repeatable`. */
  readonly repeatable: boolean;
  /** 1 for the first. */
  readonly attempt: number;
  readonly elapsedMs: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt, or undefined: the error is for the caller. */
export function retryDelayMs(policy: RetryPolicy, failed: FailedAttempt): number | undefined {
  if (failed.attempt >= policy.maxAttempts || failed.elapsedMs >= policy.maxElapsedMs) return undefined;
  if (!mayRepeat(failed)) return undefined;
  const asked = failed.error instanceof ApiError ? failed.error.retryAfterSeconds : undefined;
  if (asked === undefined) {
    const ceiling = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (failed.attempt - 1));
    return ceiling / 2 + (ceiling / 2) * failed.random;
  }
  if (asked * 1000 > policy.maxRetryAfterMs) return undefined;
  // Everybody was told the same second; a little chance keeps them from coming back together.
  return asked * 1000 + policy.firstDelayMs * failed.random;
}

function mayRepeat({ error, repeatable }: FailedAttempt): boolean {
  if (error instanceof ConnectionError)
    return error.reason !== "TlsRejected" && (repeatable || !error.mayHaveBeenApplied);
  if (!(error instanceof ApiError)) return false;
  // 429 is said before anything is done, so even a create may be sent again; only a budget speaks about the pod.
  if (error.status === 429) return !isDisruptionBudgetReached(error);
  if (!repeatable) return false;
  if (passingCodes.includes(error.status)) return true;
  // 500 alone is as often for good as for now; with a Retry-After the server says that it passes.
  return error.status >= 500 && error.retryAfterSeconds !== undefined;
}

const passingCodes: readonly number[] = [502, 503, 504];

/** Seconds of a Retry-After header, which may also be a date. */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now.getTime()) / 1000));
}
