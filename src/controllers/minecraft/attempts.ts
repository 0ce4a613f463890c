import type { KubeObject } from "../../kube/object.ts";

/**
 * Remembers, per object, what came of a question that failed, and until when it is not asked again. The status may not
 * have been written the first time, so the answer is given again. A restart forgets it, which only asks earlier.
 */
export class Attempts<F> {
  readonly #failures = new Map<string, { readonly question: string; readonly atMs: number; readonly failure: F }>();

  /** Undefined when the question may be asked. Another question may be asked at once. */
  waiting(
    { metadata: { uid = "" } }: KubeObject,
    question: string,
    nowMs: number,
  ): { readonly failure: F; readonly waitMs: number } | undefined {
    const known = this.#failures.get(uid);
    if (!known || known.question !== question || known.atMs <= nowMs) return undefined;
    return { failure: known.failure, waitMs: known.atMs - nowMs };
  }

  failed({ metadata: { uid = "" } }: KubeObject, question: string, failure: F, untilMs: number): void {
    this.#failures.delete(uid);
    this.#failures.set(uid, { question, failure, atMs: untilMs });
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > maxRemembered && oldest !== undefined) this.#failures.delete(oldest);
  }

  succeeded({ metadata: { uid = "" } }: KubeObject): void {
    this.#failures.delete(uid);
  }
}

const maxRemembered = 10_000;
