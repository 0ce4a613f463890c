/** Forgets what was used longest ago: beyond a number, and where `isStale` says that it means nothing any more. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #limit: number;
  readonly #isStale: (value: V) => boolean;

  constructor(limit: number, isStale: (value: V) => boolean = () => false) {
    this.#limit = limit;
    this.#isStale = isStale;
  }

  get size(): number {
    return this.#entries.size;
  }
  has(key: string): boolean {
    return this.#entries.has(key);
  }
  get(key: string): V | undefined {
    return this.#entries.get(key);
  }
  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    // In the order of their last use, so that what has to go comes first.
    for (const [oldest, kept] of this.#entries) {
      if (oldest === key || (this.#entries.size <= this.#limit && !this.#isStale(kept))) return;
      this.#entries.delete(oldest);
    }
  }
}
