import type { Duplex } from "node:stream";
import type { HttpHandler, HttpRequest } from "../http/message.ts";

/**
 * Connections that want to become something else, as `kubectl exec` asks for. Nothing here does; the request is answered
 * like any other, so that the client learns why.
 */
export function answerUpgrade(handle: HttpHandler): (request: HttpRequest, socket: Duplex) => void {
  return (request, socket) => {
    void answer(handle, request, socket).catch(() => socket.destroy());
  };
}

async function answer(handle: HttpHandler, request: HttpRequest, socket: Duplex): Promise<void> {
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  const { status, headers, body } = await handle({ ...request, signal: gone.signal });
  // Not imported: that would load all of node:http's exports at the start of every server.
  const { STATUS_CODES } = process.getBuiltinModule("node:http");
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`);
  for await (const chunk of body) socket.write(chunk);
  socket.end();
}
