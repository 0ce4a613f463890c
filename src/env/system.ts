import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Env } from "./env.ts";

/** The real world. Timers do not keep the process alive: sockets and child processes do. */
export const systemEnv: Env = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = timerFor(delayMs, callback);
    timer.unref();
    return () => {
      // Node keeps the list of all timers of one duration until that has passed when the last to be cleared is unreferenced.
      // Most of our durations are never used twice, and some are days long.
      timer.ref();
      clearTimeout(timer);
    };
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
};

/** Whether durations are real ones, whatever time of day it takes it to be; a simulation brings timers of its own. */
export const isSystemTime = (env: Env): boolean => env.setTimer === systemEnv.setTimer;

/** The same for a program whose work is to wait: as long as a timer runs, so does the process. */
export const wakefulEnv: Env = {
  ...systemEnv,
  setTimer(delayMs, callback) {
    const timer = timerFor(delayMs, callback);
    return () => clearTimeout(timer);
  },
};

const timerFor = (delayMs: number, callback: () => void): NodeJS.Timeout =>
  setTimeout(callback, Math.min(Math.max(0, delayMs), maxTimerMs));

/** Node fires longer timers at once. */
const maxTimerMs = 2 ** 31 - 1;
