import assert from "node:assert/strict";
import { test } from "node:test";
import { json } from "../../test/loopback/scripted.ts";
import { systemEnv } from "../env/system.ts";
import type { HttpRequest } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import { apiErrorFrom, isConflict } from "./api-error.ts";
import type { Client } from "./client.ts";
import { createClient } from "./create-client.ts";
import { dryRunning, inNamespace, intercepting, managedBy, validatingFields } from "./wrappers.ts";

const ConfigMap: KindRef = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
const Node: KindRef = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
const key = { namespace: "ns", name: "a" };
const object = { apiVersion: "v1", kind: "ConfigMap", metadata: key };

function world(): { client: Client; seen: HttpRequest[] } {
  const seen: HttpRequest[] = [];
  const client = createClient({
    env: systemEnv,
    transport: async (request) => {
      seen.push(request);
      return json(200, { ...object, metadata: { ...key, resourceVersion: "1" }, items: [], status: { token: "t" } });
    },
  });
  return { client, seen };
}
const writes = (client: Client): Promise<unknown>[] => [
  client.create(ConfigMap, { metadata: key }),
  client.update(ConfigMap, object),
  client.patch(ConfigMap, key, { type: "merge", value: {} }),
  client.apply(ConfigMap, { metadata: key }),
  client.setScale(ConfigMap, key, 1),
];
const text = ({ target, body }: HttpRequest): string => `${target} ${body ? Buffer.from(body).toString() : ""}`;

test("a dry run reaches every write, also those that are asked to be real", async () => {
  const { client, seen } = world();
  const dry = dryRunning(client);
  await Promise.all([
    ...writes(dry),
    dry.create(ConfigMap, { metadata: key }, { dryRun: false }),
    dry.delete(ConfigMap, key),
    dry.deleteCollection(ConfigMap, { namespace: "ns" }),
    dry.evict(key),
    dry.createToken(key),
  ]);
  assert.equal(seen.length, 10);
  for (const request of seen) assert.match(text(request), /dryRun=All|"dryRun":\["All"\]/);
  await assert.rejects(dry.raw({ method: "POST", target: "/x" }), /dry run/);
  await dry.raw({ method: "GET", target: "/version" });
  await dry.get(ConfigMap, key);
  assert.doesNotMatch(text(seen[11] as HttpRequest), /dryRun/);
});

test("a field manager is the default of writes, and a call may name another", async () => {
  const { client, seen } = world();
  const managed = managedBy(client, "capstan-test");
  await Promise.all(writes(managed));
  for (const request of seen) assert.match(request.target, /fieldManager=capstan-test(&|$)/);
  await managed.apply(ConfigMap, { metadata: key }, { fieldManager: "other" });
  assert.match(seen.at(-1)?.target ?? "", /fieldManager=other/);
});

test("without a wrapper the manager is the client's own", async () => {
  const { client, seen } = world();
  await client.apply(ConfigMap, { metadata: key });
  assert.match(seen[0]?.target ?? "", /fieldManager=capstan$/);
});

test("field validation is the default of writes", async () => {
  const { client, seen } = world();
  await Promise.all(writes(validatingFields(client, "Strict")));
  for (const request of seen) assert.match(request.target, /fieldValidation=Strict/);
});

test("in one namespace: it is filled in, others are refused, cluster-scoped kinds are left alone", async () => {
  const { client, seen } = world();
  const own = inNamespace(client, "ns");
  await own.get(ConfigMap, { name: "a" });
  await own.list(ConfigMap);
  for await (const _ of own.pages(ConfigMap));
  await own.create(ConfigMap, { metadata: { name: "a" } });
  await own.update(ConfigMap, { ...object, metadata: { name: "a" } });
  await own.patch(ConfigMap, { name: "a" }, { type: "merge", value: {} });
  await own.apply(ConfigMap, { metadata: { name: "a" } });
  await own.delete(ConfigMap, { name: "a" });
  await own.deleteCollection(ConfigMap);
  await own.getScale(ConfigMap, { name: "a" });
  await own.setScale(ConfigMap, { name: "a" }, 1);
  await own.evict({ name: "a" });
  await own.createToken({ name: "a" });
  for (const { target } of seen) assert.match(target, /^\/api\/v1\/namespaces\/ns\//);
  assert.equal(JSON.parse(Buffer.from(seen[3]?.body ?? []).toString()).metadata.namespace, "ns");
  await own.get(Node, { name: "n" });
  assert.equal(seen.at(-1)?.target, "/api/v1/nodes/n");
  await assert.rejects(
    own.get(ConfigMap, { namespace: "other", name: "a" }),
    /this client is for namespace "ns", not "other"/,
  );
  assert.throws(() => own.watch(ConfigMap, { namespace: "other" }), /not "other"/);
});

test("a fault can be put in front of one method, and wrappers stack", async () => {
  const { client, seen } = world();
  let left = 2;
  const faulty = intercepting(managedBy(client, "m"), {
    update: (next) => async (kind, given, options) => {
      if (left-- > 0) throw apiErrorFrom("PUT /x", 409, "");
      return next(kind, given, options);
    },
  });
  await assert.rejects(faulty.update(ConfigMap, object), isConflict);
  await assert.rejects(faulty.update(ConfigMap, object), isConflict);
  await faulty.update(ConfigMap, object);
  assert.deepEqual(
    seen.map(({ target }) => target),
    ["/api/v1/namespaces/ns/configmaps/a?fieldManager=m"],
  );
});
