import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { WholeBody } from "./body.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = ServerResponse | Http2ServerResponse;

/** A request that came over a socket. */
export interface SocketRequest extends HttpRequest {
  /** The client certificate, verified against `clientCa`. */
  readonly peer?: PeerCertificate | undefined;
}

export interface PeerCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/**
 * One request and its answer. What only long answers need (a signal, someone who listens for the end of the connection)
 * is made only for them: most answers are out before anybody could hang up.
 */
export class Exchange {
  readonly request: AnyRequest;
  readonly #response: AnyResponse;
  #controller: AbortController | undefined;
  #isFollowed = false;
  #isGone = false;
  closeAfterwards = false;

  constructor(request: AnyRequest, response: AnyResponse) {
    this.request = request;
    this.#response = response;
    if (request.httpVersionMajor === 2) this.follow();
  }

  incoming(body: Uint8Array | undefined): SocketRequest {
    const { request } = this;
    return new IncomingRequest(request, headersOf(request), body, peerOf(request), this);
  }

  /** Notices when the other side goes; needed by everything that does not answer at once. */
  follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true;
    const gone = (): void => {
      this.#isGone = true;
      this.abort();
    };
    this.#response.once("close", gone);
    this.#response.on("error", gone);
  }

  sendWhole(answer: HttpResponse, body: WholeBody, closeConnection: boolean): void {
    const response = this.#response as ServerResponse;
    if (this.#isGone || response.destroyed) return;
    this.#writeHead(answer, closeConnection);
    if (this.closeAfterwards && "stream" in this.request) this.#closeStreamAfterwards(this.request);
    if (body.ascii === undefined) response.end(body.chunk);
    else response.end(body.ascii, "latin1");
  }

  async sendStream(answer: HttpResponse, closeConnection: boolean): Promise<void> {
    const response = this.#response as ServerResponse;
    this.follow();
    if (this.#isGone || response.destroyed) return;
    this.#writeHead(answer, closeConnection);
    response.flushHeaders();
    for await (const chunk of answer.body) {
      if (this.#isGone) return;
      if (!response.write(chunk)) await drained(response);
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

  #writeHead({ status, headers }: HttpResponse, closeConnection: boolean): void {
    const isClosing = this.request.httpVersionMajor === 1 && (closeConnection || this.closeAfterwards);
    (this.#response as ServerResponse).writeHead(status, isClosing ? { ...headers, connection: "close" } : headers);
  }

  /** HTTP/2 has no `connection: close`: whoever sends without end is cut off by ending the stream. */
  #closeStreamAfterwards({ stream }: Http2ServerRequest): void {
    this.#response.once("finish", () => stream.close());
  }

  /** Made for those who ask. */
  signal(): AbortSignal {
    this.follow();
    this.#controller ??= new AbortController();
    if (this.#isGone || (this.#response as ServerResponse).destroyed) this.#controller.abort();
    return this.#controller.signal;
  }
}

/** A class, because an object literal with a getter costs more than all the rest of a small exchange. */
class IncomingRequest implements SocketRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly peer: PeerCertificate | undefined;
  readonly #exchange: Exchange;

  constructor(
    { method = "GET", url = "/" }: AnyRequest,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array | undefined,
    peer: PeerCertificate | undefined,
    exchange: Exchange,
  ) {
    this.method = method;
    this.target = url;
    this.headers = headers;
    this.body = body;
    this.peer = peer;
    this.#exchange = exchange;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal();
  }
}

function drained(response: ServerResponse): Promise<void> {
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

/** Calls back once: with the whole body, with nothing where there is none, or because it is too large or broke off. */
export function readBody(
  request: AnyRequest,
  limitBytes: number,
  done: (body: Uint8Array | undefined | "TooLarge" | "Broken") => void,
): void {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    done("TooLarge");
    return;
  }
  // Where the listener saw that there is no body, nothing will ever tell of its end.
  if (request.readableEnded) {
    done(undefined);
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  let isDone = false;
  const end = (body: Uint8Array | undefined | "TooLarge" | "Broken"): void => {
    if (isDone) return;
    isDone = true;
    done(body);
  };
  request.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length <= limitBytes) {
      chunks.push(chunk);
      return;
    }
    request.pause();
    end("TooLarge");
  });
  request.once("end", () => {
    const [first] = chunks;
    end(chunks.length > 1 ? Buffer.concat(chunks, length) : first);
  });
  request.once("error", () => end("Broken"));
  request.once("close", () => end("Broken"));
}

/** Node has joined what came twice, except for one header that no request has. */
function headersOf(request: AnyRequest): Readonly<Record<string, string>> {
  const { headers } = request;
  const isFlat = request.httpVersionMajor === 1 && headers["set-cookie"] === undefined;
  return isFlat ? (headers as Record<string, string>) : flatHeaders(request);
}

export function flatHeaders(request: AnyRequest): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    flat[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

const peers = new WeakMap<object, PeerCertificate | "none">();

/** Asked once for each connection: reading a certificate costs more than serving a small request. */
function peerOf(request: AnyRequest): PeerCertificate | undefined {
  if (!("stream" in request) && !("encrypted" in request.socket)) return undefined;
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
