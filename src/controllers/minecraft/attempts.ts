import type { KubeObject } from "../../kube/object.ts";

/** Remembers, per object, until when a failed question is not asked again. A restart forgets it, which only asks earlier. */
export class Attempts {
  readonly #until = new Map<string, { readonly question: string; readonly atMs: number }>();

  /** How long to wait still; 0 when the question may be asked. Another question may be asked at once. */
  waitMs({ metadata: { uid = "" } }: KubeObject, question: string, nowMs: number): number {
    const known = this.#until.get(uid);
    if (!known || known.question !== question) return 0;
    return Math.max(0, known.atMs - nowMs);
  }

  failed({ metadata: { uid = "" } }: KubeObject, question: string, untilMs: number): void {
    this.#until.set(uid, { question, atMs: untilMs });
  }

  succeeded({ metadata: { uid = "" } }: KubeObject): void {
    this.#until.delete(uid);
  }
}
