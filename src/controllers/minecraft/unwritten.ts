import type { KubeObject } from "../../kube/object.ts";

/**
 * Answers from outside that stand in no status yet. A status may come too late and be written again from the start; the
 * answer is still fresh then, and nobody outside has to be asked twice.
 */
export class Unwritten<A> {
  readonly #answers = new Map<string, { readonly question: string; readonly answer: A }>();

  get({ metadata: { uid = "" } }: KubeObject, question: string): A | undefined {
    const kept = this.#answers.get(uid);
    return kept?.question === question ? kept.answer : undefined;
  }

  keep({ metadata: { uid = "" } }: KubeObject, question: string, answer: A): void {
    this.#answers.delete(uid);
    this.#answers.set(uid, { question, answer });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > maxKept && oldest !== undefined) this.#answers.delete(oldest);
  }

  written({ metadata: { uid = "" } }: KubeObject): void {
    this.#answers.delete(uid);
  }
}

const maxKept = 1_000;
