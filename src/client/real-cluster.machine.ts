// The client against a real Kubernetes API server: `npm run cluster -- npm run test:machine -- src/client`, or any KUBECONFIG
// whose user may create namespaces and CRDs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { missingRealServer, type RealServer, startRealServer } from "../../scripts/cluster/api-server.ts";
import { Namespace } from "../api/builtin/cluster.ts";
import { ConfigMap } from "../api/builtin/configuration.ts";
import { CustomResourceDefinition } from "../api/builtin/custom-resource-definition.ts";
import { Deployment } from "../api/builtin/workloads.ts";
import { sleep } from "../env/env.ts";
import { systemEnv } from "../env/system.ts";
import type { KindRef } from "../kube/kind.ts";
import { isAlreadyExists, isApplyConflict, isConflict, isInvalid, isKindMissing, isNotFound } from "./api-error.ts";
import type { Client } from "./client.ts";
import { type ClusterClient, clientFromKubeconfig } from "./connect.ts";
import { isInitialEventsEnd } from "./watch-stream.ts";
import { dryRunning, inNamespace } from "./wrappers.ts";

const { KUBECONFIG: named } = process.env;
const skip = named ? false : missingRealServer;

describe("against a real API server", { skip, timeout: 120_000 }, () => {
  const namespace = `capstan-client-${process.pid}`;
  const warnings: string[] = [];
  let server: RealServer | undefined;
  let cluster: ClusterClient;
  let client: Client;

  before(async () => {
    if (!named) server = await startRealServer();
    cluster = await clientFromKubeconfig({
      env: systemEnv,
      paths: (named ?? server?.kubeconfig ?? "").split(":"),
      processEnv: process.env,
      onWarning: (warning) => warnings.push(warning),
    });
    await cluster.client.create(Namespace, { metadata: { name: namespace } });
    client = inNamespace(cluster.client, namespace);
  });
  after(async () => {
    await cluster.client.delete(Namespace, { name: namespace });
    await cluster.close();
    await server?.stop();
  });

  test("objects are created, read, updated, patched, applied and deleted", async () => {
    const made = await client.create(ConfigMap, { metadata: { name: "a" }, data: { x: "1" } });
    assert.equal(made.kind, "ConfigMap");
    await assert.rejects(client.create(ConfigMap, { metadata: { name: "a" } }), isAlreadyExists);
    const updated = await client.update(ConfigMap, { ...made, data: { x: "2" } });
    assert.deepEqual(updated.data, { x: "2" });
    await assert.rejects(client.update(ConfigMap, { ...made, data: { x: "3" } }), isConflict);
    const key = { name: "a" };
    await client.patch(ConfigMap, key, { type: "merge", value: { data: { y: "1" } } });
    await client.patch(ConfigMap, key, { type: "strategic", value: { metadata: { labels: { l: "1" } } } });
    const operations = [{ op: "add", path: "/data/z", value: "1" }] as const;
    const patched = await client.patch(ConfigMap, key, { type: "json", operations });
    assert.deepEqual(patched.data, { x: "2", y: "1", z: "1" });
    await assert.rejects(
      client.apply(ConfigMap, { metadata: key, data: { x: "9" } }, { fieldManager: "other" }),
      isApplyConflict,
    );
    const applied = await client.apply(
      ConfigMap,
      { metadata: key, data: { x: "9" } },
      { fieldManager: "other", force: true },
    );
    assert.equal(applied.data?.["x"], "9");
    assert.ok(
      applied.metadata.managedFields?.some(({ manager, operation }) => manager === "other" && operation === "Apply"),
    );
    await assert.rejects(client.delete(ConfigMap, key, { preconditions: { uid: "wrong" } }), isConflict);
    const gone = await client.delete(ConfigMap, key, { preconditions: { uid: made.metadata.uid ?? "" } });
    assert.equal(gone.kind, "Status");
    await assert.rejects(client.get(ConfigMap, key), isNotFound);
    assert.equal(isKindMissing(await client.get(ConfigMap, key).catch((error: unknown) => error)), false);
  });

  test("an invalid object is refused with its fields, a dry run leaves nothing, an unknown field is warned about", async () => {
    await assert.rejects(client.create(ConfigMap, { metadata: { name: "Not Valid" } }), (error: unknown) => {
      assert.ok(isInvalid(error));
      assert.equal(error.causes[0]?.field, "metadata.name");
      return true;
    });
    await dryRunning(client).create(ConfigMap, { metadata: { name: "dry" } });
    await assert.rejects(client.get(ConfigMap, { name: "dry" }), isNotFound);
    warnings.length = 0;
    const odd = { metadata: { name: "odd" }, colour: "red" };
    await client.create(ConfigMap, odd, { fieldValidation: "Warn" });
    assert.deepEqual(warnings, ['unknown field "colour"']);
  });

  test("a list comes in pages of one snapshot, with kinds, or as metadata only; deleteCollection empties it", async () => {
    for (let index = 0; index < 7; index++)
      await client.create(ConfigMap, {
        metadata: { name: `page-${index}`, labels: { page: "yes" } },
        data: { big: "x" },
      });
    const sizes: number[] = [];
    for await (const page of client.pages(ConfigMap, { labelSelector: "page=yes", limit: 3 }))
      sizes.push(page.items.length);
    assert.deepEqual(sizes, [3, 3, 1]);
    const all = await client.list(ConfigMap, { labelSelector: "page=yes", limit: 2 });
    assert.equal(all.items.length, 7);
    assert.ok(all.items.every(({ kind, apiVersion }) => kind === "ConfigMap" && apiVersion === "v1"));
    assert.equal(all.metadata.continue, undefined);
    const slim = await client.list(ConfigMap, { labelSelector: "page=yes", metadataOnly: true });
    assert.ok(slim.items.every((item) => item.kind === "PartialObjectMetadata" && item.data === undefined));
    await client.deleteCollection(ConfigMap, { labelSelector: "page=yes" });
    assert.deepEqual((await client.list(ConfigMap, { labelSelector: "page=yes" })).items, []);
  });

  test("a watch gives initial events, their end, changes, and ends with its time", async () => {
    await client.create(ConfigMap, { metadata: { name: "seen", labels: { watch: "yes" } } });
    const seen: string[] = [];
    const stop = new AbortController();
    const options = {
      labelSelector: "watch=yes",
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      signal: stop.signal,
    };
    await assert.rejects(
      async () => {
        for await (const event of client.watch(ConfigMap, options)) {
          seen.push(`${event.type} ${event.object.metadata.name ?? ""}`.trim());
          if (isInitialEventsEnd(event)) {
            await client.patch(ConfigMap, { name: "seen" }, { type: "merge", value: { data: { a: "ü" } } });
            await client.delete(ConfigMap, { name: "seen" });
          }
          if (event.type === "DELETED") stop.abort(new Error("enough"));
        }
      },
      { message: "enough" },
    );
    assert.deepEqual(seen, ["ADDED seen", "BOOKMARK", "MODIFIED seen", "DELETED seen"]);
    // The server ends a watch when its time is over, and that is an end, not an error.
    for await (const _ of client.watch(ConfigMap, { timeoutSeconds: 1 }));
    const slim = client.watch(ConfigMap, { sendInitialEvents: true, allowWatchBookmarks: true, metadataOnly: true });
    for await (const event of slim) if (isInitialEventsEnd(event)) break;
  });

  test("scale, status, tokens and raw requests work", async () => {
    await client.create(Deployment, {
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { app: "d" } },
        template: { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "c", image: "c" }] } },
      },
    });
    assert.equal((await client.getScale(Deployment, { name: "d" })).spec.replicas, 1);
    assert.equal((await client.setScale(Deployment, { name: "d" }, 3)).spec.replicas, 3);
    const value = { status: { replicas: 3 } };
    await client.patch(Deployment, { name: "d" }, { type: "merge", value }, { subresource: "status" });
    await client.create(
      { group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true },
      { metadata: { name: "robot" } },
    );
    const token = await client.createToken({ name: "robot" }, { expirationSeconds: 600 });
    assert.equal(token.split(".").length, 3);
    assert.equal(await client.raw({ method: "GET", target: "/readyz" }), "ok");
    await client.delete(Deployment, { name: "d" }, { propagationPolicy: "Background", gracePeriodSeconds: 0 });
  });

  test("discovery knows built-in kinds and notices a CRD that is installed later", async () => {
    assert.deepEqual(await client.discover("apps", "Deployment"), {
      group: "apps",
      version: "v1",
      kind: "Deployment",
      plural: "deployments",
      namespaced: true,
    });
    const group = `client-${process.pid}.capstan.dev`;
    assert.equal(await client.discover(group, "Widget"), undefined);
    const Widget: KindRef = { group, version: "v1", kind: "Widget", plural: "widgets", namespaced: true };
    assert.ok(isKindMissing(await client.list(Widget).catch((error: unknown) => error)));
    const schema = { openAPIV3Schema: { type: "object" as const, "x-kubernetes-preserve-unknown-fields": true } };
    await client.create(CustomResourceDefinition, {
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "widgets", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    try {
      let found: KindRef | undefined;
      for (let tries = 0; tries < 20 && !found; tries++) {
        await sleep(systemEnv, 1_000);
        found = await client.discover(group, "Widget");
      }
      assert.deepEqual(found, Widget);
      await client.create(Widget, { metadata: { name: "w" } });
      const listed = await client.list(Widget);
      assert.equal(listed.items[0]?.metadata.name, "w");
    } finally {
      await client.delete(CustomResourceDefinition, { name: `widgets.${group}` });
    }
  });
});
