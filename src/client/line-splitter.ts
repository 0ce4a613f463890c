/**
 * Cuts a stream of bytes into lines. It looks at bytes and not at text, so a character that is split between two chunks
 * is whole again in its line, and a line of many chunks is put together once.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  #parts: Uint8Array[] = [];
  #partsLength = 0;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Call `next` until it answers undefined before pushing more. */
  push(chunk: Uint8Array): void {
    this.#chunk = chunk;
    this.#position = 0;
  }

  /** The next whole line without its end, "TooLong", or undefined when more bytes are needed. */
  next(): Uint8Array | "TooLong" | undefined {
    const end = this.#chunk.indexOf(newline, this.#position);
    if (end < 0) return this.#keepRest();
    const piece = this.#chunk.subarray(this.#position, end);
    this.#position = end + 1;
    if (this.#partsLength === 0) return piece.length > this.#maxLineBytes ? "TooLong" : piece;
    this.#parts.push(piece);
    this.#partsLength += piece.length;
    return this.#partsLength > this.#maxLineBytes ? "TooLong" : this.rest();
  }

  /** What came after the last line end. */
  rest(): Uint8Array {
    const line = Buffer.concat(this.#parts, this.#partsLength);
    this.#parts = [];
    this.#partsLength = 0;
    return line;
  }

  #keepRest(): "TooLong" | undefined {
    if (this.#position < this.#chunk.length) {
      this.#parts.push(this.#chunk.subarray(this.#position));
      this.#partsLength += this.#chunk.length - this.#position;
      this.#position = this.#chunk.length;
    }
    return this.#partsLength > this.#maxLineBytes ? "TooLong" : undefined;
  }
}

const newline = 0x0a;
