import type { Env } from "../../env/env.ts";

/** The part of the world that a registering service needs; `systemEnv` and test clocks have it, and pages have `pageEnv`. */
export type ClientEnv = Pick<Env, "now" | "monotonicMs" | "setTimer" | "random">;

/** What a browser page (and any other JavaScript world) offers under these names. Pass `globalThis`. */
export interface PageWorld {
  readonly Date: new () => Date;
  readonly Math: { random(): number };
  readonly performance: { now(): number };
  readonly setTimeout: (callback: () => void, delayMs: number) => unknown;
  readonly clearTimeout: (timer: never) => void;
}

/** Time and chance of the page that is handed in. */
export function pageEnv(world: PageWorld): ClientEnv {
  const { Date: Clock, Math: chance, performance: stopwatch } = world;
  return {
    now: () => new Clock(),
    monotonicMs: () => stopwatch.now(),
    random: () => chance.random(),
    setTimer(delayMs, callback) {
      // Browsers refuse these functions when they are called on anything but the page itself.
      const timer = world.setTimeout.call(world, callback, delayMs);
      return () => world.clearTimeout.call(world, timer as never);
    },
  };
}
