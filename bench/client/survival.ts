import type { ServerResponse } from "node:http";
import { answerJson } from "../../test/loopback/server.ts";
import { benchSmallPod } from "./pods.ts";

/**
 * One story per fault: pod 0 is listed; the first watch brings pod 1 and then the fault; whoever is still there after it
 * is told of pod 2. The namespace is `survive-<fault>-<who>`, so that every contestant has a story of its own.
 */
export const faults: Readonly<Record<string, string>> = {
  end: "the server ends the watch",
  malformed: "a line that is not JSON, then the change",
  gone: "410 in the stream",
  error500: "the next watch is answered 500",
  error503list: "410, and the list after it is answered 503",
  reset: "the connection is cut",
  throwing: "a handler throws",
  silence: "the connection is half open: no bytes, no end",
};

const watches = new Map<string, number>();
const lists = new Map<string, number>();
const count = (map: Map<string, number>, key: string): number => {
  const next = (map.get(key) ?? 0) + 1;
  map.set(key, next);
  return next;
};

export function surviving(namespace: string, query: URLSearchParams, response: ServerResponse): void {
  const fault = namespace.split("-")[1] ?? "";
  const pod = (index: number): object => {
    const made = benchSmallPod(index) as { metadata: object };
    return { ...made, metadata: { ...made.metadata, namespace, resourceVersion: String(10 + index) } };
  };
  const failed = (code: number): void =>
    answerJson(response, code, {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code,
      message: "injected",
      metadata: {},
    });

  if (query.get("watch") !== "true") {
    const turn = count(lists, namespace);
    const items = turn === 1 ? [pod(0)] : [pod(0), pod(1)];
    const metadata = { resourceVersion: turn === 1 ? "10" : "11" };
    if (fault === "error503list" && turn === 2) failed(503);
    else answerJson(response, 200, { kind: "PodList", apiVersion: "v1", metadata, items });
    return;
  }

  const since = Number(query.get("resourceVersion") ?? 0);
  const turn = count(watches, namespace);
  if (fault === "error500" && turn === 2) {
    failed(500);
    return;
  }
  const send = (index: number): void => {
    if (10 + index > since) response.write(`${JSON.stringify({ type: "ADDED", object: pod(index) })}\n`);
  };
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  send(1);
  if (turn > 1) send(2);
  else inject[fault]?.(response, send);
}

const expired = {
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  code: 410,
  reason: "Expired",
  message: "too old",
  metadata: {},
};
const gone = (response: ServerResponse): void =>
  void response.end(`${JSON.stringify({ type: "ERROR", object: expired })}\n`);
const end = (response: ServerResponse): void => void setTimeout(() => response.end(), 50);

const inject: Readonly<Record<string, (response: ServerResponse, send: (index: number) => void) => void>> = {
  end,
  error500: end,
  malformed: (response, send) => {
    response.write("{not json\n");
    send(2);
  },
  gone,
  error503list: gone,
  reset: (response) => void setTimeout(() => response.socket?.destroy(), 50),
  throwing: (_, send) => void setTimeout(() => send(2), 50),
  silence: () => {},
};
