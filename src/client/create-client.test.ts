import assert from "node:assert/strict";
import { test } from "node:test";
import { systemEnv } from "../env/system.ts";
import type { HttpRequest, HttpResponse } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import { isNotFound } from "./api-error.ts";
import { createClient } from "./create-client.ts";

const ConfigMap: KindRef = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

const json = (status: number, value: unknown, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: (async function* () {
    yield Buffer.from(JSON.stringify(value));
  })(),
});

test("a client works over any handler, in process", async () => {
  const seen: HttpRequest[] = [];
  const client = createClient({
    env: systemEnv,
    transport: async (request) => {
      seen.push(request);
      if (request.target.endsWith("/missing"))
        return json(404, { kind: "Status", status: "Failure", reason: "NotFound", message: "gone", code: 404 });
      return json(200, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } });
    },
  });
  const found = await client.get(ConfigMap, { namespace: "default", name: "a" });
  assert.equal(found.metadata.name, "a");
  await assert.rejects(client.get(ConfigMap, { namespace: "default", name: "missing" }), isNotFound);
  assert.deepEqual(
    seen.map(({ method, target }) => `${method} ${target}`),
    ["GET /api/v1/namespaces/default/configmaps/a", "GET /api/v1/namespaces/default/configmaps/missing"],
  );
});

test("a watch in process gives its events and ends with the stream", async () => {
  const events = [
    { type: "ADDED", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "ä", resourceVersion: "1" } } },
    { type: "BOOKMARK", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: "2" } } },
  ];
  const client = createClient({
    env: systemEnv,
    transport: async () => ({
      status: 200,
      headers: {},
      body: (async function* () {
        for (const byte of Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join("")))
          yield Uint8Array.of(byte);
      })(),
    }),
  });
  const got = [];
  for await (const event of client.watch(ConfigMap)) got.push(event);
  assert.deepEqual(got, events);
});
