import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import type { Env } from "../env/env.ts";

/**
 * A gRPC server without a framework: unary and server-streaming calls over HTTP/2 in the clear, with deadlines and
 * trailers. Messages are bytes; who gives them meaning is elsewhere. HTTP/1.1 on the same port answers health probes.
 */
export interface GrpcServerOptions {
  readonly env: Env;
  readonly host?: string;
  readonly port: number;
  /** By path: `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly maxMessageBytes?: number;
}

export type GrpcMethod = (call: GrpcCall) => AsyncIterable<Uint8Array>;

export interface GrpcCall {
  readonly message: Uint8Array;
  /** In lower case. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Aborted when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Sent back with the answer; only before the first message. */
  setHeader(name: string, value: string): void;
}

export const grpcStatus = {
  ok: 0,
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const;

export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface GrpcListener {
  readonly port: number;
  close(): Promise<void>;
}

export async function listenGrpc(options: GrpcServerOptions): Promise<GrpcListener> {
  const http2 = createHttp2Server();
  const streams = new Set<ServerHttp2Stream>();
  http2.on("stream", (stream, headers) => {
    streams.add(stream);
    stream.once("close", () => streams.delete(stream));
    stream.on("error", () => undefined);
    // A caller can go at any moment, also between our last look and our answer: then there is nobody to tell.
    serve(stream, headers as Readonly<Record<string, string | undefined>>, options).catch(() => stream.destroy());
  });
  const http = createHttpServer((request, response) => {
    const known = request.url === "/health" || request.url === "/healthz";
    response.writeHead(known ? 200 : 404, { "content-type": "text/plain" });
    response.end(known ? "ok" : "this port speaks gRPC\n");
  });
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    // Every HTTP/2 connection begins with the same words; anything else is HTTP/1.1. What was read is put back.
    const look = (): void => {
      const first = socket.read() as Buffer | null;
      if (first === null) {
        socket.once("readable", look);
        return;
      }
      socket.unshift(first);
      const target = first.subarray(0, 3).toString("latin1") === "PRI" ? http2 : http;
      target.emit("connection", socket);
    };
    socket.once("readable", look);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const stream of streams) stream.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const defaultMaxMessageBytes = 4 * 1024 * 1024;
const prefixBytes = 5;

async function serve(
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, string | undefined>>,
  { env, methods, maxMessageBytes = defaultMaxMessageBytes }: GrpcServerOptions,
): Promise<void> {
  const abort = new AbortController();
  stream.once("close", () => abort.abort(new GrpcError(grpcStatus.cancelled, "the caller has gone")));
  const answer = new Answer(stream);
  const timeoutMs = parseTimeoutMs(headers["grpc-timeout"]);
  const late = new GrpcError(grpcStatus.deadlineExceeded, "the deadline has passed");
  const cancel =
    timeoutMs === undefined
      ? undefined
      : env.setTimer(timeoutMs, () => {
          abort.abort(late);
          answer.end(late);
        });
  try {
    if (!headers["content-type"]?.startsWith("application/grpc")) {
      stream.respond({ ":status": 415 }, { endStream: true });
      return;
    }
    const method = methods.get(headers[":path"] ?? "");
    if (method === undefined) throw new GrpcError(grpcStatus.unimplemented, `there is no method ${headers[":path"]}`);
    const message = await readMessage(stream, maxMessageBytes);
    const metadata = Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]) =>
        name.startsWith(":") || value === undefined ? [] : [[name, String(value)]],
      ),
    );
    const call = {
      message,
      metadata,
      signal: abort.signal,
      setHeader: (name: string, value: string) => answer.setHeader(name, value),
    };
    for await (const part of method(call)) answer.send(part);
    answer.end(undefined);
  } catch (error) {
    answer.end(
      error instanceof GrpcError
        ? error
        : new GrpcError(grpcStatus.internal, error instanceof Error ? error.message : String(error)),
    );
  } finally {
    cancel?.();
  }
}

/** Headers, messages, trailers: each once and in this order, whatever happens. */
class Answer {
  readonly #stream: ServerHttp2Stream;
  readonly #headers: Record<string, string> = {};
  #begun = false;
  #ended = false;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  /** Reset by the caller, or torn down: writing to it would throw. */
  get #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  send(message: Uint8Array): void {
    if (this.#ended || this.#isGone) return;
    this.#begin();
    const prefix = Buffer.alloc(prefixBytes);
    prefix.writeUInt32BE(message.length, 1);
    this.#stream.write(Buffer.concat([prefix, message]));
  }

  end(error: GrpcError | undefined): void {
    if (this.#ended || this.#isGone) return;
    this.#begin();
    this.#ended = true;
    this.#stream.once("wantTrailers", () => {
      if (this.#isGone) return;
      this.#stream.sendTrailers({
        "grpc-status": String(error?.code ?? grpcStatus.ok),
        ...(error && { "grpc-message": encodeURIComponent(error.message) }),
      });
    });
    this.#stream.end();
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const headers = { ...this.#headers, ":status": 200, "content-type": "application/grpc+proto" };
    this.#stream.respond(headers, { waitForTrailers: true });
  }
}

async function readMessage(stream: ServerHttp2Stream, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes + prefixBytes)
      throw new GrpcError(grpcStatus.resourceExhausted, `a message has at most ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks, length);
  if (length < prefixBytes) throw new GrpcError(grpcStatus.invalidArgument, "the call has no message");
  if (body[0] !== 0) throw new GrpcError(grpcStatus.unimplemented, "compressed messages are not understood");
  const size = body.readUInt32BE(1);
  if (size !== length - prefixBytes)
    throw new GrpcError(grpcStatus.invalidArgument, "the message is cut short or followed by another");
  return body.subarray(prefixBytes);
}

const unitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** `100m` is a tenth of a second. */
export function parseTimeoutMs(text: string | undefined): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text ?? "") ?? [];
  const unitMs = unitsMs[unit ?? ""];
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs;
}
