/** Many writers, one reader: a writer goes on once the reader has taken what it wrote, so that nothing piles up. */
export class Funnel<T> {
  readonly #waiting: { readonly value: T; taken(): void }[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  write(value: T): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((taken) => {
      this.#waiting.push({ value, taken });
      this.#wake?.();
    });
  }

  /** Whoever still waits to write goes on; what it wrote is dropped. */
  close(): void {
    this.#isClosed = true;
    for (const { taken } of this.#waiting.splice(0)) taken();
    this.#wake?.();
  }

  async *read(): AsyncGenerator<T> {
    while (true) {
      const next = this.#waiting.shift();
      if (next) {
        next.taken();
        yield next.value;
      } else if (this.#isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
