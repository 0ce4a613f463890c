import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Env } from "../env/env.ts";
import { ConnectionError } from "./connection-error.ts";

/** A connection through a proxy to somewhere else: HTTP CONNECT (also over TLS to the proxy) or SOCKS 5. */
export async function tunnelThrough(env: Env, proxy: URL, target: Target, timeoutMs: number): Promise<Socket> {
  const socket = openSocket(proxy);
  const cancelTimer = env.setTimer(timeoutMs, () => socket.destroy(new Error(`no tunnel within ${timeoutMs} ms`)));
  const reader = new SocketReader(socket);
  try {
    if (isSocks(proxy)) await askSocks(proxy, socket, reader, target);
    else await askHttp(proxy, socket, reader, target);
  } catch (error) {
    socket.destroy();
    throw rejected(proxy, error);
  } finally {
    cancelTimer();
  }
  reader.release();
  return socket;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

const isSocks = (proxy: URL): boolean => proxy.protocol === "socks5:" || proxy.protocol === "socks5h:";

/** What is written before the connection stands is sent as soon as it does. */
function openSocket(proxy: URL): Socket {
  const host = proxy.hostname.replace(/^\[|\]$/g, "");
  const port = Number(proxy.port || defaultPorts[proxy.protocol]);
  return proxy.protocol === "https:"
    ? connectTls({ host, port, servername: isIP(host) ? "" : host })
    : connectTcp({ host, port });
}

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "socks5:": 1080,
  "socks5h:": 1080,
};

async function askHttp(proxy: URL, socket: Socket, reader: SocketReader, { host, port }: Target): Promise<void> {
  const authority = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
  const secret = proxy.username === "" ? undefined : `${decode(proxy.username)}:${decode(proxy.password)}`;
  const authorization = secret ? `proxy-authorization: Basic ${Buffer.from(secret).toString("base64")}\r\n` : "";
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization}\r\n`);
  const head = (await reader.readUntil("\r\n\r\n")).toString("latin1");
  const status = /^HTTP\/1\.[01] (\d{3})[^\r]*/.exec(head);
  if (status?.[1] !== "200")
    throw new Error(`it answered ${JSON.stringify(status?.[0] ?? "something that is not HTTP")}`);
}

async function askSocks(proxy: URL, socket: Socket, reader: SocketReader, { host, port }: Target): Promise<void> {
  const hasUser = proxy.username !== "";
  socket.write(hasUser ? Uint8Array.of(5, 2, 0, 2) : Uint8Array.of(5, 1, 0));
  const [version, method] = await reader.read(2);
  if (version !== 5) throw new Error("it does not speak SOCKS 5");
  if (method === 2 && hasUser) {
    const user = Buffer.from(decode(proxy.username));
    const password = Buffer.from(decode(proxy.password));
    socket.write(Buffer.concat([Uint8Array.of(1, user.length), user, Uint8Array.of(password.length), password]));
    const [, granted] = await reader.read(2);
    if (granted !== 0) throw new Error("it refused the user and password");
  } else if (method !== 0) throw new Error("it accepts no way of authentication that we have");
  // The name is left to the proxy to resolve: it may be one that only the other side knows.
  const name = Buffer.from(host.replace(/^\[|\]$/g, ""));
  socket.write(Buffer.concat([Uint8Array.of(5, 1, 0, 3, name.length), name, Uint8Array.of(port >> 8, port & 255)]));
  const [, reply, , type] = await reader.read(4);
  if (reply !== 0) throw new Error(`it refused with SOCKS code ${reply}`);
  const length = type === 1 ? 4 : type === 4 ? 16 : ((await reader.read(1))[0] ?? 0);
  await reader.read(length + 2);
}

const decode = (text: string): string => decodeURIComponent(text);

/** The password of the proxy's URL never gets into a message. */
function rejected(proxy: URL, cause: unknown): ConnectionError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ConnectionError(`proxy ${proxy.protocol}//${proxy.host}: ${why}`, {
    reason: "ProxyRejected",
    mayHaveBeenApplied: false,
    cause,
  });
}

/** Reads exact numbers of bytes, and puts back what was read too far. */
class SocketReader {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #ended: Error | undefined;
  #wake: (() => void) | undefined;
  readonly #onData = (chunk: Buffer): void => {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    this.#wake?.();
  };
  readonly #onEnd = (error?: unknown): void => {
    this.#ended ??= error instanceof Error ? error : new Error("it closed the connection");
    this.#wake?.();
  };

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", this.#onData).on("error", this.#onEnd).on("close", this.#onEnd);
  }

  read(length: number): Promise<Buffer> {
    return this.#take(() => (this.#buffer.length >= length ? length : undefined));
  }

  readUntil(mark: string): Promise<Buffer> {
    return this.#take(() => {
      const at = this.#buffer.indexOf(mark);
      if (at >= 0) return at + mark.length;
      if (this.#buffer.length > maxHeadBytes) throw new Error("its answer has no end");
      return undefined;
    });
  }

  release(): void {
    this.#socket.pause();
    this.#socket.off("data", this.#onData).off("error", this.#onEnd).off("close", this.#onEnd);
    if (this.#buffer.length > 0) this.#socket.unshift(this.#buffer);
  }

  async #take(lengthOf: () => number | undefined): Promise<Buffer> {
    for (;;) {
      const length = lengthOf();
      if (length !== undefined) {
        const taken = this.#buffer.subarray(0, length);
        this.#buffer = this.#buffer.subarray(length);
        return taken;
      }
      if (this.#ended) throw this.#ended;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const maxHeadBytes = 16 * 1024;
