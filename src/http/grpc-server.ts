import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createNetServer, type Socket } from "node:net";
import { type Env, sleep } from "../env/env.ts";
import { GrpcAnswer } from "./grpc-answer.ts";
import { readMessages } from "./grpc-messages.ts";
import { GrpcError, grpcStatus } from "./grpc-status.ts";

// For why they are not imported, see server.ts.
const { createServer: createHttpServer } = process.getBuiltinModule("node:http");
const { createServer: createHttp2Server } = process.getBuiltinModule("node:http2");

/**
 * A gRPC server without a framework: calls and streams over HTTP/2 in the clear, with deadlines and trailers. Messages are
 * bytes; who gives them meaning is elsewhere. HTTP/1.1 on the same port answers health probes. Everything that a stranger
 * can send is bounded here.
 */
export interface GrpcServerOptions {
  readonly env: Env;
  readonly host?: string;
  readonly port: number;
  /** By path: `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod>;
  readonly maxMessageBytes?: number;
  /** How long a stop waits for answers that are under way. */
  readonly drainMs?: number;
}

export type GrpcMethod = (call: GrpcCall) => AsyncIterable<Uint8Array>;

export interface GrpcCall {
  /** What the caller sends: one message, or as many as it likes. */
  readonly messages: AsyncIterable<Uint8Array>;
  /** In lower case. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Aborted when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Sent back with the answer; only before the first message. */
  setHeader(name: string, value: string): void;
}

export interface GrpcListener {
  readonly port: number;
  close(): Promise<void>;
}

const defaultMaxMessageBytes = 4 * 1024 * 1024;
const defaultDrainMs = 1_000;
/** A connection has to say within this time what it speaks, and a probe has to ask. */
const helloMs = 10_000;
/**
 * Not announced as a setting: Node counts a stream for a moment longer than its caller does, and would break off calls of one
 * who keeps to the number.
 */
const maxCallsPerConnection = 1_000;
const maxConnections = 1_000;
/** Node's own limit refuses streams of a caller who asks for as many as we allow. */
const sessionMemoryMegabytes = 64;

export async function listenGrpc(options: GrpcServerOptions): Promise<GrpcListener> {
  const { env, drainMs = defaultDrainMs } = options;
  const calls = new Set<Promise<void>>();
  const sessions = new Map<ServerHttp2Session, { open: number }>();
  const http2 = createHttp2Server({ maxSessionMemory: sessionMemoryMegabytes });
  http2.on("session", (session) => {
    sessions.set(session, { open: 0 });
    session.once("close", () => sessions.delete(session));
  });
  http2.on("sessionError", () => undefined);
  http2.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    const call = new Promise<void>((resolve) => stream.once("close", resolve));
    calls.add(call);
    const count = sessions.get(stream.session as ServerHttp2Session) ?? { open: 0 };
    count.open++;
    void call.then(() => {
      calls.delete(call);
      count.open--;
    });
    if (count.open > maxCallsPerConnection) {
      new GrpcAnswer(stream).end(tooMany);
      return;
    }
    // A caller can go at any moment, also between our last look and our answer: then there is nobody to tell.
    serve(stream, headers as Headers, options).catch(() => stream.destroy());
  });
  const http = createHttpServer((request, response) => {
    const known = request.url === "/health" || request.url === "/healthz";
    response.writeHead(known ? 200 : 404, { "content-type": "text/plain", connection: "close" });
    response.end(known ? "ok" : "this port speaks gRPC\n");
  });
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    const cancel = env.setTimer(helloMs, () => socket.destroy());
    socket.once("close", () => {
      cancel();
      sockets.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    sortOut(socket, (speaks) => {
      // A probe is over in a moment, so its clock goes on; a gRPC connection stays.
      if (speaks === "HTTP/2") cancel();
      (speaks === "HTTP/2" ? http2 : http).emit("connection", socket);
    });
  });
  server.maxConnections = maxConnections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host ?? "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions.keys()) session.close();
      const late = new AbortController();
      await Promise.race([Promise.all(calls), sleep(env, drainMs, late.signal).catch(() => undefined)]);
      late.abort();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const tooMany = new GrpcError(
  grpcStatus.unavailable,
  `there are ${maxCallsPerConnection} calls on this connection already`,
);

/** Every HTTP/2 connection begins with the same words; anything else is HTTP/1.1. What was read is put back. */
function sortOut(socket: Socket, decide: (speaks: "HTTP/2" | "HTTP/1.1") => void): void {
  let said = Buffer.alloc(0);
  const look = (): void => {
    said = Buffer.concat([said, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
    const begin = said.subarray(0, greeting.length).toString("latin1");
    if (begin !== greeting && greeting.startsWith(begin)) {
      socket.once("readable", look);
      return;
    }
    socket.unshift(said);
    decide(begin === greeting ? "HTTP/2" : "HTTP/1.1");
  };
  socket.once("readable", look);
}

const greeting = "PRI";

type Headers = Readonly<Record<string, string | undefined>>;

async function serve(
  stream: ServerHttp2Stream,
  headers: Headers,
  { env, methods, maxMessageBytes = defaultMaxMessageBytes }: GrpcServerOptions,
): Promise<void> {
  const { ":method": verb, ":path": path = "", "content-type": type = "" } = headers;
  if (verb !== "POST" || !type.startsWith("application/grpc")) {
    stream.respond({ ":status": verb === "POST" ? 415 : 405 }, { endStream: true });
    stream.close();
    return;
  }
  const abort = new AbortController();
  stream.once("close", () => abort.abort(new GrpcError(grpcStatus.cancelled, "the caller has gone")));
  const answer = new GrpcAnswer(stream);
  const timeoutMs = parseTimeoutMs(headers["grpc-timeout"]);
  const late = new GrpcError(grpcStatus.deadlineExceeded, "the deadline has passed");
  const cancel =
    timeoutMs === undefined
      ? undefined
      : env.setTimer(timeoutMs, () => {
          answer.end(late);
          abort.abort(late);
        });
  try {
    const method = methods.get(path);
    if (method === undefined) throw new GrpcError(grpcStatus.unimplemented, `there is no method ${path}`);
    const call: GrpcCall = {
      messages: readMessages(chunksOf(stream), headers["grpc-encoding"], maxMessageBytes),
      metadata: metadataOf(headers),
      signal: abort.signal,
      setHeader: (name, value) => answer.setHeader(name, value),
    };
    for await (const part of method(call)) await answer.send(part);
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

/** Reading that stops early must not tear down the stream: the refusal has yet to go out on it. */
const chunksOf = (stream: ServerHttp2Stream): AsyncIterable<Buffer> => stream.iterator({ destroyOnReturn: false });

const metadataOf = (headers: Headers): GrpcCall["metadata"] =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(":") || value === undefined ? [] : [[name, String(value)]],
    ),
  );

const unitsMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/** `100m` is a tenth of a second. */
export function parseTimeoutMs(text: string | undefined): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(text ?? "") ?? [];
  const unitMs = unitsMs[unit ?? ""];
  return digits === undefined || unitMs === undefined ? undefined : Number(digits) * unitMs;
}
