import type { HttpHandler, HttpRequest, HttpResponse } from "../http/message.ts";
import { jsonReply } from "../http/reply.ts";
import { Funnel } from "./funnel.ts";
import { textOf } from "./person.ts";

/**
 * Several lists of the Kubernetes API and their watches over one connection. A browser opens no more than six to one
 * server, and a page that follows eight kinds would wait for itself.
 *
 * Each line is the number of a feed, a letter and JSON: `0 P {…}` a page of the list, `0 L {}` the list is whole,
 * `0 W {…}` a watch event, `0 E {"status","message"}` the feed has ended and may be asked for again.
 */
export async function liveFeeds(request: HttpRequest, credential: string, api: HttpHandler): Promise<HttpResponse> {
  const asked = new URL(request.target, "http://dashboard.invalid").searchParams.getAll("feed");
  const feeds = asked.map(parseFeed);
  const wrong = feeds.indexOf(undefined);
  if (wrong >= 0) return jsonReply(400, { message: `feed: ${JSON.stringify(asked[wrong])} is not a list of the API` });
  if (feeds.length === 0 || feeds.length > maxFeeds)
    return jsonReply(400, { message: `feed: must be given 1 to ${maxFeeds} times` });

  const stop = new AbortController();
  request.signal?.addEventListener("abort", () => stop.abort(), { once: true });
  const lines = new Funnel<string>();
  stop.signal.addEventListener("abort", () => lines.close(), { once: true });
  let underWay = feeds.length;
  for (const [index, feed] of feeds.entries()) {
    if (!feed) continue;
    const tell = (letter: string, json: string): Promise<void> => lines.write(`${index} ${letter} ${json}\n`);
    void follow({ ...feed, credential, api, signal: stop.signal, tell })
      .catch((error: unknown) => ({ status: 502, message: error instanceof Error ? error.message : String(error) }))
      .then((end) => tell("E", JSON.stringify(end)))
      .then(() => --underWay === 0 && lines.close());
  }
  return {
    status: 200,
    headers: {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    },
    body: encoded(lines, stop),
  };
}

export const maxFeeds = 24;
export const pageSize = 1_000;

interface Feed {
  readonly path: string;
  /** `fieldSelector` and `labelSelector` only. */
  readonly query: URLSearchParams;
  readonly accept: string;
}

interface Following extends Feed {
  readonly credential: string;
  readonly api: HttpHandler;
  readonly signal: AbortSignal;
  tell(letter: string, json: string): Promise<void>;
}

interface End {
  readonly status: number;
  readonly message: string;
}

const tables = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** `/apis/GROUP/VERSION/…` for objects, `table:/apis/…` for what kubectl would print. */
function parseFeed(text: string): Feed | undefined {
  const isTable = text.startsWith("table:");
  const url = URL.parse(isTable ? text.slice("table:".length) : text, "http://api.invalid");
  if (url?.host !== "api.invalid" || !/^\/(api|apis)(\/[A-Za-z0-9._-]+){2,5}$/.test(url.pathname)) return undefined;
  const query = new URLSearchParams();
  for (const name of ["fieldSelector", "labelSelector"]) {
    const value = url.searchParams.get(name);
    if (value !== null) query.set(name, value);
  }
  return { path: url.pathname, query, accept: isTable ? tables : "application/json" };
}

async function follow(feed: Following): Promise<End> {
  const listed = await list(feed);
  if (typeof listed !== "string") return listed;
  await feed.tell("L", "{}");
  const watch = await ask(feed, { watch: "true", allowWatchBookmarks: "true", resourceVersion: listed });
  if (watch.status !== 200) return refusal(watch.status, await textOf(watch));
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of watch.body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) if (line !== "") await feed.tell("W", line);
  }
  return { status: 200, message: "the watch has ended" };
}

/** The resource version from which to watch, or why there is none. */
async function list(feed: Following): Promise<string | End> {
  let next: string | undefined;
  while (true) {
    const response = await ask(feed, { limit: String(pageSize), ...(next !== undefined && { continue: next }) });
    const text = await textOf(response);
    if (response.status !== 200) return refusal(response.status, text);
    const { metadata } = JSON.parse(text) as { metadata?: { resourceVersion?: string; continue?: string } };
    // Line breaks in JSON are only ever between its parts.
    await feed.tell("P", text.replaceAll("\n", " "));
    next = metadata?.continue;
    if (!next) return metadata?.resourceVersion ?? "";
  }
}

function ask(
  { api, path, query, accept, credential, signal }: Following,
  more: Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const search = new URLSearchParams([...query, ...Object.entries(more)]);
  const headers = { accept, authorization: `Bearer ${credential}` };
  return api({ method: "GET", target: `${path}?${search}`, headers, signal });
}

function refusal(status: number, text: string): End {
  try {
    const { message } = JSON.parse(text) as { message?: string };
    return { status, message: message ?? `the API server answered ${status}` };
  } catch {
    return { status, message: `the API server answered ${status}` };
  }
}

async function* encoded(lines: Funnel<string>, stop: AbortController): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  try {
    for await (const line of lines.read()) yield encoder.encode(line);
  } finally {
    stop.abort();
  }
}
