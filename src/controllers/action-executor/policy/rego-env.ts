import type { Env } from "../../../env/env.ts";
import type { RegoEnv } from "../../../rego/evaluate/machine.ts";

/** What policies may know of the world: the time and nothing else. There is no network for them. */
export const regoEnv = (env: Env): RegoEnv => ({
  nowNs: () => BigInt(env.now().getTime()) * 1_000_000n,
  monotonicMs: () => env.monotonicMs(),
  random: () => env.random(),
  uuid: () => env.uuid(),
});
