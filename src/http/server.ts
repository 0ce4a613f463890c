import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket, Server as TlsServer } from "node:tls";
import { type Env, sleep } from "../env/env.ts";
import { WholeBody } from "./body.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "./message.ts";

// An import statement would read every export of node:http, among them its WebSocket: that loads all of undici, which costs
// a start a tenth of its time.
const { createServer: createHttpServer } = process.getBuiltinModule("node:http");
const { createSecureServer } = process.getBuiltinModule("node:http2");

/**
 * The socket side of an HttpHandler: HTTP/2 and HTTP/1.1 over TLS, or plain HTTP/1.1. Everything that a stranger can send
 * is bounded here: the size of a body, the time that a request may take to arrive, the names that it may call us by.
 */
export interface ListenOptions {
  readonly env: Env;
  readonly handler: HttpHandler;
  /** 127.0.0.1 unless told otherwise. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls?: TlsOptions;
  readonly bodyLimitBytes?: number;
  /** Says whether we answer to this name (without its port). By default everything on loopback is us. */
  readonly isOurHost?: (hostname: string) => boolean;
  /** How a refusal of this layer looks to the client. */
  readonly refuse?: (refusal: Refusal, request: HttpRequest) => HttpResponse;
  /** Called for connection upgrades; without it they are refused. The socket belongs to the callee. */
  readonly onUpgrade?: (request: HttpRequest, socket: Duplex, head: Uint8Array) => void;
  /** How long a stop waits for answers that are under way. */
  readonly drainMs?: number;
}

export interface TlsOptions {
  readonly key: string;
  readonly cert: string;
  /** Client certificates signed by this authority are handed to the handler as `peer`. */
  readonly clientCa?: string;
}

export type Refusal =
  | { readonly kind: "BodyTooLarge"; readonly limitBytes: number }
  | { readonly kind: "UnknownHost"; readonly host: string };

/** A request that came over a socket. */
export interface SocketRequest extends HttpRequest {
  /** The client certificate, verified against `clientCa`. */
  readonly peer?: PeerCertificate;
}

export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Another certificate for connections to come; those that stand go on. Throws when the pair does not fit. */
  setCertificate(tls: TlsOptions): void;
  /** Refuses new connections, ends streams, waits for answers that are under way, then cuts what is left. */
  close(): Promise<void>;
}

export const defaultBodyLimitBytes = 3 * 1024 * 1024;
const defaultDrainMs = 5_000;
const requestTimeoutMs = 60_000;
const keepAliveMs = 120_000;
const maxStreamsPerConnection = 250;
const sessionMemoryMegabytes = 512;
const receiveWindowBytes = 1024 * 1024;

