import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, json, type Script, type Step, script } from "../../test/loopback/scripted.ts";
import { systemEnv } from "../env/system.ts";
import type { HttpResponse } from "../http/message.ts";
import type { KindRef } from "../kube/kind.ts";
import { isExpired } from "./api-error.ts";
import type { Client } from "./client.ts";
import { createClient } from "./create-client.ts";

const Pod: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

const page = (names: readonly string[], version: string, next = ""): HttpResponse =>
  json(200, {
    kind: "PodList",
    apiVersion: "v1",
    metadata: { resourceVersion: version, ...(next && { continue: next, remainingItemCount: 1 }) },
    items: names.map((name) => ({ metadata: { name, namespace: "ns" } })),
  });
const expired = (token?: string): HttpResponse =>
  failure(410, "Expired", { metadata: token ? { continue: token } : {} });

function world(...steps: readonly Step[]): { client: Client; played: Script } {
  const played = script(...steps);
  return { played, client: createClient({ env: systemEnv, transport: played.handler }) };
}

describe("list", () => {
  test("all pages of one snapshot, with apiVersion and kind on every object", async () => {
    const { client, played } = world(page(["a", "b"], "7", "t1"), page(["c"], "7"));
    const list = await client.list(Pod);
    assert.deepEqual(list.metadata, { resourceVersion: "7" });
    assert.deepEqual(
      list.items.map(({ apiVersion, kind, metadata }) => [apiVersion, kind, metadata.name]),
      [
        ["v1", "Pod", "a"],
        ["v1", "Pod", "b"],
        ["v1", "Pod", "c"],
      ],
    );
    assert.deepEqual(played.lines(), ["GET /api/v1/pods?limit=500", "GET /api/v1/pods?limit=500&continue=t1"]);
  });

  test("F6: a snapshot that is forgotten half way is read anew, whole", async () => {
    const { client, played } = world(page(["a"], "7", "t1"), expired("inconsistent"), page(["a", "b"], "9"));
    const list = await client.list(Pod, { labelSelector: "x=y", limit: 1 });
    assert.equal(list.metadata.resourceVersion, "9");
    assert.deepEqual(
      list.items.map(({ metadata }) => metadata.name),
      ["a", "b"],
    );
    assert.equal(played.lines()[2], "GET /api/v1/pods?labelSelector=x%3Dy&limit=0");
  });

  test("F1, F9: 410 on the first page is about the version that was asked for", async () => {
    const { client, played } = world(expired("t"));
    await assert.rejects(client.list(Pod, { resourceVersion: "1", resourceVersionMatch: "Exact" }), isExpired);
    assert.deepEqual(played.lines(), ["GET /api/v1/pods?limit=500&resourceVersion=1&resourceVersionMatch=Exact"]);
  });

  test("F1: a list at version 0 may be stale and says so by its own version, which is not changed", async () => {
    const { client } = world(page(["a"], "3"));
    assert.equal((await client.list(Pod, { resourceVersion: "0" })).metadata.resourceVersion, "3");
  });
});

describe("pages", () => {
  const namesOf = async (client: Client): Promise<[string[][], string[]]> => {
    const names: string[][] = [];
    const versions: string[] = [];
    for await (const { items, metadata } of client.pages(Pod, { limit: 2 })) {
      names.push(items.map((item) => item.metadata.name));
      versions.push(metadata.resourceVersion ?? "");
    }
    return [names, versions];
  };

  test("one request per page, and only when it is wanted", async () => {
    const { client, played } = world(page(["a", "b"], "7", "t1"), page(["c"], "7"));
    const pages = client.pages(Pod, { limit: 2 })[Symbol.asyncIterator]();
    await pages.next();
    assert.equal(played.seen.length, 1);
    await pages.next();
    assert.equal((await pages.next()).done, true);
    assert.equal(played.seen.length, 2);
  });

  test("F6: goes on with the token that the server offers, and keeps the first version", async () => {
    const { client, played } = world(
      page(["a", "b"], "7", "t1"),
      expired("t2"),
      page(["c"], "9", "t3"),
      page(["d"], "9"),
    );
    assert.deepEqual(await namesOf(client), [
      [["a", "b"], ["c"], ["d"]],
      ["7", "7", "7"],
    ]);
    assert.equal(played.lines()[2], "GET /api/v1/pods?limit=2&continue=t2");
  });

  test("F6: without a token the caller hears of it, after the pages before", async () => {
    const { client } = world(page(["a"], "7", "t1"), expired());
    await assert.rejects(namesOf(client), isExpired);
  });

  test("F6: a server that forgets again and again is not asked for ever", async () => {
    const { client, played } = world(page(["a"], "7", "t"), ...Array.from({ length: 50 }, () => expired("t")));
    await assert.rejects(namesOf(client), isExpired);
    assert.equal(played.seen.length, 5);
  });
});

test("metadata only: whatever the server sends, no more than metadata is kept", async () => {
  const full = json(200, { metadata: {}, items: [{ metadata: { name: "a" }, spec: { big: "x" } }] });
  const { client } = world(full);
  assert.deepEqual((await client.list(Pod, { metadataOnly: true })).items, [
    { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: { name: "a" } },
  ]);
});
