import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sleep } from "../env/env.ts";
import type { HttpResponse } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { manualEnv } from "../testing/manual-env.ts";
import { silentLogger } from "./log.ts";
import { MetricsRegistry } from "./metrics.ts";
import { createWebhookHandler, mutator, validator } from "./webhook.ts";

interface Widget extends KubeObject {
  readonly spec: { readonly size?: number; readonly color?: string; readonly tags?: readonly string[] };
}
const Widget: KindRef<Widget> = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

const env = manualEnv();
const metrics = new MetricsRegistry();
const handler = createWebhookHandler({
  env,
  metrics,
  log: silentLogger,
  webhooks: [
    validator({
      path: "/validate",
      kind: Widget,
      validate: ({ object, oldObject, operation }) => [
        ...(object?.spec.size !== undefined && object.spec.size > 9 ? ["spec.size: must be at most 9"] : []),
        ...(operation === "UPDATE" && object?.spec.color !== oldObject?.spec.color
          ? ["spec.color: may not change"]
          : []),
        ...(operation === "DELETE" && oldObject?.spec.color === "gold" ? ["gold is never deleted"] : []),
      ],
    }),
    mutator({
      path: "/mutate",
      kind: Widget,
      mutate: ({ object }) =>
        ({ ...object, spec: { size: 1, ...object.spec, color: undefined, "a/b~c": 1, tags: ["new"] } }) as Widget,
    }),
    validator({
      path: "/broken",
      kind: Widget,
      validate() {
        throw new TypeError("a bug");
      },
    }),
    validator({
      path: "/slow",
      kind: Widget,
      async validate() {
        await sleep(env, 3_600_000);
        return [];
      },
    }),
  ],
  conversions: [
    {
      path: "/convert",
      convert(object, apiVersion) {
        if (object["impossible"]) throw new Error("spec.x cannot be expressed");
        return { ...object, apiVersion, converted: true, metadata: { name: "renamed", labels: { a: "b" } } };
      },
    },
  ],
});

const widget = (spec: Widget["spec"]) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name: "one" },
  spec,
});
const review = (request: object) => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u-1",
    kind: { group: "example.com", version: "v1", kind: "Widget" },
    resource: { group: "example.com", version: "v1", resource: "widgets" },
    operation: "CREATE",
    name: "one",
    namespace: "ns",
    userInfo: { username: "me" },
    ...request,
  },
});

