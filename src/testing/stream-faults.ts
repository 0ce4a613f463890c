import type { Fault } from "./faults.ts";

/** Faults of a watch stream. The world sends one event per chunk, so a chunk is an event here. */
type Body = AsyncIterable<Uint8Array>;

const stream = (change: (body: Body) => AsyncIterable<Uint8Array>): Fault => ({ kind: "Stream", change });

/** The server ends the stream after so many events, as if its time were over. */
export const endAfter = (events: number): Fault =>
  stream(async function* (body) {
    if (events === 0) return;
    let sent = 0;
    for await (const chunk of body) {
      yield chunk;
      if (++sent >= events) return;
    }
  });

/** The connection breaks after so many events. */
export const breakAfter = (events: number): Fault =>
  stream(async function* (body) {
    if (events === 0) throw new Error("read ECONNRESET (injected)");
    let sent = 0;
    for await (const chunk of body) {
      yield chunk;
      if (++sent >= events) throw new Error("read ECONNRESET (injected)");
    }
  });

/** Nothing more comes after so many events, and nobody says so: a half-open connection. */
export const silentAfter = (events: number): Fault =>
  stream(async function* (body) {
    let sent = 0;
    for await (const chunk of body) if (sent++ < events) yield chunk;
  });

/** Each event is replaced by what the function answers for it: none, one or several. */
export const mapEvents = (map: (event: StreamEvent, index: number) => readonly (StreamEvent | Uint8Array)[]): Fault =>
  stream(async function* (body) {
    let index = 0;
    for await (const chunk of body) {
      const event = JSON.parse(Buffer.from(chunk).toString()) as StreamEvent;
      for (const out of map(event, index)) yield out instanceof Uint8Array ? out : encodeEvent(out);
      index++;
    }
  });

export interface StreamEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name?: string; readonly resourceVersion?: string } };
}

export const encodeEvent = (event: unknown): Uint8Array => Buffer.from(`${JSON.stringify(event)}\n`);

/** Holds every event back until `release` is called. */
export function holdEvents(): { readonly fault: Fault; release(): void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fault = stream(async function* (body) {
    for await (const chunk of body) {
      await released;
      yield chunk;
    }
  });
  return { fault, release };
}
