import type { Env } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";

/** Where signals come from, and how this process ends. */
export interface Signals {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  exit(code: number): void;
}

/** Resolves when the process is asked to stop; asked again, it ends at once. */
export function signalled(signals: Signals = process, env: Env = systemEnv): Promise<void> {
  return new Promise((resolve) => {
    let askedAtMs: number | undefined;
    const stop = (): void => {
      if (askedAtMs === undefined) {
        askedAtMs = env.monotonicMs();
        resolve();
      } else if (env.monotonicMs() - askedAtMs > oneWishMs) {
        signals.exit(130);
      }
    };
    signals.on("SIGINT", stop);
    signals.on("SIGTERM", stop);
  });
}

/** One Ctrl-C may arrive twice: from the terminal, and from the program that started us and passes it on. */
const oneWishMs = 1_000;
