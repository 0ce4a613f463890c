/** What can be wrong with a protobuf body. */
export type ProtobufProblem = "NotKubernetes" | "Truncated" | "Malformed" | "TooDeep" | "UnknownKind";

export class ProtobufError extends Error {
  readonly reason: ProtobufProblem;

  constructor(reason: ProtobufProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProtobufError";
    this.reason = reason;
  }
}

export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
export const wireFixed32 = 5;

/** Reads one message from its bytes, field by field; every step checks that there is enough left. */
export class ProtobufReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): { readonly number: number; readonly wireType: number } {
    const tag = Number(this.varint());
    const number = Math.floor(tag / 8);
    if (number < 1 || number > 2 ** 29 - 1)
      throw new ProtobufError("Malformed", `proto: illegal field number ${number}`);
    return { number, wireType: tag % 8 };
  }

  /** As an unsigned 64-bit number. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ProtobufError("Truncated", "unexpected EOF");
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError("Malformed", "proto: integer overflow");
  }

  bytes(): Uint8Array {
    const length = Number(this.varint());
    return this.#take(length);
  }

  double(): number {
    const taken = this.#take(8);
    return new DataView(taken.buffer, taken.byteOffset, 8).getFloat64(0, true);
  }

  skip(wireType: number): void {
    if (wireType === wireVarint) this.varint();
    else if (wireType === wireFixed64) this.#take(8);
    else if (wireType === wireBytes) this.bytes();
    else if (wireType === wireFixed32) this.#take(4);
    else throw new ProtobufError("Malformed", `proto: illegal wireType ${wireType}`);
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw new ProtobufError("Truncated", "unexpected EOF");
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }
}
