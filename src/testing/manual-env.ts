import { scheduler } from "node:timers/promises";
import type { Env } from "../env/env.ts";
import { seededRandom, seededUuid } from "./seeded.ts";

/** A world whose clock only moves when a test says so. Same seed and same calls: same run, byte for byte. */
export interface ManualEnv extends Env {
  /** Moves both clocks forward, firing every timer on the way in order; waits for the promises that each one wakes. */
  advance(durationMs: number): Promise<void>;
  /** Fires what is due now and waits until nothing more happens without time passing. */
  flush(): Promise<void>;
  /** Moves the wall clock alone, as an administrator or NTP would; durations and timers are not touched. */
  setWallClock(now: Date): void;
  /** How many timers wait. */
  readonly pendingTimers: number;
}

export interface ManualEnvOptions {
  readonly seed?: number;
  readonly start?: Date;
}

export function manualEnv(options: ManualEnvOptions = {}): ManualEnv {
  const random = seededRandom(options.seed ?? 1);
  const timers = new TimerList();
  let nowMs = 0;
  let wallOffsetMs = (options.start ?? defaultStart).getTime();

  const fireDue = async (untilMs: number): Promise<void> => {
    await drain();
    let atOnce = 0;
    for (;;) {
      const timer = timers.takeDue(untilMs);
      if (timer === undefined) return;
      atOnce = timer.atMs > nowMs ? 0 : atOnce + 1;
      if (atOnce > maxTimersAtOnce) throw new Error(`${maxTimersAtOnce} timers fired and no time passed: a hot loop?`);
      nowMs = Math.max(nowMs, timer.atMs);
      timer.callback();
      await drain();
    }
  };

  return {
    now: () => new Date(wallOffsetMs + nowMs),
    monotonicMs: () => nowMs,
    setTimer: (delayMs, callback) => timers.add(nowMs + Math.max(0, delayMs), callback),
    random,
    uuid: () => seededUuid(random),
    async advance(durationMs) {
      const untilMs = nowMs + durationMs;
      await fireDue(untilMs);
      nowMs = untilMs;
    },
    flush: () => fireDue(nowMs),
    setWallClock(now) {
      wallOffsetMs = now.getTime() - nowMs;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
}

const defaultStart = new Date(Date.UTC(2026, 0, 1));
const maxTimersAtOnce = 100_000;

/** One turn of the event loop ends only when the queue of ready promises is empty. */
async function drain(): Promise<void> {
  await scheduler.yield();
}

interface Timer {
  readonly atMs: number;
  readonly sequence: number;
  readonly callback: () => void;
}

/** Timers sorted by time, then by the order in which they were set. */
class TimerList {
  #timers: Timer[] = [];
  #sequence = 0;

  get size(): number {
    return this.#timers.length;
  }

  add(atMs: number, callback: () => void): () => void {
    const timer: Timer = { atMs, sequence: this.#sequence++, callback };
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1] as Timer).atMs > atMs) index--;
    this.#timers.splice(index, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  takeDue(untilMs: number): Timer | undefined {
    const first = this.#timers[0];
    if (first === undefined || first.atMs > untilMs) return undefined;
    this.#timers.shift();
    return first;
  }
}
