/** The newest items, each under its number; the oldest make room. */
export class Ring<T> {
  readonly #items: (T | undefined)[];
  readonly #capacity: number;
  /** The number of the oldest item that is kept. */
  start = 0;
  /** The number that the next item will get. */
  end = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#items = [];
  }

  push(item: T): void {
    this.#items[this.end % this.#capacity] = item;
    this.end++;
    if (this.end - this.start > this.#capacity) this.start = this.end - this.#capacity;
  }

  at(index: number): T | undefined {
    return index < this.start || index >= this.end ? undefined : this.#items[index % this.#capacity];
  }

  /** Lets go of all before the given number. */
  forgetBefore(start: number): void {
    const end = Math.min(start, this.end);
    for (; this.start < end; this.start++) this.#items[this.start % this.#capacity] = undefined;
  }

  /** Empty, and counting from the given number. */
  clear(start: number): void {
    this.#items.length = 0;
    this.start = start;
    this.end = start;
  }
}
