import assert from "node:assert/strict";
import { test } from "node:test";
import { findKind } from "../../src/api/kinds.ts";
import { createApiServer } from "../../src/apiserver/server.ts";
import { createClient } from "../../src/client/create-client.ts";
import { installObjects } from "../../src/control-plane/manifests.ts";
import { systemEnv } from "../../src/env/system.ts";

test("an API server accepts everything that `capstan install` prints, and a second time changes nothing", async (context) => {
  // A bare one: `capstan up` has an installation of its own, which belongs to it.
  const server = await createApiServer({
    env: systemEnv,
    file: ":memory:",
    tokens: [{ token: "admin", user: { name: "admin", groups: ["system:masters"] } }],
  });
  context.after(() => server.close());
  const client = createClient({
    env: systemEnv,
    transport: (request) =>
      server.handle({ ...request, headers: { ...request.headers, authorization: "Bearer admin" } }),
  });
  const objects = installObjects({
    namespace: "capstan-system",
    image: "capstan:test",
    replicas: 2,
    single: false,
    registryNamespace: "capstan-system",
  });
  const versions = async (): Promise<string[]> => {
    const applied: string[] = [];
    for (const object of objects) {
      const group = object.apiVersion.includes("/") ? (object.apiVersion.split("/")[0] ?? "") : "";
      const kind = findKind(group, object.kind) ?? (await client.discover(group, object.kind));
      assert.ok(kind, `${object.apiVersion} ${object.kind} is served`);
      const { metadata } = await client.apply(kind, object, { fieldManager: "install", fieldValidation: "Strict" });
      applied.push(`${object.kind} ${metadata.name} ${metadata.generation ?? metadata.resourceVersion}`);
    }
    return applied;
  };
  assert.deepEqual(await versions(), await versions());
});
