/** A stream that somebody else fills: what is pushed comes out in order; it ends when closed or aborted. */
export class PushStream<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake: (() => void) | undefined;
  #closed = false;
  #error: unknown;
  #onReturn: (() => void) | undefined;

  onReturn(callback: () => void): void {
    this.#onReturn = callback;
  }

  push(item: T): void {
    if (this.#closed) return;
    this.#items.push(item);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Ends the stream with an error, after what was pushed before. */
  fail(error: unknown): void {
    this.#error ??= error;
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        while (this.#items.length > 0) yield this.#items.shift() as T;
        if (this.#error !== undefined) throw this.#error;
        if (this.#closed) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    } finally {
      this.#closed = true;
      this.#onReturn?.();
    }
  }
}
