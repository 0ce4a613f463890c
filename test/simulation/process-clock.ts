import type { Env } from "../../src/env/env.ts";
import type { ManualEnv } from "../../src/testing/manual-env.ts";
import { seededRandom, seededUuid } from "../../src/testing/seeded.ts";

/** The clocks of one simulated process: they may drift, step, stand still while it is stopped, and end with it. */
export interface ProcessClock extends Env {
  /** As SIGSTOP does it: time goes on, but nothing of the process happens until it is thawed. */
  freeze(): void;
  thaw(): void;
  /** No timer of the process fires any more. */
  end(): void;
  stepWallClock(byMs: number): void;
  readonly hasEnded: boolean;
}

/** `rate` above 1: its clock runs fast. */
export function processClock(base: ManualEnv, seed: number, rate: number): ProcessClock {
  const random = seededRandom(seed);
  const bornMs = base.monotonicMs();
  let state: "Running" | "Frozen" | "Ended" = "Running";
  let wallOffsetMs = 0;
  let held: (() => void)[] = [];

  const elapsedMs = (): number => (base.monotonicMs() - bornMs) * rate;
  const fire = (callback: () => void): void => {
    if (state === "Frozen") held.push(callback);
    else if (state === "Running") callback();
  };

  return {
    now: () => new Date(base.now().getTime() + wallOffsetMs),
    monotonicMs: () => bornMs + elapsedMs(),
    setTimer(delayMs, callback) {
      let isCancelled = false;
      const cancel = base.setTimer(Math.max(0, delayMs) / rate, () => fire(() => !isCancelled && callback()));
      return () => {
        isCancelled = true;
        cancel();
      };
    },
    random,
    uuid: () => seededUuid(random),
    freeze() {
      if (state === "Running") state = "Frozen";
    },
    thaw() {
      if (state !== "Frozen") return;
      state = "Running";
      const due = held;
      held = [];
      // One turn for each, as an event loop would take them.
      for (const callback of due) base.setTimer(0, () => fire(callback));
    },
    end() {
      state = "Ended";
      held = [];
    },
    stepWallClock(byMs) {
      wallOffsetMs += byMs;
    },
    get hasEnded() {
      return state === "Ended";
    },
  };
}
