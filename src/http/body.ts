/** A response body that is there as a whole: one chunk for whoever iterates, one write for the socket. */
export class WholeBody implements AsyncIterable<Uint8Array> {
  /** The body as text, where every character is one byte: a socket takes it together with the headers in one piece. */
  readonly ascii: string | undefined;
  #chunk: Uint8Array | undefined;

  /** Who knows already that a text is ASCII saves a look at all of it. */
  constructor(content: Uint8Array | string, isAscii?: boolean) {
    if (typeof content !== "string") this.#chunk = content;
    else if (isAscii ?? Buffer.byteLength(content) === content.length) this.ascii = content;
    else this.#chunk = Buffer.from(content);
  }

  get chunk(): Uint8Array {
    this.#chunk ??= Buffer.from(this.ascii ?? "", "latin1");
    return this.#chunk;
  }

  get byteLength(): number {
    return this.ascii?.length ?? this.chunk.byteLength;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.byteLength > 0) yield this.chunk;
  }
}
