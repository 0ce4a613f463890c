import { WholeBody } from "../../http/body.ts";
import type { HttpResponse } from "../../http/message.ts";

/** The original's envelope: `{"error":null,"data":…}`. Its clients fail on any other key. */
export const dataAnswer = (json: string, isAscii?: boolean): HttpResponse =>
  answerOf(200, new WholeBody(`{"error":null,"data":${json}}`, isAscii));

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

export const whole = (status: number, json: string, headers?: Readonly<Record<string, string>>): HttpResponse =>
  answerOf(status, new WholeBody(json), headers);

function answerOf(status: number, body: WholeBody, headers?: Readonly<Record<string, string>>): HttpResponse {
  const own = { "content-type": "application/json", "content-length": String(body.byteLength) };
  return { status, headers: headers ? { ...own, ...headers } : own, body };
}

/**
 * A list in the envelope; `join` writes items with commas in between. A long one leaves in many pieces: it is never in
 * memory as a whole.
 */
export function listAnswer<T>(items: readonly T[], join: (part: readonly T[]) => string): HttpResponse {
  if (items.length <= itemsPerChunk) return dataAnswer(`[${join(items)}]`);
  return { status: 200, headers: { "content-type": "application/json" }, body: chunks(items, join) };
}

async function* chunks<T>(items: readonly T[], join: (part: readonly T[]) => string): AsyncGenerator<Uint8Array> {
  let lead = '{"error":null,"data":[';
  for (let start = 0; start < items.length; start += itemsPerChunk) {
    const text = join(items.slice(start, start + itemsPerChunk));
    if (text === "") continue;
    yield encoder.encode(lead + text);
    lead = ",";
  }
  yield encoder.encode(lead === "," ? "]}" : `${lead}]}`);
}

const itemsPerChunk = 1_000;
const encoder = new TextEncoder();
