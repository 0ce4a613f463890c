import type { IncomingMessage, Server } from "node:http";
import type { Http2SecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, Server as TlsServer } from "node:tls";
import { type Env, sleep } from "../env/env.ts";
import { WholeBody } from "./body.ts";
import { type AnyRequest, type AnyResponse, Exchange, flatHeaders, readBody, type SocketRequest } from "./exchange.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

/**
 * The socket side of an HttpHandler: HTTP/2 and HTTP/1.1 over TLS, or plain HTTP/1.1. Everything that a stranger can send
 * is bounded here: the size of a body, the time that a request may take to arrive, the names that it may call us by.
 */
export interface ListenOptions {
  readonly env: Env;
  /** May answer at once; then the answer leaves in the same turn. */
  readonly handler: (request: SocketRequest) => HttpResponse | Promise<HttpResponse>;
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

export type { PeerCertificate, SocketRequest } from "./exchange.ts";

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
  const server = options.tls ? createTlsServer(options.tls) : createPlainServer();
  server.on("request", (request: AnyRequest, response: AnyResponse) => exchanges.serve(request, response));
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

// An import statement would read every export of node:http, among them its WebSocket: that loads all of undici, which costs
// a start a tenth of its time. And a program that imports us without ever listening need load neither.
function createPlainServer(): Server {
  return process.getBuiltinModule("node:http").createServer({
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    // A request that has no body need not be a stream that ends.
    optimizeEmptyRequests: true,
    // Java's client offers HTTP/2 with every plain request; declining means to answer it as it is.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() !== "h2c",
  });
}

function createTlsServer(tls: TlsOptions): Http2SecureServer & TlsServer {
  return process.getBuiltinModule("node:http2").createSecureServer({
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
  /** Clients call us by the same name again and again. */
  #lastAuthority: string | undefined;
  #closing = false;

  constructor(options: ListenOptions) {
    this.#options = options;
    this.#isOurHost = options.isOurHost ?? ((hostname) => isLoopbackName(hostname) || hostname === options.host);
  }

  serve(request: AnyRequest, response: AnyResponse): void {
    const { bodyLimitBytes = defaultBodyLimitBytes, refuse = plainRefusal } = this.#options;
    const exchange = new Exchange(request, response);
    const authority = authorityOf(request);
    if (!this.#isOurs(authority)) {
      this.#answer(exchange, () =>
        refuse({ kind: "UnknownHost", host: hostnameOf(authority) }, exchange.incoming(undefined)),
      );
      return;
    }
    const { handler } = this.#options;
    if (request.method === "GET" || request.method === "HEAD") {
      this.#answer(exchange, () => handler(exchange.incoming(undefined)));
      return;
    }
    this.#underWay.add(exchange);
    readBody(request, bodyLimitBytes, (body) => {
      if (body === "Broken") {
        exchange.abandon();
        this.#finished(exchange);
        return;
      }
      exchange.closeAfterwards = body === "TooLarge";
      this.#answer(exchange, () =>
        body === "TooLarge"
          ? refuse({ kind: "BodyTooLarge", limitBytes: bodyLimitBytes }, exchange.incoming(undefined))
          : handler(exchange.incoming(body)),
      );
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { onUpgrade } = this.#options;
    if (!onUpgrade || !this.#isOurs(authorityOf(request))) {
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

  /** An answer that is there at once leaves in the same turn; everything else is under way until it is out. */
  #answer(exchange: Exchange, ask: () => HttpResponse | Promise<HttpResponse>): void {
    try {
      const answer = ask();
      if (!(answer instanceof Promise) && answer.body instanceof WholeBody) {
        exchange.sendWhole(answer, answer.body, this.#closing);
        this.#finished(exchange);
        return;
      }
      this.#underWay.add(exchange);
      exchange.follow();
      void this.#send(exchange, answer);
    } catch {
      this.#broke(exchange);
    }
  }

  async #send(exchange: Exchange, asked: HttpResponse | Promise<HttpResponse>): Promise<void> {
    try {
      const answer = await asked;
      if (answer.body instanceof WholeBody) exchange.sendWhole(answer, answer.body, this.#closing);
      else await exchange.sendStream(answer, this.#closing);
      this.#finished(exchange);
    } catch {
      this.#broke(exchange);
    }
  }

  /** The handler answers every fault itself; what ends up here is a connection that broke in the middle. */
  #broke(exchange: Exchange): void {
    exchange.abandon();
    this.#finished(exchange);
  }

  #finished(exchange: Exchange): void {
    if (this.#underWay.delete(exchange) && this.#underWay.size === 0)
      for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #isOurs(authority: string): boolean {
    if (authority === this.#lastAuthority) return true;
    const isOurs = this.#isOurHost(hostnameOf(authority));
    if (isOurs) this.#lastAuthority = authority;
    return isOurs;
  }
}

const authorityOf = ({ headers }: AnyRequest): string => String(headers[":authority"] ?? headers.host ?? "");

const hostnameOf = (authority: string): string =>
  authority
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();

const isLoopbackName = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "::1" || /^127\.\d+\.\d+\.\d+$/.test(hostname);

function plainRefusal(refusal: Refusal): HttpResponse {
  const [status, text] =
    refusal.kind === "BodyTooLarge"
      ? [413, `the body is larger than ${refusal.limitBytes} bytes`]
      : [403, `this server does not answer to the name ${JSON.stringify(refusal.host)}`];
  const body = Buffer.from(`${text}\n`);
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(body.length) };
  return { status, headers, body: new WholeBody(body) };
}
