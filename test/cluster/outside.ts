import { type AddressInfo, connect, createServer, type Server } from "node:net";

/** Lets pods reach a server of this machine that listens on loopback only. */
export async function openTo(address: string, port: number): Promise<{ readonly port: number; close(): void }> {
  const server: Server = createServer((socket) => {
    const inner = connect(port, "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, resolve);
  });
  server.unref();
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
