import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { failure, type Step, script, stream } from "../../test/loopback/scripted.ts";
import { systemEnv } from "../env/system.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { PushStream } from "../testing/push-stream.ts";
import { ApiError, isExpired, isGone, isResourceVersionTooLarge, isTimeout, isTooManyRequests } from "./api-error.ts";
import type { Client, WatchEvent, WatchOptions } from "./client.ts";
import { ConnectionError, MalformedAnswerError } from "./connection-error.ts";
import { createClient } from "./create-client.ts";
import { isInitialEventsEnd } from "./watch-stream.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const ConfigMap: KindRef<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

const configMap = (name: string, version: number, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "ns", resourceVersion: String(version) },
  ...more,
});
const line = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;
const added = (name: string, version: number, more?: object): string => line("ADDED", configMap(name, version, more));
const bookmark = (version: number, more: object = {}): string =>
  line("BOOKMARK", { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: String(version), ...more } });

const clientOf = (...steps: readonly Step[]): Client =>
  createClient({ env: systemEnv, transport: script(...steps).handler });

interface Run {
  readonly events: readonly WatchEvent<ConfigMap>[];
  readonly error: unknown;
}
async function run(client: Client, options?: WatchOptions): Promise<Run> {
  const events: WatchEvent<ConfigMap>[] = [];
  try {
    for await (const event of client.watch(ConfigMap, options)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}
const names = ({ events }: Run): string[] =>
  events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}@${object.metadata.resourceVersion}`);

describe("decoding", () => {
  test("F16: however the bytes are cut, multi-byte characters included, the events are the same", async () => {
    const whole = Buffer.from(
      added("ä", 1, { data: { text: "日本語 🚢 \u0000" } }) + bookmark(2) + line("DELETED", configMap("ä", 3)),
    );
    const expected = await run(clientOf(stream(whole)));
    assert.equal(expected.events.length, 3);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 30 }), async (cuts) => {
        const places = [...new Set(cuts)].sort((a, b) => a - b);
        const parts = [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
        assert.deepEqual(await run(clientOf(stream(...parts))), expected);
      }),
      { numRuns: 50 },
    );
  });

  test("F16: an object of 1.5 MB that comes in small pieces", async () => {
    const whole = Buffer.from(added("big", 1, { data: { text: "ü".repeat(750_000) } }));
    const parts = Array.from({ length: Math.ceil(whole.length / 4096) }, (_, index) =>
      whole.subarray(index * 4096, (index + 1) * 4096),
    );
    const { events, error } = await run(clientOf(stream(...parts)));
    assert.equal(error, undefined);
    const [event] = events;
    assert.ok(event?.type === "ADDED");
    assert.equal(event.object.data?.["text"]?.length, 750_000);
  });

  test("blank lines, CRLF and a missing last line end are no events and no errors", async () => {
    const parts = ["\n", " \r\n", added("a", 1).replace("\n", "\r\n"), added("b", 2).trimEnd()];
    assert.deepEqual(names(await run(clientOf(stream(...parts)))), ["ADDED a@1", "ADDED b@2"]);
  });

  const malformed: readonly [name: string, text: string, message: RegExp][] = [
    [
      "F16: a line that is not JSON",
      "{not json\n",
      /watch of ConfigMap \(v1\), event 2 at byte 128: 9 bytes that are not JSON/,
    ],
    ["F16: a line that ends early", added("b", 2).slice(0, 40), /event 2 at byte 128: 167 bytes that are not JSON/],
    ["a list instead of an event", "[1]\n", /event 2.*not a JSON object/],
    ["an event without an object", '{"type":"ADDED"}\n', /event 2.*object: Required value/],
    ["an unknown type", line("RENAMED", configMap("b", 2)), /event 2.*type: Unsupported value: "RENAMED"/],
    [
      "an object without a version",
      line("ADDED", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }),
      /metadata\.resourceVersion: Required value/,
    ],
    [
      "an object without a name",
      line("ADDED", { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: "2" } }),
      /metadata\.name: Required value/,
    ],
    [
      "F18: an event of another kind",
      line("ADDED", { ...configMap("x", 2), kind: "Secret" }),
      /it is a "Secret" of "v1", not a ConfigMap of v1/,
    ],
    [
      "F18: an event of another version",
      line("ADDED", { ...configMap("x", 2), apiVersion: "v0" }),
      /it is a "ConfigMap" of "v0"/,
    ],
    ["a bookmark without a version", line("BOOKMARK", { metadata: {} }), /resourceVersion: Required value/],
  ];
  for (const [name, text, message] of malformed)
    test(`${name} ends the watch and is named, after the events before it`, async () => {
      const result = await run(clientOf(stream(added("a", 1), text, added("c", 3))));
      assert.deepEqual(names(result), ["ADDED a@1"]);
      assert.ok(result.error instanceof MalformedAnswerError, String(result.error));
      assert.match(result.error.message, message);
    });

  test("F16: a stream that ends inside an event is an error, not an end", async () => {
    const result = await run(clientOf(stream(added("a", 1), added("b", 2).slice(0, 40))));
    assert.deepEqual(names(result), ["ADDED a@1"]);
    assert.match(String(result.error), /event 2 at byte 128: 40 bytes that are not JSON/);
  });

  test("a line that is not JSON is never quoted: it may be a Secret", async () => {
    const { error } = await run(clientOf(stream('{"type":"ADDED","object":{"data":{"password":"hunter2"}\n')));
    assert.ok(error instanceof Error);
    assert.ok(!`${error.message}${error.stack}${error.cause}`.includes("hunter2"));
  });

  test("metadata only: events are PartialObjectMetadata, and others are refused", async () => {
    const slim = {
      apiVersion: "meta.k8s.io/v1",
      kind: "PartialObjectMetadata",
      metadata: { name: "a", resourceVersion: "1" },
    };
    const good = await run(clientOf(stream(line("ADDED", slim))), { metadataOnly: true });
    assert.deepEqual(good.events, [{ type: "ADDED", object: slim }]);
    const bad = await run(clientOf(stream(added("a", 1))), { metadataOnly: true });
    assert.ok(bad.error instanceof MalformedAnswerError);
  });

  test("many events in one chunk let other work have its turn", async () => {
    const text = Array.from({ length: 20_000 }, (_, index) =>
      added(`n${index}`, index + 1, { data: { text: "x".repeat(500) } }),
    ).join("");
    let turns = 0;
    let isReading = true;
    const otherWork = (): void => {
      turns++;
      if (isReading) setImmediate(otherWork);
    };
    setImmediate(otherWork);
    const { events } = await run(clientOf(stream(text)));
    isReading = false;
    assert.equal(events.length, 20_000);
    assert.ok(turns >= 5, `other work had ${turns} turns while 10 MB of events were read`);
  });
});

describe("errors of the server", () => {
  const status = (code: number, reason: string, more: object = {}): object => ({
    kind: "Status",
    code,
    reason,
    message: "m",
    ...more,
  });

  test("F9: 410 at the start, as an answer and as the first event", async () => {
    assert.ok(isGone((await run(clientOf(failure(410, "Expired")))).error));
    assert.ok(isExpired((await run(clientOf(stream(line("ERROR", status(410, "Expired")))))).error));
  });

  test("F9: 410 in the middle comes after the events before it", async () => {
    const result = await run(clientOf(stream(added("a", 1), line("ERROR", status(410, "Expired")))));
    assert.deepEqual(names(result), ["ADDED a@1"]);
    assert.ok(isExpired(result.error));
  });

  test("F2: a replica that lags behind says so, and is not asked again blindly", async () => {
    const details = { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 };
    const { error } = await run(clientOf(stream(line("ERROR", status(504, "Timeout", { details })))), {
      resourceVersion: "99",
    });
    assert.ok(isTimeout(error) && isResourceVersionTooLarge(error));
    assert.equal(error.retryAfterSeconds, 1);
  });

  test("an error event without a proper Status is still an error of the API", async () => {
    for (const object of [null, "x", {}, { kind: "Status" }])
      assert.ok((await run(clientOf(stream(line("ERROR", object))))).error instanceof ApiError);
  });

  test("F26, F27: a watch that cannot begin is tried once, and the error says how long to wait", async () => {
    const played = script(failure(429, "TooManyRequests", {}, { "retry-after": "2" }));
    const { error } = await run(createClient({ env: systemEnv, transport: played.handler }));
    assert.ok(isTooManyRequests(error));
    assert.equal(error.retryAfterSeconds, 2);
    assert.equal(played.lines().length, 1);
    assert.ok((await run(clientOf(failure(500, "InternalError")))).error instanceof ApiError);
  });
});

describe("the stream", () => {
  const all = [added("a", 1), added("b", 2), bookmark(3), added("c", 4)];

  for (let index = 0; index <= all.length; index++) {
    test(`F8: a clean end after ${index} events is an end`, async () => {
      const result = await run(clientOf(stream(...all.slice(0, index))));
      assert.equal(result.events.length, index);
      assert.equal(result.error, undefined);
    });
    test(`F8: a broken connection after ${index} events is an error after them`, async () => {
      const result = await run(clientOf(stream(...all.slice(0, index), new Error("ECONNRESET"))));
      assert.equal(result.events.length, index);
      assert.ok(result.error instanceof ConnectionError);
      assert.equal(result.error.reason, "Broken");
    });
    test(`F8: silence after ${index} events ends the watch in its idle time`, async () => {
      const env = manualEnv();
      const body = new PushStream<Uint8Array>();
      const client = createClient({ env, transport: async () => ({ status: 200, headers: {}, body }) });
      const work = run(client, { idleTimeoutMs: 10_000 });
      for (const text of all.slice(0, index)) {
        await env.advance(9_000);
        body.push(Buffer.from(text));
        await env.flush();
      }
      await env.advance(9_999);
      let over = false;
      void work.then(() => {
        over = true;
      });
      await env.flush();
      assert.equal(over, false);
      await env.advance(1);
      const result = await work;
      assert.equal(result.events.length, index);
      assert.ok(result.error instanceof ConnectionError);
      assert.equal(result.error.reason, "Silent");
      assert.match(result.error.message, /ConfigMap list: GET .* silent for 10000 ms/);
      assert.equal(env.pendingTimers, 0);
    });
  }

  test("a watch with a time limit has an idle time of its own", async () => {
    const env = manualEnv();
    const body = new PushStream<Uint8Array>();
    const client = createClient({ env, transport: async () => ({ status: 200, headers: {}, body }) });
    const work = run(client, { timeoutSeconds: 60 });
    await env.advance(90_000);
    assert.ok(((await work).error as ConnectionError).reason === "Silent");
  });

  test("F10, F12: duplicates and disorder are given as they come; the reader judges by version", async () => {
    const result = await run(clientOf(stream(added("a", 2), added("a", 2), line("MODIFIED", configMap("a", 1)))));
    assert.deepEqual(names(result), ["ADDED a@2", "ADDED a@2", "MODIFIED a@1"]);
  });

  test("F13, F14, F17: bookmarks come through, late ones too, and the end of initial events is known only when said", async () => {
    const end = bookmark(9, { annotations: { "k8s.io/initial-events-end": "true" } });
    const without = await run(clientOf(stream(added("a", 1), bookmark(7))), { sendInitialEvents: true });
    assert.deepEqual(without.events.map(isInitialEventsEnd), [false, false]);
    const late = await run(clientOf(stream(added("a", 1), bookmark(7), added("b", 8), end)), {
      sendInitialEvents: true,
    });
    assert.deepEqual(names(late), ["ADDED a@1", "BOOKMARK @7", "ADDED b@8", "BOOKMARK @9"]);
    assert.deepEqual(late.events.map(isInitialEventsEnd), [false, false, false, true]);
  });

  test("an abort ends the watch with the caller's reason, and a break closes the stream", async () => {
    const env = manualEnv();
    const body = new PushStream<Uint8Array>();
    let seen: AbortSignal | undefined;
    const client = createClient({
      env,
      transport: async ({ signal }) => {
        seen = signal;
        return { status: 200, headers: {}, body };
      },
    });
    const stop = new AbortController();
    const work = run(client, { signal: stop.signal });
    body.push(Buffer.from(added("a", 1)));
    await env.flush();
    const reason = new Error("enough");
    stop.abort(reason);
    assert.equal((await work).error, reason);
    assert.equal(seen?.aborted, true);

    const second = createClient({
      env,
      transport: async ({ signal }) => {
        seen = signal;
        return stream(added("a", 1), added("b", 2));
      },
    });
    for await (const _ of second.watch(ConfigMap)) break;
    assert.equal(seen?.aborted, true);
    assert.equal(env.pendingTimers, 0);
  });

  test("a signal that is already aborted sends nothing", async () => {
    const played = script();
    const client = createClient({ env: systemEnv, transport: played.handler });
    const { error } = await run(client, { signal: AbortSignal.abort("no") });
    assert.equal(error, "no");
    assert.equal(played.seen.length, 0);
  });
});

test("a log comes as it is, and a missing pod is an error one can ask", async () => {
  const client = clientOf(stream("one\n", "two"), failure(404, "NotFound", { details: { name: "p" } }));
  const chunks: Uint8Array[] = [];
  for await (const chunk of client.log({ namespace: "ns", name: "p" }, { follow: true })) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), "one\ntwo");
  await assert.rejects(
    async () => {
      for await (const _ of client.log({ namespace: "ns", name: "p" }));
    },
    { reason: "NotFound" },
  );
});
