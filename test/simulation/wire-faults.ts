import { type Env, sleep } from "../../src/env/env.ts";
import { WholeBody } from "../../src/http/body.ts";
import type { HttpRequest, HttpResponse } from "../../src/http/message.ts";
import { isOfInterest, pathParts } from "./journal.ts";
import { isWatch } from "./wire.ts";

/** What goes wrong on the wire; each acts so many times and is gone. Those of streams are in wire-streams.ts. */
export interface WireFault {
  readonly kind: AnswerFault | StreamFault;
  times: number;
}

export type AnswerFault =
  | "Conflict"
  | "Invalid"
  | "Forbidden"
  | "Throttled"
  | "ServerError"
  | "Unavailable"
  | "Hang"
  | "Unreachable"
  | "AnswerLost"
  | "StaleList"
  | "StaleWatch"
  | "ExpiredPage"
  | "SlowLease";

export type StreamFault = "End" | "Break" | "Silent" | "Gone" | "Duplicate" | "Swap" | "Late" | "Drop" | "Garbage";

export const answerFaults: readonly AnswerFault[] = [
  ...(["Conflict", "Invalid", "Forbidden", "Throttled", "ServerError", "Unavailable", "Hang", "Unreachable"] as const),
  ...(["AnswerLost", "StaleList", "StaleWatch", "ExpiredPage", "SlowLease"] as const),
];
export const streamFaults: readonly StreamFault[] = [
  ...(["End", "Break", "Silent", "Gone", "Duplicate", "Swap", "Late", "Drop", "Garbage"] as const),
];

/** Whether the fault has something to say about this request. */
export function matches({ kind }: WireFault, request: HttpRequest): boolean {
  const path = pathParts(request.target);
  const isLease = path.resource === "leases";
  if (kind === "SlowLease") return isLease;
  if (isLease) return false;
  const isRead = request.method === "GET" && !isWatch(request);
  switch (kind) {
    case "Conflict":
    case "Invalid":
    case "Forbidden":
    case "AnswerLost":
      return request.method !== "GET" && isOfInterest(path);
    case "StaleList":
    case "ExpiredPage":
      return isRead && path.name === "" && path.resource !== "";
    case "StaleWatch":
      return isWatch(request) && /resourceVersion=\d/.test(request.target);
    case "Throttled":
    case "ServerError":
    case "Unavailable":
    case "Hang":
    case "Unreachable":
      return isOfInterest(path);
    default:
      return false;
  }
}

const statuses: Readonly<Partial<Record<AnswerFault, readonly [number, string]>>> = {
  Conflict: [409, "Conflict"],
  Invalid: [422, "Invalid"],
  Forbidden: [403, "Forbidden"],
  Throttled: [429, "TooManyRequests"],
  ServerError: [500, "InternalError"],
  Unavailable: [504, "Timeout"],
  ExpiredPage: [410, "Expired"],
};

export async function faultyAnswer(
  { kind }: WireFault,
  request: HttpRequest,
  base: Env,
  send: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const status = statuses[kind as AnswerFault];
  if (status) return refusal(...status);
  if (kind === "Unreachable") throw new Error("connect ECONNREFUSED (injected)");
  if (kind === "Hang") return untilAborted(request);
  if (kind === "SlowLease") await sleep(base, slowLeaseMs);
  const response = await send();
  if (kind !== "AnswerLost") return response;
  throw new Error("socket hang up (injected)");
}

const slowLeaseMs = 7_000;

const untilAborted = (request: HttpRequest): Promise<never> =>
  new Promise((_, reject) =>
    request.signal?.addEventListener("abort", () => reject(request.signal?.reason), { once: true }),
  );

function refusal(code: number, reason: string): HttpResponse {
  const details = code === 429 ? { retryAfterSeconds: 1 } : {};
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code, details };
  const body = JSON.stringify({ ...status, message: `injected ${code}` });
  const headers = { "content-type": "application/json", ...(code === 429 && { "retry-after": "1" }) };
  return { status: code, headers, body: new WholeBody(body) };
}

/** A replica that lags behind: the same question about an earlier moment, which the real server can still answer. */
export function rewritten(fault: WireFault | undefined, request: HttpRequest, revision: number): HttpRequest {
  if (fault?.kind !== "StaleList" && fault?.kind !== "StaleWatch") return request;
  const url = new URL(request.target, "http://api");
  const asked = Number(url.searchParams.get("resourceVersion") ?? revision);
  url.searchParams.set("resourceVersion", String(Math.max(1, asked - staleBy)));
  if (fault.kind === "StaleList") url.searchParams.set("resourceVersionMatch", "Exact");
  return { ...request, target: `${url.pathname}${url.search}` };
}

const staleBy = 12;
