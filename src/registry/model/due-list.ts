/**
 * What is due when, in buckets of time. A heartbeat moves a deadline without touching the list: when the old time comes,
 * the caller sees that it has moved and puts it in again, so that each service costs one look per deadline.
 */
export class DueList<T> {
  readonly #bucketMs: number;
  readonly #buckets = new Map<number, Set<T>>();
  #next = Number.POSITIVE_INFINITY;

  constructor(bucketMs: number) {
    this.#bucketMs = bucketMs;
  }

  add(item: T, dueAtMs: number): void {
    const bucket = Math.floor(dueAtMs / this.#bucketMs);
    const items = this.#buckets.get(bucket);
    if (items === undefined) this.#buckets.set(bucket, new Set([item]));
    else items.add(item);
    this.#next = Math.min(this.#next, bucket);
  }

  /** Everything whose bucket has begun; some of it may be due only within the bucket. */
  take(nowMs: number): readonly T[] {
    const current = Math.floor(nowMs / this.#bucketMs);
    if (this.#next > current) return [];
    const due: T[] = [];
    for (const [bucket, items] of this.#buckets) {
      if (bucket > current) continue;
      for (const item of items) due.push(item);
      this.#buckets.delete(bucket);
    }
    this.#next = Number.POSITIVE_INFINITY;
    for (const bucket of this.#buckets.keys()) this.#next = Math.min(this.#next, bucket);
    return due;
  }

  /** When the first bucket begins; undefined when nothing waits. */
  get nextAtMs(): number | undefined {
    return Number.isFinite(this.#next) ? this.#next * this.#bucketMs : undefined;
  }
}
