import { type Env, sleep } from "../../../src/env/env.ts";
import { WholeBody } from "../../../src/http/body.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../../../src/http/message.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import { pathParts } from "../journal.ts";
import type { Mutation } from "../mutation.ts";
import { isWatch } from "../wire.ts";

type Transport = NonNullable<Mutation["transport"]>;
type Body = { metadata?: { name?: string; generateName?: string; finalizers?: unknown }; [field: string]: unknown };

export const isAbout = (request: HttpRequest, method: string, ...resources: readonly string[]): boolean =>
  request.method === method && resources.includes(pathParts(request.target).resource);

export const bodyOf = (request: HttpRequest): Body => JSON.parse(Buffer.from(request.body ?? "{}").toString()) as Body;

export const withBody = (request: HttpRequest, body: object): HttpRequest => ({
  ...request,
  body: Buffer.from(JSON.stringify(body)),
});

/** What the API would have answered, had it been asked. */
export const answer = (body: object, status = 200): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: new WholeBody(JSON.stringify(body)),
});

export const done = answer({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" });

/** Requests that fit are changed on their way. */
export const changing =
  (fits: (request: HttpRequest) => boolean, change: (request: HttpRequest, env: Env) => HttpRequest): Transport =>
  (transport, env) =>
  (request) =>
    transport(fits(request) ? change(request, env) : request);

/** Requests that fit never leave the process, which believes that they were carried out. */
export const pretending =
  (fits: (request: HttpRequest) => boolean, pretend: (request: HttpRequest) => HttpResponse): Transport =>
  (transport) =>
  (request) =>
    fits(request) ? Promise.resolve(pretend(request)) : transport(request);

/** The process believes at once what is done only later. */
export const postponing =
  (fits: (request: HttpRequest) => boolean, byMs: number): Transport =>
  (transport, env) =>
  async (request) => {
    if (!fits(request)) return transport(request);
    const { signal: _, ...later } = request;
    void sleep(env, byMs).then(() => transport(later));
    const object = bodyOf(request) as unknown as KubeObject;
    return answer({ ...object, metadata: { ...object.metadata, uid: env.uuid(), resourceVersion: "1" } });
  };

/** Watches whose events are seen by somebody else first: `after` is told at their end. */
export const watching =
  (
    map: (event: WatchLine) => readonly WatchLine[] | "Stop",
    after: (seen: ReadonlyMap<string, KubeObject>) => readonly WatchLine[] | "Hang" = () => [],
  ): Transport =>
  (transport: HttpHandler) =>
  async (request) => {
    const response = await transport(request);
    return isWatch(request) ? { ...response, body: mapped(response.body, map, after) } : response;
  };

export interface WatchLine {
  readonly type: string;
  readonly object: KubeObject & { readonly code?: number };
}

async function* mapped(
  body: AsyncIterable<Uint8Array>,
  map: (event: WatchLine) => readonly WatchLine[] | "Stop",
  after: (seen: ReadonlyMap<string, KubeObject>) => readonly WatchLine[] | "Hang",
): AsyncGenerator<Uint8Array> {
  const seen = new Map<string, KubeObject>();
  try {
    for await (const chunk of body) {
      const event = JSON.parse(Buffer.from(chunk).toString()) as WatchLine;
      if (event.type !== "BOOKMARK" && event.object.metadata.uid) seen.set(event.object.metadata.uid, event.object);
      const lines = map(event);
      if (lines === "Stop") break;
      for (const line of lines) yield encode(line);
    }
  } catch {
    // It ends as if it had ended well: that is the mistake.
  }
  const lines = after(seen);
  if (lines === "Hang") await new Promise(() => undefined);
  else for (const line of lines) yield encode(line);
}

/** After 410 it watches from whatever is newest, as if nothing could have happened in between. */
export const skippingAhead: Transport = (transport) => {
  const gone = new Set<string>();
  return async (request) => {
    const path = request.target.split("?")[0] ?? "";
    if (!isWatch(request)) return transport(request);
    const fromNow = request.target.replace(
      /&?resourceVersion=\d+/,
      "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
    );
    const response = await transport(gone.has(path) ? { ...request, target: fromNow } : request);
    const hide = (event: WatchLine): readonly WatchLine[] | "Stop" => {
      if (event.type !== "ERROR") return [event];
      gone.add(path);
      return "Stop";
    };
    return { ...response, body: mapped(response.body, hide, () => []) };
  };
};

/** Not trusting the first answer, and under another name, as a generated one would be. */
export const repeatingCreates =
  (resource: string): Transport =>
  (transport, env) =>
  async (request) => {
    if (!isAbout(request, "POST", resource)) return transport(request);
    const first = await transport(request);
    const { metadata, ...rest } = bodyOf(request);
    const name = `${metadata?.name?.slice(0, 50)}-${env.uuid().slice(0, 8)}`;
    await transport(withBody(request, { ...rest, metadata: { ...metadata, name } }));
    return first;
  };

const encode = (line: WatchLine): Uint8Array => Buffer.from(`${JSON.stringify(line)}\n`);