async function text({ body }: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
const post = (
  target: string,
  body: unknown,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<HttpResponse> =>
  handler({
    method: "POST",
    target,
    headers,
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  });
async function decide(target: string, request: object): Promise<Record<string, unknown>> {
  const answer = await post(`${target}?timeout=10s`, review(request));
  assert.equal(answer.status, 200);
  return JSON.parse(await text(answer)).response;
}

describe("admission webhooks", () => {
  test("a validator lets in, or says every problem", async () => {
    assert.deepEqual(await decide("/validate", { object: widget({ size: 3 }) }), { uid: "u-1", allowed: true });
    assert.deepEqual(
      await decide("/validate", {
        operation: "UPDATE",
        object: widget({ size: 10, color: "red" }),
        oldObject: widget({ color: "blue" }),
      }),
      {
        uid: "u-1",
        allowed: false,
        status: { code: 403, reason: "Forbidden", message: "spec.size: must be at most 9; spec.color: may not change" },
      },
    );
    const deletion = await decide("/validate", {
      operation: "DELETE",
      object: null,
      oldObject: widget({ color: "gold" }),
    });
    assert.equal(deletion["allowed"], false);
  });

  test("a mutator's changes become a JSON patch", async () => {
    const { allowed, patchType, patch } = await decide("/mutate", { object: widget({ color: "red", tags: ["old"] }) });
    assert.deepEqual([allowed, patchType], [true, "JSONPatch"]);
    assert.deepEqual(JSON.parse(Buffer.from(String(patch), "base64").toString()), [
      { op: "remove", path: "/spec/color" },
      { op: "add", path: "/spec/size", value: 1 },
      { op: "replace", path: "/spec/tags", value: ["new"] },
      { op: "add", path: "/spec/a~1b~0c", value: 1 },
    ]);
  });

  test("a webhook that throws, is too slow or is asked about another kind says no and why", async () => {
    const broken = await decide("/broken", { object: widget({}) });
    assert.deepEqual(broken["status"], { code: 500, reason: "InternalError", message: "a bug" });
    const slow = decide("/slow", { object: widget({}) });
    await env.advance(10_000);
    assert.match(JSON.stringify(await slow), /no decision within 10000 ms/);
    const other = await decide("/validate", { kind: { group: "", version: "v1", kind: "Pod" }, object: widget({}) });
    assert.match(JSON.stringify(other), /not Pod of group/);
  });

  const bad: readonly [string, unknown, RegExp][] = [
    ["not JSON", "{", /not JSON/],
    ["not an object", [], /not an object/],
    ["another kind", { kind: "Pod" }, /kind: "Pod" is not "AdmissionReview"/],
    [
      "an old version",
      { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1beta1" },
      /apiVersion: "admission.k8s.io\/v1beta1"/,
    ],
    ["no request", { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" }, /request: Required/],
    ["no uid", review({ uid: "" }), /request.uid: Required/],
    ["a strange operation", review({ operation: "PATCH" }), /request.operation: Unsupported value: "PATCH"/],
    ["no object", review({}), /request.object: Required/],
    ["no old object", review({ operation: "UPDATE", object: widget({}) }), /request.oldObject: Required/],
    ["no kind", review({ kind: 1, object: widget({}) }), /request.kind:/],
  ];
  for (const [name, body, message] of bad) {
    test(`${name} is answered with 400 and what is wrong`, async () => {
      const answer = await post("/validate", body);
      assert.equal(answer.status, 400);
      assert.match(await text(answer), message);
    });
  }

  test("other methods, media types and paths are refused, and everything is counted", async () => {
    assert.equal((await handler({ method: "GET", target: "/validate", headers: {} })).status, 405);
    assert.equal((await post("/validate", "x", { "content-type": "text/plain" })).status, 415);
    assert.equal((await post("/nothing", "{}")).status, 404);
    const exposed = metrics.expose();
    assert.match(exposed, /controller_runtime_webhook_requests_total\{webhook="\/validate",code="415"\} 1\n/);
    assert.match(exposed, /controller_runtime_webhook_requests_in_flight\{webhook="\/validate"\} 0\n/);
    assert.match(exposed, /controller_runtime_webhook_latency_seconds_count\{webhook="\/mutate"\} 1\n/);
  });
});

describe("conversion webhooks", () => {
  const conversion = (objects: readonly object[]) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    request: { uid: "u-2", desiredAPIVersion: "example.com/v2", objects },
  });

  test("objects are converted, but who they are stays", async () => {
    const answer = await post(
      "/convert",
      conversion([
        { ...widget({}), metadata: { name: "one", uid: "x" } },
        { ...widget({}), apiVersion: "example.com/v2" },
      ]),
    );
    const { response } = JSON.parse(await text(answer));
    assert.deepEqual(response.result, { status: "Success" });
    assert.deepEqual(response.convertedObjects[0], {
      apiVersion: "example.com/v2",
      kind: "Widget",
      metadata: { name: "one", uid: "x", labels: { a: "b" } },
      spec: {},
      converted: true,
    });
    assert.equal(response.convertedObjects[1].converted, undefined, "already there");
  });

  test("one that cannot be converted fails all, with its index", async () => {
    const answer = await post("/convert", conversion([widget({}), { ...widget({}), impossible: true }]));
    assert.deepEqual(JSON.parse(await text(answer)).response, {
      uid: "u-2",
      result: { status: "Failed", message: "objects[1]: spec.x cannot be expressed" },
    });
    assert.equal((await post("/convert", { kind: "ConversionReview" })).status, 400);
  });
});
