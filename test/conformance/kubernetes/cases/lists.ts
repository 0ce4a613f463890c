import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, configMap, type Reply } from "../case.ts";

const names = (reply: Reply): readonly string[] => reply.list("items").map((item) => item.text("metadata.name"));

async function five(t: Context): Promise<string> {
  const path = await t.core("configmaps");
  for (const name of ["c", "a", "e", "b", "d"]) {
    const labels = { name, side: name < "c" ? "left" : "right", ...(name === "e" && { extra: "" }) };
    await t.create(path, configMap(name, {}, { labels }));
  }
  return path;
}

const selectors: readonly (readonly [string, readonly string[]])[] = [
  ["side=left", ["a", "b"]],
  ["side==left", ["a", "b"]],
  ["side!=left", ["c", "d", "e"]],
  ["side in (left)", ["a", "b"]],
  ["name in (a, e, z)", ["a", "e"]],
  ["name notin (a,b,c)", ["d", "e"]],
  ["extra", ["e"]],
  ["!extra", ["a", "b", "c", "d"]],
  ["side=right,name!=d", ["c", "e"]],
  ["extra=", ["e"]],
  ["missing=x", []],
];

/** Lists: order, selectors, pages and versions. */
export const listCases: readonly Case[] = [
  {
    name: "list: is in the order of names and carries a resourceVersion",
    async run(t) {
      const list = await t.get(await five(t));
      assert.equal(list.at("kind"), "ConfigMapList");
      assert.deepEqual(names(list), ["a", "b", "c", "d", "e"]);
      assert.match(list.text("metadata.resourceVersion"), /^\d+$/);
    },
  },
  {
    name: "list: items of built-in kinds do not repeat kind and apiVersion",
    async run(t) {
      const list = await t.get(await five(t));
      assert.equal(list.at("items[0].kind"), undefined);
      assert.equal(list.at("items[0].apiVersion"), undefined);
    },
  },
  {
    name: "list: an empty one is empty, also in a namespace that is not there",
    async run(t) {
      assert.deepEqual((await t.get(await t.core("configmaps"))).at("items"), []);
      assert.deepEqual((await t.get("/api/v1/namespaces/no-such-namespace/configmaps")).at("items"), []);
    },
  },
  {
    name: "list: all namespaces at once",
    async run(t) {
      await five(t);
      const namespace = await t.namespace();
      const list = await t.get("/api/v1/configmaps");
      assert.equal(list.list("items").filter((item) => item.at("metadata.namespace") === namespace).length, 5);
    },
  },
  ...selectors.map(
    ([selector, expected]): Case => ({
      name: `list: labelSelector ${selector}`,
      async run(t) {
        const list = await t.get(`${await five(t)}?labelSelector=${encodeURIComponent(selector)}`);
        assert.deepEqual(names(list), expected);
      },
    }),
  ),
  {
    name: "list: a labelSelector that cannot be read is BadRequest",
    async run(t) {
      const path = await t.core("configmaps");
      assertStatus(
        await t.request("GET", `${path}?labelSelector=a%20b`),
        400,
        "BadRequest",
        "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
      );
      assertStatus(await t.request("GET", `${path}?labelSelector=a%3D%3D%3Db`), 400, "BadRequest");
      assertStatus(await t.request("GET", `${path}?labelSelector=${"x".repeat(64)}`), 400, "BadRequest");
    },
  },
  {
    name: "list: fieldSelector metadata.name finds one object",
    async run(t) {
      const path = await five(t);
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=metadata.name%3Dc`)), ["c"]);
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=metadata.name!%3Dc`)), ["a", "b", "d", "e"]);
    },
  },
  {
    name: "list: fieldSelector metadata.namespace over all namespaces",
    async run(t) {
      await five(t);
      const list = await t.get(`/api/v1/configmaps?fieldSelector=metadata.namespace%3D${await t.namespace()}`);
      assert.equal(list.list("items").length, 5);
    },
  },
  {
    name: "list: fieldSelector status.phase and spec.nodeName of pods",
    async run(t) {
      await t.create(await t.core("serviceaccounts"), { metadata: { name: "s" } });
      const path = await t.core("pods");
      const pod = (name: string, nodeName?: string) => ({
        metadata: { name },
        spec: { serviceAccountName: "s", ...(nodeName && { nodeName }), containers: [{ name: "c", image: "x" }] },
      });
      await t.create(path, pod("a", "n1"));
      await t.create(path, pod("b"));
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=spec.nodeName%3Dn1`)), ["a"]);
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=spec.nodeName%3D`)), ["b"]);
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=status.phase%3DPending`)), ["a", "b"]);
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=status.phase%3DRunning`)), []);
      await t.request("DELETE", `${path}?gracePeriodSeconds=0`);
    },
  },
  {
    name: "list: fieldSelector involvedObject of events",
    async run(t) {
      const path = await t.core("events");
      const namespace = await t.namespace();
      const event = (name: string, kind: string) => ({
        metadata: { name },
        involvedObject: { kind, namespace, name: "p" },
        reason: "R",
        type: "Normal",
      });
      await t.create(path, event("a", "Pod"));
      await t.create(path, event("b", "Node"));
      assert.deepEqual(names(await t.get(`${path}?fieldSelector=involvedObject.kind%3DPod,involvedObject.name%3Dp`)), [
        "a",
      ]);
    },
  },
  {
    name: "list: an unknown fieldSelector is BadRequest",
    async run(t) {
      assertStatus(
        await t.request("GET", `${await t.core("pods")}?fieldSelector=spec.nothing%3D1`),
        400,
        "BadRequest",
        "field label not supported: spec.nothing",
      );
      assertStatus(
        await t.request("GET", `${await t.core("configmaps")}?fieldSelector=data.a%3D1`),
        400,
        "BadRequest",
        '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
      );
      assertStatus(
        await t.request("GET", `${await t.core("configmaps")}?fieldSelector=nothing`),
        400,
        "BadRequest",
        "invalid selector: 'nothing'; can't understand 'nothing'",
      );
    },
  },
  {
    name: "pages: limit and continue walk through everything once",
    async run(t) {
      const path = await five(t);
      const seen: string[] = [];
      let token = "";
      const versions = new Set<string>();
      for (let page = 0; page < 5; page++) {
        const reply = await t.get(`${path}?limit=2${token && `&continue=${encodeURIComponent(token)}`}`);
        seen.push(...names(reply));
        versions.add(reply.text("metadata.resourceVersion"));
        token = reply.text("metadata.continue");
        if (page === 0) assert.equal(reply.at("metadata.remainingItemCount"), 3);
        if (token === "") break;
      }
      assert.deepEqual(seen, ["a", "b", "c", "d", "e"]);
      assert.equal(versions.size, 1, "all pages show the same version");
    },
  },
  {
    name: "pages: changes after the first page do not show in later ones",
    async run(t) {
      const path = await five(t);
      const first = await t.get(`${path}?limit=2`);
      await t.remove(`${path}/d`);
      await t.create(path, configMap("cc"));
      await t.put(`${path}/e`, configMap("e", { changed: "yes" }));
      const rest = await t.get(`${path}?limit=10&continue=${encodeURIComponent(first.text("metadata.continue"))}`);
      assert.deepEqual(names(rest), ["c", "d", "e"]);
      assert.equal(rest.at("items[2].data.changed"), undefined);
    },
  },
  {
    name: "pages: with a selector there is no count of what remains",
    async run(t) {
      const page = await t.get(`${await five(t)}?limit=1&labelSelector=side%3Dright`);
      assert.deepEqual(names(page), ["c"]);
      assert.notEqual(page.text("metadata.continue"), "");
      assert.equal(page.at("metadata.remainingItemCount"), undefined);
    },
  },
  {
    name: "pages: a broken continue token is BadRequest",
    async run(t) {
      assertStatus(
        await t.request("GET", `${await t.core("configmaps")}?limit=1&continue=abc`),
        400,
        "BadRequest",
        /continue key is not valid/,
      );
    },
  },
  {
    name: "pages: continue together with a resourceVersion is BadRequest",
    async run(t) {
      const path = await five(t);
      const first = await t.get(`${path}?limit=2`);
      const token = encodeURIComponent(first.text("metadata.continue"));
      const reply = await t.request("GET", `${path}?limit=2&continue=${token}&resourceVersion=5`);
      assertStatus(reply, 400, "BadRequest", /specifying resource version is not allowed when using continue/);
    },
  },
  {
    name: "pages: limit must be a number",
    async run(t) {
      assertStatus(
        await t.request("GET", `${await t.core("configmaps")}?limit=x`),
        400,
        "BadRequest",
        'strconv.ParseInt: parsing "x": invalid syntax',
      );
    },
  },
  {
    name: "pages: resourceVersion=0 ignores the limit",
    async run(t) {
      const path = await five(t);
      await t.eventually("the cache has caught up", async () => {
        const reply = await t.get(`${path}?limit=2&resourceVersion=0`);
        return names(reply).length === 5 && reply.text("metadata.continue") === "";
      });
    },
  },
  {
    name: "versions: resourceVersionMatch=Exact shows the past",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { v: "1" }));
      const then = (await t.get(path)).text("metadata.resourceVersion");
      await t.put(`${path}/a`, configMap("a", { v: "2" }));
      await t.create(path, configMap("b"));
      const past = await t.get(`${path}?resourceVersion=${then}&resourceVersionMatch=Exact`);
      assert.deepEqual(names(past), ["a"]);
      assert.equal(past.at("items[0].data.v"), "1");
      assert.equal(past.at("metadata.resourceVersion"), then);
    },
  },
  {
    name: "versions: resourceVersionMatch=NotOlderThan shows the present",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a"));
      await t.create(path, configMap("b"));
      const list = await t.get(
        `${path}?resourceVersion=${made.text("metadata.resourceVersion")}&resourceVersionMatch=NotOlderThan`,
      );
      assert.ok(names(list).includes("a"));
    },
  },
  {
    name: "versions: one that is not reached yet is a Timeout that says so",
    async run(t) {
      const reply = await t.request("GET", `${await t.core("configmaps")}?resourceVersion=999999999999`);
      assertStatus(reply, 504, "Timeout", /^Timeout: Too large resource version: 999999999999, current: \d+$/);
      assert.equal(reply.at("details.causes[0].reason"), "ResourceVersionTooLarge");
    },
  },
  {
    name: "versions: one that is not a number is BadRequest",
    async run(t) {
      const reply = await t.request("GET", `${await t.core("configmaps")}?resourceVersion=abc`);
      assertStatus(
        reply,
        400,
        "BadRequest",
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      );
    },
  },
  ...(
    [
      [
        "resourceVersionMatch=Exact",
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
      ],
      [
        "resourceVersionMatch=Foo&resourceVersion=1",
        'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
      ],
      [
        "resourceVersionMatch=Exact&resourceVersion=0",
        'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ],
      ["sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"],
    ] as const
  ).map(
    ([query, message]): Case => ({
      name: `versions: ?${query} is invalid`,
      async run(t) {
        const reply = await t.request("GET", `${await t.core("configmaps")}?${query}`);
        assertStatus(reply, 422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${message}`);
      },
    }),
  ),
  {
    name: "table: columns, rows and the metadata of objects",
    async run(t) {
      const table = await t.get(await five(t), { accept: asTable });
      assert.equal(table.at("apiVersion"), "meta.k8s.io/v1");
      assert.deepEqual(
        table.list("columnDefinitions").map((column) => column.at("name")),
        ["Name", "Data", "Age"],
      );
      assert.deepEqual(
        table.list("rows").map((row) => row.at("cells[0]")),
        ["a", "b", "c", "d", "e"],
      );
      assert.equal(table.at("rows[0].object.kind"), "PartialObjectMetadata");
      assert.equal(table.at("rows[0].object.metadata.name"), "a");
    },
  },
  {
    name: "table: includeObject=Object brings whole objects, None brings none",
    async run(t) {
      const path = await five(t);
      const whole = await t.get(`${path}?includeObject=Object`, { accept: asTable });
      assert.equal(whole.at("rows[0].object.kind"), "ConfigMap");
      const none = await t.get(`${path}?includeObject=None`, { accept: asTable });
      assert.equal(none.at("rows[0].object") ?? null, null);
    },
  },
  {
    name: "table: of a single object",
    async run(t) {
      const table = await t.get(`${await five(t)}/a`, { accept: `${asTable},application/json` });
      assert.equal(table.at("kind"), "Table");
      assert.equal(table.list("rows").length, 1);
    },
  },
  {
    name: "metadata only: lists and objects as PartialObjectMetadata",
    async run(t) {
      const path = await five(t);
      const list = await t.get(path, { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" });
      assert.equal(list.at("kind"), "PartialObjectMetadataList");
      assert.equal(list.at("items[0].data"), undefined);
      assert.equal(list.at("items[0].metadata.labels.name"), "a");
      const one = await t.get(`${path}/a`, { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" });
      assert.equal(one.at("kind"), "PartialObjectMetadata");
      assert.equal(one.at("apiVersion"), "meta.k8s.io/v1");
    },
  },
  {
    name: "accept: YAML is answered in YAML",
    async run(t) {
      const reply = await t.get(`${await five(t)}/a`, { accept: "application/yaml" });
      assert.match(reply.header("content-type"), /application\/yaml/);
      assert.match(reply.body, /^kind: ConfigMap$/m);
    },
  },
  {
    name: "accept: what nobody speaks is NotAcceptable",
    async run(t) {
      assertStatus(
        await t.request("GET", await t.core("configmaps"), undefined, { accept: "text/html" }),
        406,
        "NotAcceptable",
      );
    },
  },
  {
    name: "accept: pretty=true is for people",
    async run(t) {
      const reply = await t.get(`${await five(t)}/a?pretty=true`);
      assert.match(reply.body, /^\{\n {2}"kind"|^\{\n {2}"apiVersion"/);
    },
  },
];
