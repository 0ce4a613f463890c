import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** A small server that speaks RCON, as far as a Minecraft server does. */
export interface RconServer {
  readonly port: number;
  /** Every command, in order. */
  readonly commands: readonly string[];
  close(): Promise<void>;
}

/** A command without an answer makes it hang up. */
export async function startRcon(
  password: string,
  answer: (command: string) => string | undefined = () => "",
): Promise<RconServer> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    let received = Buffer.alloc(0);
    let isKnown = false;
    // In two pieces, as TCP likes to do.
    let last: Promise<void> = Promise.resolve();
    const say = (reply: Buffer): void => {
      last = last.then(async () => {
        socket.write(reply.subarray(0, 5));
        await new Promise((resolve) => setImmediate(resolve));
        socket.write(reply.subarray(5));
      });
    };
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32LE(0)) {
        const length = received.readInt32LE(0);
        const [id, type] = [received.readInt32LE(4), received.readInt32LE(8)];
        const body = received.subarray(12, 2 + length).toString();
        received = received.subarray(4 + length);
        if (type === 3) {
          isKnown = body === password;
          socket.write(packet(isKnown ? id : -1, 2, ""));
        } else if (isKnown && type === 2) {
          commands.push(body);
          const text = answer(body);
          if (text === undefined) return void socket.destroy();
          // In pieces of 4,096 characters, as a server makes them.
          const pieces = Array.from({ length: Math.max(1, Math.ceil(text.length / 4_096)) }, (_, index) =>
            packet(id, 0, text.slice(index * 4_096, (index + 1) * 4_096)),
          );
          say(Buffer.concat(pieces));
        } else if (isKnown) say(packet(id, 0, `Unknown request ${type.toString(16)}`));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function packet(id: number, type: number, text: string): Buffer {
  const body = Buffer.from(text);
  const whole = Buffer.alloc(14 + body.length);
  whole.writeInt32LE(10 + body.length, 0);
  whole.writeInt32LE(id, 4);
  whole.writeInt32LE(type, 8);
  body.copy(whole, 12);
  return whole;
}
