import { WholeBody } from "../../http/body.ts";
import type { HttpResponse } from "../../http/message.ts";

/** The original's envelope: `{"error":null,"data":…}`. Its clients fail on any other key. */
export const dataAnswer = (json: string): HttpResponse => whole(200, `{"error":null,"data":${json}}`);

export const errorAnswer = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => whole(status, JSON.stringify({ error: { message }, data: null }), headers);

/** No body at all, which is what A and S answer to all but a registration, and every dialect to a wrong type. */
export const emptyAnswer = (status: number): HttpResponse => ({
  status,
  headers: { "content-length": "0" },
  body: new WholeBody(""),
});

export function whole(status: number, json: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  const body = new WholeBody(json);
  return {
    status,
    headers: { "content-type": "application/json", "content-length": String(body.byteLength), ...headers },
    body,
  };
}

/** A long list in the envelope, as many pieces: it is never in memory as a whole. */
export function listAnswer(items: Iterable<string>, size: number): HttpResponse {
  if (size <= itemsPerChunk) return dataAnswer(`[${[...items].join(",")}]`);
  return { status: 200, headers: { "content-type": "application/json" }, body: chunks(items) };
}

async function* chunks(items: Iterable<string>): AsyncGenerator<Uint8Array> {
  let part: string[] = [];
  let lead = '{"error":null,"data":[';
  for (const item of items) {
    part.push(item);
    if (part.length < itemsPerChunk) continue;
    yield encoder.encode(lead + part.join(","));
    lead = ",";
    part = [];
  }
  const rest = part.length > 0 || lead !== "," ? lead + part.join(",") : "";
  yield encoder.encode(`${rest}]}`);
}

const itemsPerChunk = 1_000;
const encoder = new TextEncoder();
