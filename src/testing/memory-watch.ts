import type { HttpRequest, HttpResponse } from "../http/message.ts";
import { apiVersionOf } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { expired, projected } from "./memory-answers.ts";
import type { ApiContext, Target } from "./memory-api.ts";
import { type Entry, type Matches, resourceOf, selection } from "./memory-store.ts";
import { PushStream } from "./push-stream.ts";

/** A watch: what happened since a version, then what happens; bookmarks every minute and at the end. */
export function watchAnswer(request: HttpRequest, target: Target, { env, store, horizon }: ApiContext): HttpResponse {
  const { kind, query } = target;
  const resource = resourceOf(kind);
  const matches = selection(target.namespace, query);
  const stream = new PushStream<Uint8Array>();
  const send = (type: string, object: unknown): void =>
    stream.push(Buffer.from(`${JSON.stringify({ type, object })}\n`));
  const sendObject = (type: string, object: KubeObject): void => send(type, projected(request, object));
  const bookmark = (annotations?: Readonly<Record<string, string>>): void =>
    send("BOOKMARK", {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { resourceVersion: String(Math.min(horizon(), store.version)), ...(annotations && { annotations }) },
    });

  const asked = query.get("resourceVersion") ?? "";
  const initial = query.get("sendInitialEvents") === "true";
  const from = Number(asked || "0");
  if (!initial && from > 0 && from < store.oldestVersion) {
    const { code, reason, message } = expired();
    send("ERROR", { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code });
    stream.close();
    return { status: 200, headers: watchHeaders, body: stream };
  }
  if (initial || from === 0) {
    for (const object of store.state(resource, horizon()).values()) if (matches(object)) sendObject("ADDED", object);
    if (initial) bookmark({ "k8s.io/initial-events-end": "true" });
  } else
    for (const entry of store.since(resource, from))
      if (entry.version <= horizon()) forward(entry, matches, sendObject);

  const stopListening = store.listen(resource, (entry) => {
    if (entry.version <= horizon()) forward(entry, matches, sendObject);
  });
  const wantsBookmarks = query.get("allowWatchBookmarks") === "true";
  let cancelBookmark = (): void => undefined;
  const nextBookmark = (): void => {
    cancelBookmark = env.setTimer(bookmarkEveryMs, () => {
      bookmark();
      nextBookmark();
    });
  };
  if (wantsBookmarks) nextBookmark();
  const seconds = Number(query.get("timeoutSeconds") ?? "0");
  const cancelTimeout = seconds > 0 ? env.setTimer(seconds * 1000, () => end()) : () => undefined;
  const end = (error?: unknown): void => {
    stopListening();
    cancelBookmark();
    cancelTimeout();
    if (error === undefined) stream.close();
    else stream.fail(error);
  };
  request.signal?.addEventListener("abort", () => end(request.signal?.reason), { once: true });
  stream.onReturn(() => end());
  return { status: 200, headers: watchHeaders, body: stream };
}

const watchHeaders = { "content-type": "application/json", "transfer-encoding": "chunked" };
const bookmarkEveryMs = 60_000;

/** An object that stops matching looks deleted: its old state, at the version of the change. */
function forward(entry: Entry, matches: Matches, send: (type: string, object: KubeObject) => void): void {
  const { object, old, version } = entry;
  const matched = old !== undefined && matches(old);
  const matchesNow = object !== undefined && matches(object);
  if (matchesNow) send(matched ? "MODIFIED" : "ADDED", object);
  else if (matched) send("DELETED", { ...old, metadata: { ...old.metadata, resourceVersion: String(version) } });
}
