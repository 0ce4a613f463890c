import type { Env } from "../env/env.ts";

/** Tells whoever waits at a terminal what for and how long already; in a pipe nothing is added. */
export function showProgress(env: Env, stream: ProgressStream, what: string): Progress {
  if (!stream.isTTY) return { end: () => undefined };
  const beganMs = env.monotonicMs();
  let isShown = false;
  let cancel: () => void = () => undefined;
  const wait = (): void => {
    cancel = env.setTimer(everyMs, () => {
      const seconds = Math.round((env.monotonicMs() - beganMs) / 1_000);
      stream.write(`${clearLine}${what}: ${seconds} s`);
      isShown = true;
      wait();
    });
  };
  wait();
  return {
    end() {
      cancel();
      if (isShown) stream.write(clearLine);
      isShown = false;
    },
  };
}

export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  /** May be called more than once. */
  end(): void;
}

const everyMs = 1_000;
const clearLine = "\r\u001b[K";
