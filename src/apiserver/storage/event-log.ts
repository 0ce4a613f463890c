import { firstIndexWhere } from "./collection.ts";
import type { Entry } from "./entry.ts";

/** One committed change, as watches see it. */
export interface Change {
  readonly revision: number;
  readonly resource: string;
  readonly kind: "Created" | "Updated" | "Deleted";
  /** The new state; for a deletion the last state under the revision of the deletion. */
  readonly entry: Entry;
  readonly previous?: Entry;
  readonly atMs: number;
}

/**
 * The recent changes of one resource, in the order of commits. Watchers read it at their own pace through positions, so
 * a slow one costs no memory of its own: it is cut off when compaction overtakes it.
 */
export class EventLog {
  #changes: Change[] = [];
  /** How many changes have been dropped from the front; positions count from the very first change. */
  #dropped = 0;
  readonly #waiting = new Set<() => void>();
  readonly #subscribers = new Set<() => void>();

  get end(): number {
    return this.#dropped + this.#changes.length;
  }

  append(change: Change): void {
    this.#changes.push(change);
  }

  /** Wakes every reader that has read all; called once for each commit. */
  announce(): void {
    for (const wake of this.#subscribers) wake();
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** The position of the first change after the revision. */
  positionAfter(revision: number): number {
    return this.#dropped + firstIndexWhere(this.#changes.length, (i) => (this.#changes[i]?.revision ?? 0) > revision);
  }

  /** The change at a position: undefined at the end, "dropped" when compaction has overtaken the reader. */
  at(position: number): Change | undefined | "dropped" {
    if (position < this.#dropped) return "dropped";
    return this.#changes[position - this.#dropped];
  }

  /** The changes after a revision, newest first: what has to be undone to see the past. */
  newestFirstUntil(revision: number): readonly Change[] {
    const start = this.positionAfter(revision) - this.#dropped;
    return this.#changes.slice(start).reverse();
  }

  /** Calls back at every announcement, until the returned function is called. */
  subscribe(wake: () => void): () => void {
    this.#subscribers.add(wake);
    return () => this.#subscribers.delete(wake);
  }

  /** Calls back once at the next announcement; the returned function gives up. */
  onAnnounce(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  dropThrough(revision: number): void {
    const kept = this.positionAfter(revision) - this.#dropped;
    if (kept === 0) return;
    this.#changes = this.#changes.slice(kept);
    this.#dropped += kept;
  }
}
