import assert from "node:assert/strict";
import { connect } from "node:net";
import type { Conversation } from "./exchanges.ts";

/** Says a recorded conversation to whoever listens there, byte for byte, and holds every answer against the record. */
export async function replay({ exchanges }: Conversation, port: number): Promise<void> {
  let id = "";
  const fill = (text: string): string => text.replaceAll("{id}", id).replaceAll("{host}", `127.0.0.1:${port}`);
  for (const exchange of exchanges) {
    const answer = await send(port, withLength(fill(exchange.request)));
    id ||= /"id":"([0-9a-f-]{36})"/.exec(answer.body)?.[1] ?? "";
    assert.deepEqual(
      { status: answer.status, body: answer.body },
      { status: exchange.status, body: fill(exchange.body) },
      exchange.request.split("\r\n")[0],
    );
    if (answer.body !== "") assert.equal(answer.headers["content-type"], "application/json");
  }
}

/** The id changes the length of the body. */
function withLength(request: string): string {
  const body = request.slice(request.indexOf("\r\n\r\n") + 4);
  return request.replace(/Content-Length: \d+/, `Content-Length: ${Buffer.byteLength(body)}`);
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Raw bytes there, raw bytes back. */
async function send(port: number, request: string): Promise<RawAnswer> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request.replace("Connection: Upgrade, HTTP2-Settings", "Connection: Upgrade, HTTP2-Settings, close"));
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number(first.split(" ")[1]), headers, body: text.slice(end + 4) };
}
