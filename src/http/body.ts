/** A response body that is there as a whole: one chunk for whoever iterates, one write for the socket. */
export class WholeBody implements AsyncIterable<Uint8Array> {
  readonly chunk: Uint8Array;

  constructor(chunk: Uint8Array) {
    this.chunk = chunk;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    if (this.chunk.length > 0) yield this.chunk;
  }
}
