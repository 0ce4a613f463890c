import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { GrpcError, grpcStatus } from "./grpc-status.ts";

/**
 * A caller's messages out of the bytes of its stream: five bytes in front of each say whether it is compressed and how
 * long it is. Whatever they claim, no more than the limit is kept, packed or unpacked.
 */
export async function* readMessages(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    held.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    length += chunk.length;
    while (length >= prefixBytes) {
      // Only now and then are the pieces joined: a long message that comes in small ones is not copied with each of them.
      if ((held[0]?.length ?? 0) < prefixBytes) held = [Buffer.concat(held, length)];
      const [first] = held;
      if (first === undefined) break;
      const size = first.readUInt32BE(1);
      if (size > maxBytes) throw tooLong(maxBytes);
      if (length < prefixBytes + size) break;
      const whole = Buffer.concat(held, length);
      const rest = whole.subarray(prefixBytes + size);
      held = rest.length > 0 ? [rest] : [];
      length = rest.length;
      yield await unpack(whole[0] ?? 0, whole.subarray(prefixBytes, prefixBytes + size), encoding, maxBytes);
    }
  }
  if (length > 0) throw new GrpcError(grpcStatus.invalidArgument, "the message is cut short");
}

/** For calls that take exactly one. */
export async function onlyMessage(messages: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let only: Uint8Array | undefined;
  for await (const message of messages) {
    if (only !== undefined) throw new GrpcError(grpcStatus.unimplemented, "the call takes one message, not several");
    only = message;
  }
  if (only === undefined) throw new GrpcError(grpcStatus.unimplemented, "the call has no message");
  return only;
}

/** What we understand, for callers who would compress. */
export const acceptedEncodings = "identity,deflate,gzip";

const prefixBytes = 5;
const unpackers: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
};

async function unpack(
  flag: number,
  bytes: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  if (flag === 0) return bytes;
  if (flag !== 1) throw new GrpcError(grpcStatus.internal, `${flag} says neither compressed nor not`);
  if (encoding === undefined || encoding === "identity")
    throw new GrpcError(grpcStatus.internal, "the message is compressed, but grpc-encoding does not say how");
  const unpacker = Object.hasOwn(unpackers, encoding) ? unpackers[encoding] : undefined;
  if (unpacker === undefined)
    throw new GrpcError(grpcStatus.unimplemented, `${encoding} is not understood; ${acceptedEncodings} is`);
  try {
    return await unpacker(bytes, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") throw tooLong(maxBytes);
    throw new GrpcError(grpcStatus.internal, `the message cannot be read as ${encoding}`);
  }
}

const tooLong = (maxBytes: number): GrpcError =>
  new GrpcError(grpcStatus.resourceExhausted, `a message has at most ${maxBytes} bytes`);

export function frame(message: Uint8Array): Uint8Array {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
