import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, json, type Step, script, stream } from "../../test/loopback/scripted.ts";
import { systemEnv } from "../env/system.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import {
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
} from "./api-error.ts";
import type { Client } from "./client.ts";
import type { RequestSample } from "./client-metrics.ts";
import { ConnectionError, MalformedAnswerError } from "./connection-error.ts";
import { createClient } from "./create-client.ts";

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
const Pod: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const key = { namespace: "ns", name: "a" };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key, uid: "u", resourceVersion: "1" } };
const ok = json(200, object);
const refused = new ConnectionError("connect ECONNREFUSED", { reason: "Refused", mayHaveBeenApplied: false });
const lost = new ConnectionError("socket hang up", { reason: "Broken", mayHaveBeenApplied: true });

function world(...steps: readonly Step[]): { client: Client; env: ManualEnv; lines: () => string[] } {
  const env = manualEnv();
  const { handler, lines } = script(...steps);
  return { env, lines, client: createClient({ env, transport: handler }) };
}

/** Runs to the end of the work, moving the clock as far as it takes. */
async function finish<T>(env: ManualEnv, work: Promise<T>): Promise<T> {
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  work.then(mark, mark);
  for (let turn = 0; turn < 1_000 && !settled; turn++) await env.advance(100);
  return work;
}

describe("repetition", () => {
  const write = (client: Client): Readonly<Record<string, () => Promise<unknown>>> => ({
    get: () => client.get(ConfigMap, key),
    list: () => client.list(ConfigMap),
    create: () => client.create(ConfigMap, { metadata: key }),
    "create, dry run": () => client.create(ConfigMap, { metadata: key }, { dryRun: true }),
    update: () => client.update(ConfigMap, object),
    "merge patch": () => client.patch(ConfigMap, key, { type: "merge", value: {} }),
    "JSON patch": () =>
      client.patch(ConfigMap, key, { type: "json", operations: [{ op: "add", path: "/a", value: 1 }] }),
    apply: () => client.apply(ConfigMap, { metadata: key }),
    delete: () => client.delete(ConfigMap, key),
    "delete of one uid": () => client.delete(ConfigMap, key, { preconditions: { uid: "u" } }),
    deleteCollection: () => client.deleteCollection(ConfigMap, { namespace: "ns" }),
    evict: () => client.evict(key),
  });
  const once = ["create", "JSON patch", "delete", "deleteCollection", "evict"];
  const list = json(200, { kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] });
  const answerTo = (name: string): Step => (name === "list" ? list : ok);

  for (const name of Object.keys(write(world().client))) {
    test(`F20: ${name} is ${once.includes(name) ? "not " : ""}repeated when the answer was lost`, async () => {
      const { client, env, lines } = world(lost, answerTo(name));
      const work = finish(env, Promise.resolve(write(client)[name]?.()));
      if (once.includes(name)) await assert.rejects(work, (error: unknown) => error === lost);
      else await work;
      assert.equal(lines().length, once.includes(name) ? 1 : 2);
    });
    test(`${name} is repeated when nobody was there to receive it`, async () => {
      const { client, env, lines } = world(refused, refused, answerTo(name));
      await finish(env, Promise.resolve(write(client)[name]?.()));
      assert.equal(lines().length, 3);
    });
    test(`F26: ${name} waits as long as a 429 asks`, async () => {
      const { client, env, lines } = world(failure(429, "TooManyRequests", {}, { "retry-after": "3" }), answerTo(name));
      const work = Promise.resolve(write(client)[name]?.());
      await env.advance(2_999);
      assert.equal(lines().length, 1);
      await env.advance(200);
      assert.equal(lines().length, 2);
      await work;
    });
    for (const code of [502, 503, 504])
      test(`F27: ${name} ${once.includes(name) ? "gives a" : "survives two"} ${code}`, async () => {
        const { client, env, lines } = world(failure(code, ""), failure(code, ""), answerTo(name));
        const work = finish(env, Promise.resolve(write(client)[name]?.()));
        if (once.includes(name)) await assert.rejects(work, { status: code });
        else await work;
        assert.equal(lines().length, once.includes(name) ? 1 : 3);
      });
  }

  test("F27: a 500 is given to the caller at once, unless it asks to be tried later", async () => {
    const first = world(failure(500, "InternalError"));
    await assert.rejects(first.client.get(ConfigMap, key), { status: 500 });
    const second = world(failure(500, "ServerTimeout", { details: { retryAfterSeconds: 1 } }), ok);
    await finish(second.env, second.client.get(ConfigMap, key));
    assert.equal(second.lines().length, 2);
  });

  test("repetition is bounded in number and in time", async () => {
    const many = world(...Array.from({ length: 20 }, () => failure(503, "")));
    await assert.rejects(finish(many.env, many.client.get(ConfigMap, key)), { status: 503 });
    assert.equal(many.lines().length, 5);
    const slow = world(failure(429, "TooManyRequests", {}, { "retry-after": "120" }));
    await assert.rejects(slow.client.get(ConfigMap, key), (error: unknown) => {
      assert.ok(isTooManyRequests(error));
      assert.equal(error.retryAfterSeconds, 120);
      return true;
    });
  });

  test("a pod that its budget protects is not evicted again and again", async () => {
    const details = { causes: [{ reason: "DisruptionBudget", message: "needs 2" }], retryAfterSeconds: 10 };
    const { client, lines } = world(failure(429, "TooManyRequests", { details }));
    await assert.rejects(client.evict(key), isTooManyRequests);
    assert.equal(lines().length, 1);
  });
});

