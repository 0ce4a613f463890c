/** An environment for tests: the clock stands still and chance repeats itself. */
import type { RegoEnv } from "./evaluate/machine.ts";

export function manualEnv(overrides: Partial<RegoEnv> = {}): RegoEnv {
  let ticks = 0;
  return {
    nowNs: () => 1_700_000_000_000_000_000n,
    monotonicMs: () => ticks++ / 1000,
    random: () => 0.5,
    uuid: () => "00000000-0000-4000-8000-000000000000",
    ...overrides,
  };
}
