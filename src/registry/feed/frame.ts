import { type Dialect, encodeState, encodeTarget } from "../dialects/dialect.ts";
import type { Change } from "../model/change.ts";

/**
 * One event as Server-Sent Events carry it: id, event, data, without a space after the colon, as the original writes it.
 * JSON has no raw line breaks, and ids are checked at registration, so that no field can end a frame early.
 */
export function changeFrame(change: Change, dialect: Dialect, withSequence: boolean): string | undefined {
  const { instance, kind, id, sequence } = change;
  if (instance === null) return undefined;
  const name = eventNames[kind];
  if (name === undefined) return undefined;
  const target = name === "UPDATE" ? "null" : (encodeTarget(instance.target, dialect) ?? "null");
  const last = instance.states.at(-1);
  const state = name === "UPDATE" && last ? JSON.stringify(encodeState(last, dialect)) : "null";
  const data = `{"eventType":"${name}","id":${JSON.stringify(id)},"serviceTarget":${target},"serviceState":${state}}`;
  return `id:${withSequence ? sequence : id}\nevent:${name}\ndata:${data}\n\n`;
}

/** Without an id where ids are sequence numbers: a heartbeat has none and must not move the reader's place. */
export function pingFrame(id: string, withSequence: boolean): string {
  const data = `{"eventType":"PING","id":${JSON.stringify(id)},"serviceTarget":null,"serviceState":null}`;
  return `${withSequence ? "" : `id:${id}\n`}event:PING\ndata:${data}\n\n`;
}

/** Tells a resuming reader which changes it will not get; it should list everything again. */
export const gapFrame = (from: number, to: number): string =>
  `id:${to}\nevent:GAP\ndata:{"eventType":"GAP","from":${from},"to":${to}}\n\n`;

/** For readers of the original feed, who know no such event: a comment. */
export const gapComment = (missed: number): string => `:gap ${missed} events were missed\n\n`;

/** Moves the reader's place without an event. */
export const bookmark = (sequence: number): string => `id:${sequence}\n:bookmark\n\n`;
export const keepAlive = ":\n\n";

const eventNames: Readonly<Partial<Record<Change["kind"], string>>> = {
  Registered: "REGISTER",
  Deregistered: "DEREGISTER",
  Updated: "UPDATE",
};
