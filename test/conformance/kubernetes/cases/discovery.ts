import assert from "node:assert/strict";
import { assertStatus, type Case } from "../case.ts";

const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/** What a client learns before it asks for anything. */
export const discoveryCases: readonly Case[] = [
  {
    name: "discovery: /version tells major, minor and gitVersion",
    async run(t) {
      const version = await t.get("/version");
      assert.match(version.text("gitVersion"), /^v1\.\d+\.\d+/);
      assert.equal(version.text("major"), "1");
      assert.match(version.text("minor"), /^\d+/);
    },
  },
  {
    name: "discovery: /api lists the versions of the core group",
    async run(t) {
      const api = await t.get("/api");
      assert.equal(api.at("kind"), "APIVersions");
      assert.deepEqual(api.at("versions"), ["v1"]);
    },
  },
  {
    name: "discovery: /apis lists groups with their preferred version",
    async run(t) {
      const groups = (await t.get("/apis")).list("groups");
      const apps = groups.find((group) => group.at("name") === "apps");
      assert.equal(apps?.at("preferredVersion.groupVersion"), "apps/v1");
      const autoscaling = groups.find((group) => group.at("name") === "autoscaling");
      assert.deepEqual(
        autoscaling?.list("versions").map((version) => version.at("version")),
        ["v2", "v1"],
      );
    },
  },
  {
    name: "discovery: /apis/GROUP describes one group",
    async run(t) {
      const group = await t.get("/apis/apps");
      assert.equal(group.at("kind"), "APIGroup");
      assert.equal(group.at("name"), "apps");
    },
  },
  {
    name: "discovery: /api/v1 lists resources with verbs, short names and sub-resources",
    async run(t) {
      const list = await t.get("/api/v1");
      assert.equal(list.at("kind"), "APIResourceList");
      const find = (name: string) => list.list("resources").find((resource) => resource.at("name") === name);
      assert.deepEqual(find("pods")?.at("shortNames"), ["po"]);
      assert.equal(find("pods")?.at("namespaced"), true);
      assert.deepEqual([...((find("pods")?.at("verbs") ?? []) as string[])].sort(), [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
      ]);
      assert.equal(find("pods/status")?.at("kind"), "Pod");
      assert.equal(find("serviceaccounts/token")?.at("group"), "authentication.k8s.io");
      assert.equal(find("namespaces")?.at("namespaced"), false);
    },
  },
  {
    name: "discovery: /apis/apps/v1 says which group a scale belongs to",
    async run(t) {
      const scale = (await t.get("/apis/apps/v1"))
        .list("resources")
        .find((each) => each.at("name") === "deployments/scale");
      assert.equal(scale?.at("group"), "autoscaling");
      assert.equal(scale?.at("version"), "v1");
      assert.equal(scale?.at("kind"), "Scale");
    },
  },
  {
    name: "discovery: the aggregated form comes in the version that was asked for",
    async run(t) {
      const reply = await t.get("/apis", { accept: `${v2},${v2beta1},application/json` });
      assert.equal(reply.at("kind"), "APIGroupDiscoveryList");
      assert.equal(reply.at("apiVersion"), "apidiscovery.k8s.io/v2");
      assert.equal(reply.header("content-type"), v2);
      // Older clients know only v2beta1; a server that has forgotten it answers in the oldest form, never in v2.
      const older = await t.get("/apis", { accept: `${v2beta1},application/json` });
      assert.ok(["apidiscovery.k8s.io/v2beta1", "v1"].includes(older.text("apiVersion")), older.text("apiVersion"));
    },
  },
  {
    name: "discovery: aggregated /api describes pods with kind, scope and sub-resources",
    async run(t) {
      const reply = await t.get("/api", { accept: v2 });
      const pods = reply.list("items[0].versions[0].resources").find((each) => each.at("resource") === "pods");
      assert.equal(pods?.at("responseKind.kind"), "Pod");
      assert.equal(pods?.at("scope"), "Namespaced");
      assert.equal(pods?.at("singularResource"), "pod");
      assert.ok(pods?.list("subresources").some((each) => each.at("subresource") === "log"));
    },
  },
  {
    name: "discovery: sub-resources of another group say which, so that clients can write them",
    async run(t) {
      const groups = (await t.get("/apis", { accept: v2 })).list("items");
      const apps = groups.find((each) => each.at("metadata.name") === "apps");
      const deployments = apps?.list("versions[0].resources").find((each) => each.at("resource") === "deployments");
      const kinds = Object.fromEntries(
        (deployments?.list("subresources") ?? []).map((each) => [each.text("subresource"), each.at("responseKind")]),
      );
      assert.deepEqual(kinds, {
        scale: { group: "autoscaling", version: "v1", kind: "Scale" },
        status: { group: "", version: "", kind: "Deployment" },
      });
    },
  },
  {
    name: "discovery: aggregated answers carry an ETag and are not sent twice",
    async run(t) {
      const first = await t.get("/api", { accept: v2 });
      assert.notEqual(first.header("etag"), "");
      const second = await t.request("GET", "/api", undefined, {
        accept: v2,
        headers: { "if-none-match": first.header("etag") },
      });
      assert.equal(second.status, 304);
      assert.equal(second.body, "");
    },
  },
  {
    name: "discovery: the aggregated form wins wherever it stands",
    async run(t) {
      const reply = await t.get("/apis", { accept: `application/json,${v2}` });
      assert.equal(reply.at("kind"), "APIGroupDiscoveryList");
    },
  },
  {
    name: "openapi: /openapi/v3 lists a document for every group and version, with a hash",
    async run(t) {
      const index = await t.get("/openapi/v3");
      assert.match(index.text("paths[api/v1].serverRelativeURL"), /^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
      assert.match(index.text("paths[apis/apps/v1].serverRelativeURL"), /\?hash=/);
    },
  },
  {
    name: "openapi: v3 of a group has schemas with their kind, and writes take fieldValidation",
    async run(t) {
      const doc = await t.get("/openapi/v3/apis/apps/v1");
      const schema = "components.schemas[io.k8s.api.apps.v1.Deployment]";
      assert.deepEqual(doc.at(`${schema}.x-kubernetes-group-version-kind`), [
        { group: "apps", kind: "Deployment", version: "v1" },
      ]);
      const patch = "paths[/apis/apps/v1/namespaces/{namespace}/deployments/{name}].patch";
      assert.equal(doc.at(`${patch}.x-kubernetes-action`), "patch");
      assert.deepEqual(doc.at(`${patch}.x-kubernetes-group-version-kind`), {
        group: "apps",
        kind: "Deployment",
        version: "v1",
      });
      const parameters = doc.list(`${patch}.parameters`).map((each) => each.at("name"));
      for (const name of ["dryRun", "fieldManager", "fieldValidation", "force"])
        assert.ok(parameters.includes(name), name);
    },
  },
  {
    name: "openapi: v3 documents carry an ETag and are not sent twice",
    async run(t) {
      const first = await t.get("/openapi/v3/apis/batch/v1");
      const second = await t.request("GET", "/openapi/v3/apis/batch/v1", undefined, {
        headers: { "if-none-match": first.header("etag") },
      });
      assert.equal(second.status, 304);
    },
  },
  {
    name: "openapi: v2 in JSON has definitions that refer to each other",
    async run(t) {
      const doc = await t.get("/openapi/v2");
      assert.equal(doc.at("swagger"), "2.0");
      assert.ok(doc.at("definitions[io.k8s.api.core.v1.Pod].properties.spec"));
    },
  },
  {
    name: "openapi: v2 in protobuf for kubectl's validation",
    async run(t) {
      const reply = await t.expect(200, "GET", "/openapi/v2", undefined, {
        accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
      });
      assert.match(reply.header("content-type"), /protobuf/);
      assert.ok(reply.body.length > 10_000);
    },
  },
  ...["/healthz", "/livez", "/readyz", "/livez/ping"].map(
    (path): Case => ({
      name: `health: ${path} says ok`,
      async run(t) {
        assert.equal((await t.get(path)).body, "ok");
      },
    }),
  ),
  {
    name: "paths: an unknown resource of a built-in group is a Status, an unknown group is a plain page",
    async run(t) {
      assertStatus(
        await t.request("GET", "/api/v1/nosuch"),
        404,
        "NotFound",
        "the server could not find the requested resource",
      );
      assertStatus(await t.request("GET", "/apis/apps/v1/nosuch"), 404, "NotFound");
      const page = await t.expect(404, "GET", "/apis/nosuch.example/v1/things");
      assert.equal(page.body.trim(), "404 page not found");
      assert.equal((await t.expect(404, "GET", "/nosuch")).body.trim(), "404 page not found");
    },
  },
];
