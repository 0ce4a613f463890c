import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Namespace } from "../api/builtin/cluster.ts";
import type { ApiServer } from "../apiserver/server.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/create-client.ts";
import { systemEnv } from "../env/system.ts";
import type { HttpHandler, HttpResponse } from "../http/message.ts";
import { embeddedApi } from "./dashboard-for-tests.ts";
import { liveFeeds, maxFeeds, pageSize } from "./live.ts";

/** The lines of a live answer, one after the other. */
class Lines {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest = "";
  #ready: string[] = [];

  constructor({ body }: HttpResponse) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  async next(): Promise<{ readonly feed: number; readonly letter: string; readonly json: unknown } | undefined> {
    while (this.#ready.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      const parts = (this.#rest + new TextDecoder().decode(value)).split("\n");
      this.#rest = parts.pop() ?? "";
      this.#ready.push(...parts);
    }
    const [, feed = "", letter = "", json = ""] = /^(\d+) ([A-Z]) (.*)$/.exec(this.#ready.shift() ?? "") ?? [];
    return { feed: Number(feed), letter, json: JSON.parse(json) };
  }
}

const ask = (
  feeds: readonly string[],
  api: HttpHandler,
  signal?: AbortSignal,
  token = "admin-token",
): Promise<HttpResponse> =>
  liveFeeds(
    {
      method: "GET",
      target: `/ui/api/live?${feeds.map((feed) => `feed=${encodeURIComponent(feed)}`).join("&")}`,
      headers: {},
      ...(signal && { signal }),
    },
    token,
    api,
  );

describe("with the embedded API", () => {
  let server: ApiServer;
  let client: Client;
  before(async () => {
    server = await embeddedApi();
    const signedIn: HttpHandler = (request) =>
      server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer admin-token" } });
    client = createClient({ env: systemEnv, transport: signedIn });
  });
  after(() => server.close());

  test("lists and watches of several kinds come over one connection, each under its number", async () => {
    const stop = new AbortController();
    const lines = new Lines(await ask(["/api/v1/namespaces", "table:/api/v1/namespaces"], server.handle, stop.signal));
    const seen: string[] = [];
    while (seen.filter((line) => line.endsWith("L")).length < 2) {
      const line = await lines.next();
      assert.ok(line);
      seen.push(`${line.feed}${line.letter}`);
      if (line.letter === "P")
        assert.equal((line.json as { kind: string }).kind, line.feed === 0 ? "NamespaceList" : "Table");
    }
    assert.deepEqual(seen.toSorted(), ["0L", "0P", "1L", "1P"]);
    await client.create(Namespace, { metadata: { name: "later" } } as never);
    const told = new Map<number, string>();
    while (told.size < 2) {
      const line = await lines.next();
      assert.ok(line);
      if (line.letter !== "W") continue;
      const { type, object } = line.json as { type: string; object: { kind: string } };
      if (type === "ADDED") told.set(line.feed, object.kind);
    }
    assert.deepEqual([...told].toSorted(), [
      [0, "Namespace"],
      [1, "Table"],
    ]);
    stop.abort();
    while (await lines.next());
  });

  test("what a person may not see ends with the server's words, and the other feeds go on", async () => {
    const lines = new Lines(await ask(["/api/v1/secrets"], server.handle, undefined, "stranger-token"));
    const line = await lines.next();
    assert.equal(line?.letter, "E");
    const { status, message } = line.json as { status: number; message: string };
    assert.equal(status, 403);
    assert.match(message, /User "stranger" cannot list resource "secrets"/);
    assert.equal(await lines.next(), undefined, "nothing is left to wait for");
  });
});

test("a long list comes in pages, from which the watch goes on", async () => {
  const asked: string[] = [];
  const reply = (status: number, text: string): HttpResponse => ({
    status,
    headers: {},
    body: (async function* () {
      yield new TextEncoder().encode(text);
    })(),
  });
  const api: HttpHandler = async ({ target }) => {
    asked.push(target);
    const query = new URL(target, "http://api").searchParams;
    if (query.get("watch")) return reply(200, '{"type":"ADDED","object":{}}\n{"type":"MODI');
    if (query.get("continue") === "next") return reply(200, '{"metadata":{"resourceVersion":"7"},"items":[2]}\n');
    return reply(200, '{\n "metadata":{"resourceVersion":"7","continue":"next"},\n "items":[1]}\n');
  };
  const lines = new Lines(await ask(["/apis/a/v1/things?fieldSelector=metadata.name%3Dx&watch=true"], api));
  const seen: string[] = [];
  for (let line = await lines.next(); line; line = await lines.next()) seen.push(line.letter);
  assert.deepEqual(seen, ["P", "P", "L", "W", "E"]);
  assert.deepEqual(asked, [
    `/apis/a/v1/things?fieldSelector=metadata.name%3Dx&limit=${pageSize}`,
    `/apis/a/v1/things?fieldSelector=metadata.name%3Dx&limit=${pageSize}&continue=next`,
    "/apis/a/v1/things?fieldSelector=metadata.name%3Dx&watch=true&allowWatchBookmarks=true&resourceVersion=7",
  ]);
});

test("an API that breaks ends the feed with its reason", async () => {
  const lines = new Lines(await ask(["/api/v1/pods"], () => Promise.reject(new Error("no route to host"))));
  assert.deepEqual(await lines.next(), { feed: 0, letter: "E", json: { status: 502, message: "no route to host" } });
});

test("only lists of the API can be followed, and not too many", async () => {
  const never: HttpHandler = () => Promise.reject(new Error("asked"));
  for (const feed of [
    "",
    "/",
    "/metrics",
    "/api/v1",
    "http://evil.example/api/v1/pods",
    "//evil/api/v1/pods",
    "/api/v1/pods/x%2f..%2fy",
  ])
    assert.equal((await ask([feed], never)).status, 400, feed);
  assert.equal((await ask([], never)).status, 400);
  assert.equal(
    (
      await ask(
        Array.from({ length: maxFeeds + 1 }, () => "/api/v1/pods"),
        never,
      )
    ).status,
    400,
  );
});
