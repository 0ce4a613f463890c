import type { ManualEnv } from "./manual-env.ts";

/** Moves the clock until the check stops throwing, and throws what it threw last when time is up. */
export async function eventually(
  env: ManualEnv,
  check: () => void | Promise<void>,
  limits: EventuallyLimits = {},
): Promise<void> {
  const { withinMs = 60_000, stepMs = 50 } = limits;
  const deadlineMs = env.monotonicMs() + withinMs;
  for (;;) {
    await env.flush();
    try {
      await check();
      return;
    } catch (error) {
      if (env.monotonicMs() >= deadlineMs) throw error;
    }
    await env.advance(stepMs);
  }
}

export interface EventuallyLimits {
  readonly withinMs?: number;
  readonly stepMs?: number;
}

/** Moves the clock and demands that the check holds at every step. */
export async function consistently(
  env: ManualEnv,
  check: () => void | Promise<void>,
  limits: { readonly forMs: number; readonly stepMs?: number },
): Promise<void> {
  const endMs = env.monotonicMs() + limits.forMs;
  while (env.monotonicMs() < endMs) {
    await check();
    await env.advance(limits.stepMs ?? 100);
  }
  await check();
}

/** Moves the clock until a number (of writes, of reconciles) has stood still for a while; answers it. */
export async function settle(
  env: ManualEnv,
  measure: () => number,
  limits: { readonly quietMs?: number; readonly withinMs?: number } = {},
): Promise<number> {
  const { quietMs = 5_000, withinMs = 600_000 } = limits;
  const deadlineMs = env.monotonicMs() + withinMs;
  let last = measure();
  let sinceMs = env.monotonicMs();
  while (env.monotonicMs() - sinceMs < quietMs) {
    if (env.monotonicMs() > deadlineMs) throw new Error(`not quiet within ${withinMs} ms: ${last} and still counting`);
    await env.advance(100);
    const now = measure();
    if (now === last) continue;
    last = now;
    sinceMs = env.monotonicMs();
  }
  return last;
}
