import { connect, type Socket } from "node:net";
import type { Env } from "../../env/env.ts";

/** Speaks to the console of a running server: Source RCON over TCP. */
export interface RconTarget {
  readonly host: string;
  readonly port: number;
  readonly password: string;
}

export type RconReason = "Unreachable" | "WrongPassword" | "TimedOut" | "Malformed";

export class RconError extends Error {
  override readonly name = "RconError";
  readonly reason: RconReason;
  constructor(reason: RconReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

const timeoutMs = 10_000;
const maxPacketBytes = 1024 * 1024;

/** Sends commands one after the other and answers what the server said to each. */
export async function sendCommands(
  env: Env,
  target: RconTarget,
  commands: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const connection = new Connection(connect({ host: target.host, port: target.port }));
  const onAbort = (): void => connection.fail(new RconError("TimedOut", "the conversation was cancelled"));
  signal?.addEventListener("abort", onAbort, { once: true });
  const cancel = env.setTimer(timeoutMs, () =>
    connection.fail(
      new RconError("TimedOut", `${target.host}:${target.port} did not answer within ${timeoutMs / 1_000} s`),
    ),
  );
  try {
    await connection.ask(authentication, target.password);
    const answers: string[] = [];
    for (const command of commands) answers.push(await said(connection, command));
    return answers;
  } finally {
    cancel();
    signal?.removeEventListener("abort", onAbort);
    connection.close();
  }
}

/** A server that stops may hang up instead of answering. */
async function said(connection: Connection, command: string): Promise<string> {
  try {
    return await connection.ask(execution, command);
  } catch (error) {
    if (command === "stop" && error instanceof RconError && error.reason === "Unreachable") return "";
    throw error;
  }
}

const authentication = 3;
const execution = 2;
const authenticated = 2;
/** Nothing that a server knows; it answers all the same, after everything that came before. */
const unknown = 100;
/** An answer that fills a packet goes on in the next one, or has just ended. */
const fullPacketBytes = 4_096;

interface Packet {
  readonly id: number;
  readonly type: number;
  readonly body: Buffer;
}

class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #nextId = 1;
  #waiting: { readonly resolve: (packet: Packet) => void; readonly reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;
  readonly #early: Packet[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.fail(new RconError("Unreachable", error.message, { cause: error })));
    socket.on("close", () => this.fail(new RconError("Unreachable", "the server closed the connection")));
  }

  async ask(type: number, body: string): Promise<string> {
    const id = this.#send(type, body);
    const parts: Buffer[] = [];
    let endId: number | undefined;
    while (true) {
      const packet = await this.#next();
      if (type === authentication) {
        // An empty answer may come before the verdict.
        if (packet.type !== authenticated) continue;
        if (packet.id === -1) throw new RconError("WrongPassword", "the password was refused");
        return "";
      }
      if (packet.id !== id && packet.id !== endId) continue;
      if (packet.id === id) parts.push(packet.body);
      if (packet.id === endId || packet.body.length < fullPacketBytes) return Buffer.concat(parts).toString("utf8");
      // Only now, because a server reads one packet at a time and forgets what came with it.
      endId ??= this.#send(unknown, "");
    }
  }

  #send(type: number, body: string): number {
    const id = this.#nextId++;
    this.#socket.write(encode({ id, type, body: Buffer.from(body, "utf8") }));
    return id;
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  close(): void {
    this.#failure ??= new RconError("Unreachable", "the conversation is over");
    this.#socket.destroy();
  }

  #next(): Promise<Packet> {
    const early = this.#early.shift();
    if (early) return Promise.resolve(early);
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 4) {
      const length = this.#received.readInt32LE(0);
      if (length < 10 || length > maxPacketBytes) {
        this.fail(new RconError("Malformed", "the server does not speak RCON"));
        return;
      }
      if (this.#received.length < 4 + length) return;
      const packet: Packet = {
        id: this.#received.readInt32LE(4),
        type: this.#received.readInt32LE(8),
        body: this.#received.subarray(12, 4 + length - 2),
      };
      this.#received = this.#received.subarray(4 + length);
      const { resolve } = this.#waiting ?? {};
      this.#waiting = undefined;
      if (resolve) resolve(packet);
      else this.#early.push(packet);
    }
  }
}

export function encode({ id, type, body }: Packet): Buffer {
  const packet = Buffer.alloc(14 + body.length);
  packet.writeInt32LE(10 + body.length, 0);
  packet.writeInt32LE(id, 4);
  packet.writeInt32LE(type, 8);
  body.copy(packet, 12);
  return packet;
}