describe("refusals reach the caller as they are, once", () => {
  const cases: readonly [id: string, answer: Step, question: (error: unknown) => boolean][] = [
    ["F21 an old version", failure(409, "Conflict"), isConflict],
    [
      "F22 somebody else's field",
      failure(409, "Conflict", { details: { causes: [{ reason: "FieldManagerConflict", field: ".data.a" }] } }),
      isApplyConflict,
    ],
    ["F23 invalid", failure(422, "Invalid", { details: { causes: [{ field: "spec.x", message: "no" }] } }), isInvalid],
    ["F24 forbidden", failure(403, "Forbidden"), isForbidden],
    [
      "F25 a namespace that is gone",
      failure(404, "NotFound", { details: { kind: "namespaces", name: "ns" } }),
      isNotFound,
    ],
    ["F20 a name that is taken", failure(409, "AlreadyExists"), isAlreadyExists],
  ];
  for (const [id, answer, question] of cases)
    test(id, async () => {
      const { client, lines } = world(answer);
      await assert.rejects(client.apply(ConfigMap, { metadata: key }), question);
      assert.equal(lines().length, 1);
    });
});

describe("answers that are none", () => {
  const cases: readonly [name: string, answer: Step, call: (client: Client) => Promise<unknown>, message: RegExp][] = [
    [
      "not JSON",
      stream("<html>"),
      (client) => client.get(ConfigMap, key),
      /ConfigMap "ns\/a".*6 bytes \(application\/json\) that are not JSON/,
    ],
    ["cut off", stream('{"kind":"Conf'), (client) => client.get(ConfigMap, key), /not JSON/],
    ["empty", stream(), (client) => client.get(ConfigMap, key), /0 bytes/],
    ["a list instead of an object", json(200, []), (client) => client.get(ConfigMap, key), /not an object/],
    [
      "no metadata",
      json(200, { kind: "ConfigMap" }),
      (client) => client.get(ConfigMap, key),
      /metadata: Required value/,
    ],
    [
      "items that are no list",
      json(200, { metadata: {}, items: 5 }),
      (client) => client.list(ConfigMap),
      /items: must be a list/,
    ],
    [
      "an item without a name",
      json(200, { metadata: {}, items: [object, { metadata: {} }] }),
      (client) => client.list(ConfigMap),
      /ConfigMap list.*items\[1\]\.metadata\.name: Required value/,
    ],
    [
      "a token request without a token",
      json(201, { kind: "TokenRequest", metadata: {} }),
      (client) => client.createToken(key),
      /status\.token/,
    ],
  ];
  for (const [name, answer, call, message] of cases)
    test(name, async () => {
      const { client, lines } = world(answer);
      await assert.rejects(call(client), (error: unknown) => {
        assert.ok(error instanceof MalformedAnswerError, String(error));
        assert.match(error.message, message);
        return true;
      });
      assert.equal(lines().length, 1);
    });

  test("the content of an answer is never quoted: it may be a Secret", async () => {
    const { client } = world(stream('{"data":{"password":"hunter2"'));
    await assert.rejects(
      client.get(ConfigMap, key),
      (error: Error) => !JSON.stringify([error.message, error.stack, error.cause]).includes("hunter2"),
    );
  });

  test("Go's null for an empty list is an empty list", async () => {
    const { client } = world(
      json(200, { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "5" }, items: null }),
    );
    assert.deepEqual((await client.list(Pod)).items, []);
  });
});