export async function listen(options: ListenOptions): Promise<Listener> {
  const host = options.host ?? "127.0.0.1";
  const exchanges = new Exchanges(options);
  const server = options.tls
    ? createTlsServer(options.tls)
    : createHttpServer({
        keepAliveTimeout: keepAliveMs,
        requestTimeout: requestTimeoutMs,
        // Java's client offers HTTP/2 with every plain request; declining means to answer it as it is.
        shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() !== "h2c",
      });
  server.on("request", (request: AnyRequest, response: AnyResponse) => void exchanges.serve(request, response));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    exchanges.upgrade(request, socket, head),
  );
  // A client that speaks no HTTP or no TLS is its own problem, never ours.
  server.on("clientError", (_error: Error, socket: Duplex) => socket.destroy());
  server.on("sessionError", () => {});
  const sockets = trackSockets(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${options.tls ? "https" : "http"}://${name}:${port}`,
    port,
    setCertificate(tls) {
      if (!("setSecureContext" in server)) throw new Error("a listener without TLS has no certificate");
      server.setSecureContext(secretsOf(tls));
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      exchanges.endStreams();
      await Promise.race([exchanges.idle(), sleep(options.env, options.drainMs ?? defaultDrainMs)]);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;

function createTlsServer(tls: TlsOptions): Http2SecureServer & TlsServer {
  return createSecureServer({
    ...secretsOf(tls),
    allowHTTP1: true,
    ...(tls.clientCa !== undefined && { requestCert: true, rejectUnauthorized: false }),
    // The default refuses new streams while one large list is on its way to a slow reader.
    maxSessionMemory: sessionMemoryMegabytes,
    settings: { maxConcurrentStreams: maxStreamsPerConnection, initialWindowSize: receiveWindowBytes },
  });
}

const secretsOf = ({ key, cert, clientCa }: TlsOptions): SecureContextOptions => ({
  key,
  cert,
  ...(clientCa !== undefined && { ca: clientCa }),
});

function trackSockets(server: Server | Http2SecureServer): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

/** The exchanges that are under way on one listener. */
class Exchanges {
  readonly #options: ListenOptions;
  readonly #underWay = new Set<Exchange>();
  readonly #isOurHost: (hostname: string) => boolean;
  readonly #whenIdle: (() => void)[] = [];
  #closing = false;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#isOurHost = options.isOurHost ?? ((hostname) => isLoopbackName(hostname) || hostname === options.host);
  }

  async serve(request: AnyRequest, response: AnyResponse): Promise<void> {
    const exchange = new Exchange(request, response);
    this.#underWay.add(exchange);
    try {
      const incoming = await this.#receive(exchange);
      if (incoming) await exchange.send(incoming, this.#closing && request.httpVersionMajor === 1);
    } catch {
      // The handler answers every fault itself; what ends up here is a connection that broke in the middle.
      exchange.abandon();
    } finally {
      this.#underWay.delete(exchange);
      if (this.#underWay.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { onUpgrade } = this.#options;
    const hostname = hostnameOf(request);
    if (!onUpgrade || !this.#isOurHost(hostname)) {
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    socket.on("error", () => socket.destroy());
    onUpgrade(
      { method: request.method ?? "GET", target: request.url ?? "/", headers: flatHeaders(request) },
      socket,
      head,
    );
  }

  endStreams(): void {
    this.#closing = true;
    for (const exchange of this.#underWay) exchange.abort();
  }

  idle(): Promise<void> {
    if (this.#underWay.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  async #receive(exchange: Exchange): Promise<HttpResponse | undefined> {
    const { handler, refuse = plainRefusal, bodyLimitBytes = defaultBodyLimitBytes } = this.#options;
    const host = hostnameOf(exchange.request);
    if (!this.#isOurHost(host)) return refuse({ kind: "UnknownHost", host }, exchange.incoming(undefined));
    const body = await readBody(exchange.request, bodyLimitBytes);
    if (body === "TooLarge") {
      exchange.closeAfterwards = true;
      return refuse({ kind: "BodyTooLarge", limitBytes: bodyLimitBytes }, exchange.incoming(undefined));
    }
    return handler(exchange.incoming(body));
  }
}

/** One request and its answer. */
class Exchange {
  readonly request: AnyRequest;
  readonly #response: AnyResponse;
  #controller: AbortController | undefined;
  #gone = false;
  closeAfterwards = false;

  constructor(request: AnyRequest, response: AnyResponse) {
    this.request = request;
    this.#response = response;
    const gone = (): void => {
      this.#gone = true;
      this.abort();
    };
    response.once("close", gone);
    response.on("error", gone);
  }

  incoming(body: Uint8Array | undefined): SocketRequest {
    const { request } = this;
    const peer = peerOf(request);
    const signal = (): AbortSignal => this.#signal();
    return {
      method: request.method ?? "GET",
      target: request.url ?? "/",
      headers: flatHeaders(request),
      ...(body && { body }),
      ...(peer && { peer }),
      // Made only for those who ask: most requests are over before anybody could hang up.
      get signal() {
        return signal();
      },
    };
  }

  async send(answer: HttpResponse, closeConnection: boolean): Promise<void> {
    const response = this.#response as ServerResponse;
    if (this.#gone) return;
    const close = closeConnection || (this.closeAfterwards && this.request.httpVersionMajor === 1);
    response.writeHead(answer.status, close ? { ...answer.headers, connection: "close" } : answer.headers);
    if (answer.body instanceof WholeBody) {
      response.end(answer.body.chunk);
      return;
    }
    response.flushHeaders();
    for await (const chunk of answer.body) {
      if (this.#gone) return;
      if (!response.write(chunk)) await this.#drained(response);
    }
    response.end();
  }

  /** Tells the handler that nobody waits for more; a stream then ends by itself. */
  abort(): void {
    this.#controller?.abort();
  }

  abandon(): void {
    this.#response.destroy();
  }

  #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#gone) this.#controller.abort();
    return this.#controller.signal;
  }

  #drained(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        response.removeListener("drain", done);
        response.removeListener("close", done);
        resolve();
      };
      response.on("drain", done);
      response.on("close", done);
    });
  }
}

async function readBody(request: AnyRequest, limitBytes: number): Promise<Uint8Array | undefined | "TooLarge"> {
  const { method } = request;
  if (method === "GET" || method === "HEAD") return undefined;
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return "TooLarge";
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limitBytes) return "TooLarge";
    chunks.push(chunk);
  }
  if (length === 0) return undefined;
  const [first] = chunks;
  return chunks.length === 1 ? first : Buffer.concat(chunks, length);
}

function flatHeaders(request: AnyRequest): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

function hostnameOf(request: AnyRequest): string {
  const authority = String(request.headers[":authority"] ?? request.headers.host ?? "");
  return authority
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
}

const isLoopbackName = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

const peers = new WeakMap<object, PeerCertificate | "none">();

/** Asked once for each connection: reading a certificate costs more than serving a small request. */
function peerOf(request: AnyRequest): PeerCertificate | undefined {
  const connection = "stream" in request ? request.stream.session : request.socket;
  if (!connection) return undefined;
  let peer = peers.get(connection);
  if (peer === undefined) {
    const socket = ("socket" in connection ? connection.socket : connection) as TLSSocket | undefined;
    peer = socket?.authorized === true ? readPeer(socket) : "none";
    peers.set(connection, peer);
  }
  return peer === "none" ? undefined : peer;
}

function readPeer(socket: TLSSocket): PeerCertificate | "none" {
  const { subject } = socket.getPeerCertificate();
  if (!subject?.CN) return "none";
  const organizations = subject.O as string | string[] | undefined;
  return {
    commonName: Array.isArray(subject.CN) ? String(subject.CN[0]) : subject.CN,
    organizations: organizations === undefined ? [] : [organizations].flat(),
  };
}

function plainRefusal(refusal: Refusal): HttpResponse {
  const [status, text] =
    refusal.kind === "BodyTooLarge"
      ? [413, `the body is larger than ${refusal.limitBytes} bytes`]
      : [403, `this server does not answer to the name ${JSON.stringify(refusal.host)}`];
  const body = Buffer.from(`${text}\n`);
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(body.length) };
  return { status, headers, body: new WholeBody(body) };
}
