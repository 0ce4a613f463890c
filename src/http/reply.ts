import type { HttpResponse } from "./message.ts";

/** Small whole answers: text, JSON, and no body at all. */
export function textReply(status: number, text: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return bytesReply(status, encoder.encode(text), { "content-type": "text/plain; charset=utf-8", ...headers });
}

export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return bytesReply(status, encoder.encode(JSON.stringify(value)), { "content-type": "application/json", ...headers });
}

export function bytesReply(status: number, body: Uint8Array, headers: Readonly<Record<string, string>>): HttpResponse {
  return { status, headers: { "content-length": String(body.byteLength), ...headers }, body: once(body) };
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  if (chunk.byteLength > 0) yield chunk;
}

const encoder = new TextEncoder();
