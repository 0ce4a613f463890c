import { type IncomingMessage, Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpHandler } from "../http/message.ts";

/**
 * A bare HTTP/1.1 socket in front of a handler, for tests and benchmarks that must see what a client sees. Java's client
 * offers `Upgrade: h2c` with every request; here, as in the product, that is passed over and answered in HTTP/1.1.
 */
export async function listenForTests(handler: HttpHandler, port = 0): Promise<LoopbackServer> {
  const server = new Server({ shouldUpgradeCallback: () => false }, (request, response) => {
    answer(handler, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    port: taken,
    url: `http://127.0.0.1:${taken}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface LoopbackServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

async function answer(handler: HttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const answered = await handler({
    method: request.method ?? "GET",
    target: request.url ?? "/",
    headers: request.headers as Record<string, string>,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    signal: gone.signal,
  });
  response.writeHead(answered.status, answered.headers);
  response.flushHeaders();
  for await (const chunk of answered.body) {
    if (gone.signal.aborted) return;
    if (!response.write(chunk)) await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
  }
  response.end();
}
