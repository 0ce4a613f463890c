import type { Env } from "../env/env.ts";
import type { HttpHandler } from "../http/message.ts";

/**
 * The time of day as the API server has it. What one leader writes into an object, the next one measures a window by; were
 * each to read the clock of its own machine, a slow one would end the windows of its successor early, and a fast one would
 * keep approvals open for too long. So all of them go by the clock that stamps the objects.
 *
 * Between two answers it is our monotonic clock that runs, which no step of the wall clock can touch. It stands still while
 * a machine sleeps; the first answer afterwards sets it right.
 */
export interface ServerClock {
  now(): Date;
  /** The transport, with an ear on the `Date` of every answer. */
  readonly transport: HttpHandler;
}

export interface ServerClockOptions {
  readonly env: Env;
  readonly transport: HttpHandler;
  /** Told when the server contradicts us by more than clocks usually differ: by how much it is ahead of us. */
  readonly onSkew?: (aheadMs: number) => void;
}

export function serverClock({ env, transport, onSkew }: ServerClockOptions): ServerClock {
  // Until the first answer there is nothing better than our own.
  let offsetMs = env.now().getTime() - env.monotonicMs();
  const hear = (date: string | undefined, sentMs: number): void => {
    const contradictionMs = contradiction(date, sentMs, env.monotonicMs(), offsetMs);
    offsetMs += contradictionMs;
    if (Math.abs(contradictionMs) > usualSkewMs) onSkew?.(contradictionMs);
  };
  return {
    now: () => new Date(Math.floor(env.monotonicMs() + offsetMs)),
    transport: async (request) => {
      const sentMs = env.monotonicMs();
      const response = await transport(request);
      hear(response.headers["date"], sentMs);
      return response;
    },
  };
}

/**
 * By how little the offset must move for the answer to be possible. It was dated between sending and receiving, and dates
 * have whole seconds, so a late answer says less and none makes a clock that is right jump about.
 */
function contradiction(date: string | undefined, sentMs: number, receivedMs: number, offsetMs: number): number {
  const datedMs = Date.parse(date ?? "");
  if (Number.isNaN(datedMs)) return 0;
  const believedMs = receivedMs + offsetMs;
  const latestMs = datedMs + dateResolutionMs + (receivedMs - sentMs);
  if (believedMs < datedMs) return datedMs - believedMs;
  return believedMs > latestMs ? latestMs - believedMs : 0;
}

const dateResolutionMs = 1_000;
const usualSkewMs = 5_000;
