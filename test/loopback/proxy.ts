import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

/** Proxies on loopback that lead every tunnel to one port, and remember where they were asked to go. */
export interface LoopbackProxy {
  readonly host: string;
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export async function startHttpProxy(port: number, password?: string): Promise<LoopbackProxy> {
  const asked: string[] = [];
  return serve(asked, (socket) => {
    let head = "";
    const onData = (chunk: Buffer): void => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      socket.off("data", onData);
      asked.push(head.split("\r\n")[0] ?? "");
      const given = /proxy-authorization: Basic (\S+)/i.exec(head)?.[1] ?? "";
      if (password !== undefined && Buffer.from(given, "base64").toString() !== password)
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      else join(socket, port, () => socket.write("HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n"));
    };
    socket.on("data", onData);
  });
}

export async function startSocksProxy(port: number, password?: string): Promise<LoopbackProxy> {
  const asked: string[] = [];
  return serve(asked, (socket) => {
    const steps: ((chunk: Buffer) => void)[] = [
      () => socket.write(Uint8Array.of(5, password === undefined ? 0 : 2)),
      ...(password === undefined
        ? []
        : [
            (chunk: Buffer): void => {
              const user = chunk.subarray(2, 2 + (chunk[1] ?? 0)).toString();
              const secret = chunk.subarray(3 + user.length).toString();
              socket.write(Uint8Array.of(1, `${user}:${secret}` === password ? 0 : 1));
            },
          ]),
      (chunk) => {
        const length = chunk[4] ?? 0;
        asked.push(`${chunk.subarray(5, 5 + length).toString()}:${chunk.readUInt16BE(5 + length)}`);
        socket.removeAllListeners("data");
        join(socket, port, () => socket.write(Uint8Array.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0)));
      },
    ];
    socket.on("data", (chunk: Buffer) => steps.shift()?.(chunk));
  });
}

function join(socket: Socket, port: number, ready: () => void): void {
  const other = connect(port, "127.0.0.1", () => {
    ready();
    socket.pipe(other);
    other.pipe(socket);
  });
  for (const [one, two] of [
    [socket, other],
    [other, socket],
  ] as const) {
    one.on("error", () => two.destroy());
    one.on("close", () => two.destroy());
  }
}

async function serve(asked: readonly string[], onSocket: (socket: Socket) => void): Promise<LoopbackProxy> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