describe("time and abort", () => {
  const never = (): Promise<never> => new Promise(() => {});

  test("a read without an answer ends in time, and is tried again while there is time", async () => {
    const slow = world(never);
    await assert.rejects(finish(slow.env, slow.client.get(ConfigMap, key)), { reason: "TimedOut" });
    const env = manualEnv();
    const { handler, lines } = script(never, ok);
    const client = createClient({ env, transport: handler, requestTimeoutMs: 5_000 });
    await finish(env, client.get(ConfigMap, key));
    assert.equal(lines().length, 2);
  });

  test("a create without an answer in time says that it may have happened", async () => {
    const { client, env } = world(never);
    await assert.rejects(finish(env, client.create(ConfigMap, { metadata: key })), (error: unknown) => {
      assert.ok(error instanceof ConnectionError);
      assert.deepEqual([error.reason, error.mayHaveBeenApplied], ["TimedOut", true]);
      assert.match(error.message, /ConfigMap "ns\/a": POST .* no answer within 65000 ms/);
      return true;
    });
  });

  for (const [name, steps] of [
    ["before it is sent", [ok]],
    ["while the answer is awaited", [never]],
    [
      "while the body is awaited",
      [{ status: 200, headers: {}, body: { [Symbol.asyncIterator]: () => ({ next: never }) } }],
    ],
    ["between two attempts", [failure(503, "")]],
  ] as const satisfies readonly (readonly [string, readonly Step[]])[])
    test(`an abort ${name} ends the request with the caller's own reason`, async () => {
      const { client, env } = world(...steps);
      const stop = new AbortController();
      const reason = new Error("enough");
      if (name === "before it is sent") stop.abort(reason);
      const work = client.get(ConfigMap, key, { signal: stop.signal });
      const rejected = assert.rejects(work, (error: unknown) => error === reason);
      await env.flush();
      stop.abort(reason);
      await rejected;
      assert.equal(env.pendingTimers, 0);
    });

  test("the transport sees the abort", async () => {
    const env = manualEnv();
    let seen: AbortSignal | undefined;
    const client = createClient({
      env,
      transport: ({ signal }) => {
        seen = signal;
        return never();
      },
    });
    const stop = new AbortController();
    const rejected = assert.rejects(client.get(ConfigMap, key, { signal: stop.signal }));
    await env.flush();
    stop.abort();
    await rejected;
    assert.equal(seen?.aborted, true);
  });
});

test("warnings reach the call and the client", async () => {
  const heard: string[] = [];
  const client = createClient({
    env: systemEnv,
    transport: script(json(200, object, { warning: '299 - "one", 299 - "two"' })).handler,
    onWarning: (warning, subject) => heard.push(`${subject}: ${warning}`),
  });
  await client.apply(ConfigMap, { metadata: key }, { onWarning: (warning) => heard.push(warning) });
  assert.deepEqual(heard, ["one", 'ConfigMap "ns/a": one', "two", 'ConfigMap "ns/a": two']);
});

test("metrics tell every send, every repetition and their sizes", async () => {
  const env = manualEnv();
  const samples: RequestSample[] = [];
  const repeated: string[] = [];
  const client = createClient({
    env,
    transport: script(failure(503, ""), lost, ok).handler,
    host: "api:6443",
    metrics: {
      requestFinished: (sample) => samples.push(sample),
      requestRetried: ({ code, method, host }) => repeated.push(`${method} ${host} ${code}`),
    },
  });
  await finish(env, client.update(ConfigMap, object));
  assert.deepEqual(
    samples.map(({ code, method, host }) => `${method} ${host} ${code}`),
    ["PUT api:6443 503", "PUT api:6443 <error>", "PUT api:6443 200"],
  );
  assert.deepEqual(repeated, ["PUT api:6443 503", "PUT api:6443 <error>"]);
  assert.equal(samples[2]?.responseBytes, JSON.stringify(object).length);
  assert.ok((samples[2]?.requestBytes ?? 0) > 50);
});

test("a rate limit lets a burst through and spreads the rest", async () => {
  const env = manualEnv();
  const waits: number[] = [];
  const client = createClient({
    env,
    transport: async () => json(200, object),
    rateLimit: { requestsPerSecond: 10, burst: 2 },
    metrics: { requestDelayed: ({ seconds }) => waits.push(seconds) },
  });
  const work = Promise.all(Array.from({ length: 5 }, () => client.get(ConfigMap, key)));
  await finish(env, work);
  assert.deepEqual(
    waits.map((seconds) => Math.round(seconds * 1000)),
    [0, 0, 100, 200, 300],
  );
  assert.throws(
    () => createClient({ env, transport: async () => ok, rateLimit: { requestsPerSecond: 0, burst: 1 } }),
    RangeError,
  );
});
