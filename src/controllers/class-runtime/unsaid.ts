import type { Outcome } from "./act.ts";

/**
 * What was done and could not be told yet, because somebody else wrote the status first. The next look finds it done already,
 * so without this nobody would learn of it.
 */
export class Unsaid {
  readonly #done = new Map<string, Outcome>();

  /** The outcome together with what is still to be told; kept until `told`. */
  add(uid: string, outcome: Outcome): Outcome {
    const before = this.#done.get(uid);
    const all = before === undefined ? outcome : joined(before, outcome);
    this.#done.delete(uid);
    this.#done.set(uid, all);
    const [oldest] = this.#done.keys();
    // A class that went away in between is never told about; others must not be kept out by such.
    if (this.#done.size > maxKept && oldest !== undefined) this.#done.delete(oldest);
    return all;
  }

  told(uid: string): void {
    this.#done.delete(uid);
  }
}

const maxKept = 1_000;

/** Refusals and failures are not carried on: the next try has its own. */
const joined = (before: Outcome, now: Outcome): Outcome => ({
  ...now,
  applied: [...new Set([...before.applied, ...now.applied])],
  removed: [...new Set([...before.removed, ...now.removed])],
  orphans: [
    ...before.orphans.filter(({ message }) => now.orphans.every((other) => other.message !== message)),
    ...now.orphans,
  ],
  enforced: [...before.enforced.filter(({ ok }) => ok), ...now.enforced],
});
