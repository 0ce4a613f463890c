import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Env } from "./env.ts";

/** The real world. Timers do not keep the process alive: sockets and child processes do. */
export const systemEnv: Env = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), maxTimerMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  uuid: () => randomUUID(),
};

/** Node fires longer timers at once. */
const maxTimerMs = 2 ** 31 - 1;
