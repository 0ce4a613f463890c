import type { CancelTimer, Env } from "../../env/env.ts";

/** Wakes a stream: at a change, when the client goes, or at the time that was set. Rings before anybody waits are kept. */
export class Alarm {
  readonly #env: Env;
  #isRinging = false;
  #wake: (() => void) | undefined;
  #timer: { readonly atMs: number; readonly cancel: CancelTimer } | undefined;

  constructor(env: Env) {
    this.#env = env;
  }

  readonly ring = (): void => {
    this.#isRinging = true;
    this.#wake?.();
  };

  async ringing(atMs: number): Promise<void> {
    if (!this.#isRinging) {
      this.#setTimer(atMs);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    this.#isRinging = false;
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  /** The timer is for bookmarks and the end, which are far away: it outlives many events. */
  #setTimer(atMs: number): void {
    if (this.#timer && this.#timer.atMs <= atMs) return;
    this.#timer?.cancel();
    const cancel = this.#env.setTimer(atMs - this.#env.monotonicMs(), () => {
      this.#timer = undefined;
      this.ring();
    });
    this.#timer = { atMs, cancel };
  }
}
