import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, json } from "../../test/loopback/scripted.ts";
import type { HttpResponse } from "../http/message.ts";
import { type ManualEnv, manualEnv } from "../testing/manual-env.ts";
import type { Client } from "./client.ts";
import { createClient } from "./create-client.ts";

const resource = (kind: string, plural: string, scope = "Namespaced"): object => ({
  resource: plural,
  responseKind: { group: "", version: "", kind },
  scope,
  singularResource: kind.toLowerCase(),
  verbs: ["get", "list"],
});
const group = (name: string, ...versions: readonly object[]): object => ({ metadata: { name }, versions });
const version = (name: string, ...resources: readonly object[]): object => ({
  version: name,
  freshness: "Current",
  resources,
});
const aggregated = (...items: readonly object[]): HttpResponse =>
  json(200, { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", items });

type Answers = Record<string, HttpResponse | undefined>;
function world(answers: Answers): { client: Client; env: ManualEnv; asked: string[]; answers: Answers } {
  const env = manualEnv();
  const asked: string[] = [];
  const client = createClient({
    env,
    transport: async ({ target }) => {
      asked.push(target);
      return answers[target] ?? failure(404, "NotFound");
    },
  });
  return { client, env, asked, answers };
}

const core = aggregated(group("", version("v1", resource("Pod", "pods"), resource("Node", "nodes", "Cluster"))));
const demo = (...kinds: readonly string[]): HttpResponse =>
  aggregated(
    group(
      "demo.io",
      version("v2", ...kinds.map((kind) => resource(kind, `${kind.toLowerCase()}s`))),
      version("v1", resource("Old", "olds")),
    ),
  );

describe("aggregated discovery", () => {
  test("kinds are found in the version that the server prefers, in two requests for all", async () => {
    const { client, asked } = world({ "/api": core, "/apis": demo("Widget") });
    assert.deepEqual(await client.discover("", "Node"), {
      group: "",
      version: "v1",
      kind: "Node",
      plural: "nodes",
      namespaced: false,
    });
    assert.deepEqual(await client.discover("demo.io", "Widget"), {
      group: "demo.io",
      version: "v2",
      kind: "Widget",
      plural: "widgets",
      namespaced: true,
    });
    assert.equal((await client.discover("demo.io", "Old"))?.version, "v1");
    assert.deepEqual(asked, ["/api", "/apis"]);
  });

  test("a CRD that is installed later is noticed, and a kind that is missing does not flood the server", async () => {
    const { client, env, asked, answers } = world({ "/api": core, "/apis": demo() });
    assert.equal(await client.discover("demo.io", "Widget"), undefined);
    assert.equal(await client.discover("demo.io", "Widget"), undefined);
    assert.equal(asked.length, 2);
    answers["/apis"] = demo("Widget");
    await env.advance(2_000);
    assert.equal((await client.discover("demo.io", "Widget"))?.plural, "widgets");
    assert.equal(asked.length, 4);
  });

  test("many who ask at once share one reading, and one who gives up leaves the others theirs", async () => {
    const { client, asked } = world({ "/api": core, "/apis": demo("Widget") });
    const stop = new AbortController();
    const first = client.discover("demo.io", "Widget", { signal: stop.signal });
    const others = Promise.all([client.discover("", "Pod"), client.discover("demo.io", "Widget")]);
    stop.abort(new Error("enough"));
    await assert.rejects(first, { message: "enough" });
    assert.deepEqual(
      (await others).map((kind) => kind?.plural),
      ["pods", "widgets"],
    );
    assert.equal(asked.length, 2);
  });

  test("a removed CRD is forgotten in time", async () => {
    const { client, env, answers } = world({ "/api": core, "/apis": demo("Widget") });
    assert.ok(await client.discover("demo.io", "Widget"));
    answers["/apis"] = demo();
    await env.advance(10 * 60_000);
    assert.equal(await client.discover("demo.io", "Widget"), undefined);
  });

  test("a group whose own server is down keeps what was known of it", async () => {
    const { client, env, answers } = world({ "/api": core, "/apis": demo("Widget") });
    assert.ok(await client.discover("demo.io", "Widget"));
    answers["/apis"] = aggregated(group("demo.io", { version: "v2", freshness: "Stale", resources: [] }));
    await env.advance(10 * 60_000);
    assert.ok(await client.discover("demo.io", "Widget"));
  });

  test("a failed reading is an error and is tried again by the next who asks", async () => {
    const { client, answers } = world({ "/api": failure(403, "Forbidden"), "/apis": demo("Widget") });
    await assert.rejects(client.discover("demo.io", "Widget"), { reason: "Forbidden" });
    answers["/api"] = core;
    assert.ok(await client.discover("demo.io", "Widget"));
  });

  test("a document that is none is refused by name", async () => {
    const { client } = world({ "/api": json(200, { kind: "Pod" }), "/apis": demo() });
    await assert.rejects(client.discover("", "Pod"), {
      name: "MalformedAnswerError",
      message: /GET \/api: kind: Unsupported value: "Pod"/,
    });
  });
});

describe("the older discovery", () => {
  const legacy: Answers = {
    "/api": json(200, { kind: "APIVersions", versions: ["v1"] }),
    "/api/v1": json(200, {
      kind: "APIResourceList",
      resources: [
        { name: "pods", kind: "Pod", namespaced: true },
        { name: "pods/log", kind: "Pod", namespaced: true },
      ],
    }),
    "/apis": json(200, {
      kind: "APIGroupList",
      groups: [
        { name: "demo.io", versions: [{ version: "v1" }, { version: "v2" }], preferredVersion: { version: "v2" } },
      ],
    }),
    "/apis/demo.io/v1": json(200, {
      kind: "APIResourceList",
      resources: [{ name: "widgets", kind: "Widget", namespaced: true }],
    }),
    "/apis/demo.io/v2": json(200, {
      kind: "APIResourceList",
      resources: [{ name: "widgets", kind: "Widget", namespaced: true }],
    }),
  };

  test("is read version by version when there is no other", async () => {
    const { client, asked } = world({ ...legacy });
    assert.equal((await client.discover("", "Pod"))?.plural, "pods");
    assert.equal((await client.discover("demo.io", "Widget"))?.version, "v2");
    assert.deepEqual(asked.sort(), Object.keys(legacy).sort());
  });

  test("one broken group does not hide the others", async () => {
    const { client } = world({ ...legacy, "/apis/demo.io/v2": failure(500, "InternalError") });
    assert.equal((await client.discover("demo.io", "Widget"))?.version, "v1");
    assert.ok(await client.discover("", "Pod"));
  });
});
