import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  applyPatch,
  assertStatus,
  type Case,
  type Context,
  configMap,
  jsonPatch,
  mergePatch,
  strategicPatch,
} from "../case.ts";

async function deployment(t: Context): Promise<string> {
  const path = await t.group("apps/v1", "deployments");
  await t.create(path, {
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: {
          containers: [
            { name: "one", image: "x", env: [{ name: "A", value: "1" }] },
            { name: "two", image: "y" },
          ],
        },
      },
    },
  });
  return `${path}/d`;
}

const jsonPatches: readonly (readonly [string, readonly object[], Readonly<Record<string, string>> | "refused"])[] = [
  ["add a member", [{ op: "add", path: "/data/b", value: "2" }], { a: "1", b: "2" }],
  ["replace a member", [{ op: "replace", path: "/data/a", value: "9" }], { a: "9" }],
  ["remove a member", [{ op: "remove", path: "/data/a" }], {}],
  ["move a member", [{ op: "move", from: "/data/a", path: "/data/b" }], { b: "1" }],
  ["copy a member", [{ op: "copy", from: "/data/a", path: "/data/b" }], { a: "1", b: "1" }],
  [
    "a test that holds",
    [
      { op: "test", path: "/data/a", value: "1" },
      { op: "add", path: "/data/b", value: "2" },
    ],
    { a: "1", b: "2" },
  ],
  ["a test that fails", [{ op: "test", path: "/data/a", value: "2" }], "refused"],
  ["a path that leads nowhere", [{ op: "remove", path: "/data/none" }], "refused"],
  ["an operation that nobody knows", [{ op: "frob", path: "/data/a" }], "refused"],
  [
    "nothing is kept when a later operation fails",
    [
      { op: "add", path: "/data/b", value: "2" },
      { op: "remove", path: "/data/none" },
    ],
    "refused",
  ],
  ["escaped characters in a path", [{ op: "add", path: "/data/x~1y", value: "2" }], "refused"],
];

/** The three patches that compute, and their refusals. */
export const patchCases: readonly Case[] = [
  ...jsonPatches.map(
    ([what, operations, data]): Case => ({
      name: `json patch: ${what}`,
      async run(t) {
        const path = `${await t.core("configmaps")}/a`;
        await t.create(await t.core("configmaps"), configMap("a", { a: "1" }));
        const reply = await t.request("PATCH", path, operations, { contentType: jsonPatch });
        if (data === "refused") {
          assert.equal(reply.status, 422, reply.body);
          assert.deepEqual((await t.get(path)).at("data"), { a: "1" });
        } else {
          assert.equal(reply.status, 200, reply.body);
          assert.deepEqual(reply.at("data") ?? {}, data);
        }
      },
    }),
  ),
  {
    name: "json patch: refusals do not say which operation failed",
    async run(t) {
      await t.create(await t.core("configmaps"), configMap("a", { a: "1" }));
      const reply = await t.request(
        "PATCH",
        `${await t.core("configmaps")}/a`,
        [{ op: "test", path: "/data/a", value: "2" }],
        { contentType: jsonPatch },
      );
      assertStatus(reply, 422, "Invalid", "the server rejected our request due to an error in our request");
      assert.deepEqual(reply.at("details"), {});
    },
  },
  {
    name: "json patch: must be a list",
    async run(t) {
      await t.create(await t.core("configmaps"), configMap("a"));
      const reply = await t.request("PATCH", `${await t.core("configmaps")}/a`, {}, { contentType: jsonPatch });
      assertStatus(
        reply,
        400,
        "BadRequest",
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
      );
    },
  },
  {
    name: "merge patch: sets, adds and removes with null",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { a: "1", b: "2" }));
      const reply = await t.patch(`${path}/a`, mergePatch, { data: { a: null, c: "3" } });
      assert.deepEqual(reply.at("data"), { b: "2", c: "3" });
    },
  },
  {
    name: "merge patch: replaces lists as a whole",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, mergePatch, {
        spec: { template: { spec: { containers: [{ name: "three", image: "z" }] } } },
      });
      assert.deepEqual(
        reply.list("spec.template.spec.containers").map((each) => each.at("name")),
        ["three"],
      );
    },
  },
  {
    name: "merge patch: must be an object",
    async run(t) {
      await t.create(await t.core("configmaps"), configMap("a"));
      const reply = await t.request("PATCH", `${await t.core("configmaps")}/a`, [], { contentType: mergePatch });
      assertStatus(
        reply,
        400,
        "BadRequest",
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
      );
    },
  },
  {
    name: "merge patch: a resourceVersion makes it conditional",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a"));
      await t.patch(`${path}/a`, mergePatch, {
        metadata: { resourceVersion: made.at("metadata.resourceVersion") },
        data: { x: "1" },
      });
      const reply = await t.request(
        "PATCH",
        `${path}/a`,
        { metadata: { resourceVersion: made.at("metadata.resourceVersion") }, data: { x: "2" } },
        { contentType: mergePatch },
      );
      assertStatus(reply, 409, "Conflict");
    },
  },
  {
    name: "merge patch: name and namespace cannot be changed",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      assertStatus(
        await t.request("PATCH", `${path}/a`, { metadata: { name: "b" } }, { contentType: mergePatch }),
        400,
        "BadRequest",
        "the name of the object (b) does not match the name on the URL (a)",
      );
      assertStatus(
        await t.request("PATCH", `${path}/a`, { metadata: { namespace: "b" } }, { contentType: mergePatch }),
        400,
        "BadRequest",
      );
    },
  },
  {
    name: "merge patch: a wrong type is Invalid and shows the patched object",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const reply = await t.request("PATCH", `${path}/a`, { data: { x: 1 } }, { contentType: mergePatch });
      assertStatus(
        reply,
        422,
        "Invalid",
        /^ "" is invalid: patch: Invalid value: .*cannot unmarshal number into Go struct field ConfigMap.data of type string$/s,
      );
    },
  },
  {
    name: "patch: of an object that is not there is NotFound",
    async run(t) {
      assertStatus(
        await t.request("PATCH", `${await t.core("configmaps")}/a`, {}, { contentType: mergePatch }),
        404,
        "NotFound",
      );
    },
  },
  {
    name: "patch: a type that nobody knows is UnsupportedMediaType",
    async run(t) {
      await t.create(await t.core("configmaps"), configMap("a"));
      assertStatus(
        await t.request("PATCH", `${await t.core("configmaps")}/a`, {}, { contentType: "application/nothing" }),
        415,
        "UnsupportedMediaType",
      );
    },
  },
  {
    name: "patch: force is for apply only",
    async run(t) {
      await t.create(await t.core("configmaps"), configMap("a"));
      const reply = await t.request(
        "PATCH",
        `${await t.core("configmaps")}/a?force=true`,
        {},
        { contentType: mergePatch },
      );
      assertStatus(
        reply,
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
      );
    },
  },
  {
    name: "strategic merge patch: lists with a merge key are merged by it",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, strategicPatch, {
        spec: {
          template: {
            spec: {
              containers: [
                { name: "two", image: "changed" },
                { name: "three", image: "z" },
              ],
            },
          },
        },
      });
      const images = Object.fromEntries(
        reply.list("spec.template.spec.containers").map((each) => [each.text("name"), each.at("image")]),
      );
      assert.deepEqual(images, { one: "x", two: "changed", three: "z" });
    },
  },
  {
    name: "strategic merge patch: $patch delete removes one item",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, strategicPatch, {
        spec: { template: { spec: { containers: [{ name: "one", $patch: "delete" }] } } },
      });
      assert.deepEqual(
        reply.list("spec.template.spec.containers").map((each) => each.at("name")),
        ["two"],
      );
    },
  },
  {
    name: "strategic merge patch: $patch replace replaces the list",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, strategicPatch, {
        spec: { template: { spec: { containers: [{ $patch: "replace" }, { name: "only", image: "z" }] } } },
      });
      assert.deepEqual(
        reply.list("spec.template.spec.containers").map((each) => each.at("name")),
        ["only"],
      );
    },
  },
  {
    name: "strategic merge patch: $setElementOrder orders what it names",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, strategicPatch, {
        spec: {
          template: {
            spec: {
              $setElementOrder: undefined,
              "$setElementOrder/containers": [{ name: "two" }, { name: "one" }],
              containers: [{ name: "one", image: "n" }],
            },
          },
        },
      });
      assert.deepEqual(
        reply.list("spec.template.spec.containers").map((each) => each.at("name")),
        ["two", "one"],
      );
    },
  },
  {
    name: "strategic merge patch: $retainKeys keeps only what it names",
    async run(t) {
      const path = await deployment(t);
      const reply = await t.patch(path, strategicPatch, {
        spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } },
      });
      assert.deepEqual(reply.at("spec.strategy"), { type: "Recreate" });
    },
  },
  {
    name: "strategic merge patch: $deleteFromPrimitiveList removes from a set",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", {}, { finalizers: ["example.com/a", "example.com/b"] }));
      const reply = await t.patch(`${path}/a`, strategicPatch, {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] },
      });
      assert.deepEqual(reply.at("metadata.finalizers"), ["example.com/b"]);
      await t.patch(`${path}/a`, mergePatch, { metadata: { finalizers: null } });
    },
  },
];

const owners = (entries: unknown): readonly string[] =>
  ((entries ?? []) as { manager: string; operation: string; subresource?: string }[]).map(
    ({ manager, operation, subresource }) => `${manager}/${operation}${subresource ? `/${subresource}` : ""}`,
  );

const cm = (data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  data,
});

/** Its list of claims is replaced as a whole, and then completed: mode, and what was not asked for yet. */
const claiming = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "s" },
  spec: {
    replicas: 0,
    serviceName: "s",
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ],
  },
};

/** Server-side apply and the record of who owns what. */
export const applyCases: readonly Case[] = [
  {
    name: "apply: creates what is not there",
    async run(t) {
      const made = await t.apply(`${await t.core("configmaps")}/a`, "m", cm({ a: "1" }), { status: 201 });
      assert.deepEqual(owners(made.at("metadata.managedFields")), ["m/Apply"]);
      assert.deepEqual(made.at("metadata.managedFields[0].fieldsV1"), { "f:data": { "f:a": {} } });
    },
  },
  {
    name: "apply: the same again writes nothing",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      const first = await t.apply(path, "m", cm({ a: "1" }), { status: 201 });
      const second = await t.apply(path, "m", cm({ a: "1" }));
      assert.deepEqual(second.value, first.value);
    },
  },
  {
    name: "apply: the same again in a later second writes nothing, also where the server fills in what was left out",
    async run(t) {
      const path = `${await t.group("apps/v1", "statefulsets")}/s`;
      const first = await t.apply(path, "m", claiming, { status: 201 });
      await sleep(1_100);
      const second = await t.apply(path, "m", claiming);
      assert.equal(second.at("metadata.resourceVersion"), first.at("metadata.resourceVersion"));
      assert.deepEqual(second.at("metadata.managedFields"), first.at("metadata.managedFields"));
    },
  },
  {
    name: "apply: a field that the manager no longer states is removed",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      await t.apply(path, "m", cm({ a: "1", b: "2" }), { status: 201 });
      const second = await t.apply(path, "m", cm({ b: "2" }));
      assert.deepEqual(second.at("data"), { b: "2" });
    },
  },
  {
    name: "apply: a field that somebody else also owns stays",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      await t.apply(path, "one", cm({ a: "1", b: "2" }), { status: 201 });
      await t.apply(path, "two", cm({ a: "1" }));
      const after = await t.apply(path, "one", cm({ b: "2" }));
      assert.deepEqual(after.at("data"), { a: "1", b: "2" });
    },
  },
  {
    name: "apply: another value for somebody's field is a Conflict that names him",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      await t.apply(path, "one", cm({ a: "1" }), { status: 201 });
      const reply = await t.apply(path, "two", cm({ a: "2" }), { status: 409 });
      assertStatus(reply, 409, "Conflict", 'Apply failed with 1 conflict: conflict with "one": .data.a');
      assert.deepEqual(reply.at("details.causes"), [
        { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" },
      ]);
    },
  },
  {
    name: "apply: a Conflict with an updater tells its version",
    async run(t) {
      await t.create(`${await t.core("configmaps")}?fieldManager=editor`, cm({ a: "1" }));
      const reply = await t.apply(`${await t.core("configmaps")}/a`, "two", cm({ a: "2" }), { status: 409 });
      assertStatus(reply, 409, "Conflict", 'Apply failed with 1 conflict: conflict with "editor" using v1: .data.a');
    },
  },
  {
    name: "apply: force takes the field over",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      await t.apply(path, "one", cm({ a: "1", b: "1" }), { status: 201 });
      const after = await t.apply(path, "two", cm({ a: "2" }), { force: true });
      assert.equal(after.at("data.a"), "2");
      const [one, two] = after.list("metadata.managedFields");
      assert.deepEqual(one?.at("fieldsV1"), { "f:data": { "f:b": {} } });
      assert.deepEqual(two?.at("fieldsV1"), { "f:data": { "f:a": {} } });
    },
  },
  {
    name: "apply: lists with keys are merged by them",
    async run(t) {
      const path = `${await t.group("apps/v1", "deployments")}/d`;
      const object = (containers: object[]) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers } },
        },
      });
      await t.apply(path, "one", object([{ name: "x", image: "1" }]), { status: 201 });
      const both = await t.apply(path, "two", object([{ name: "y", image: "2" }]));
      assert.deepEqual(
        both.list("spec.template.spec.containers").map((each) => each.at("name")),
        ["x", "y"],
      );
    },
  },
  {
    name: "apply: needs a fieldManager",
    async run(t) {
      const reply = await t.request("PATCH", `${await t.core("configmaps")}/a`, cm({}), { contentType: applyPatch });
      assertStatus(
        reply,
        422,
        "Invalid",
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      );
    },
  },
  {
    name: "apply: managedFields must not be sent",
    async run(t) {
      const reply = await t.apply(`${await t.core("configmaps")}/a`, "m", cm({}, { managedFields: [] }), {
        status: 400,
      });
      assertStatus(reply, 400, "BadRequest", "metadata.managedFields must be nil");
    },
  },
  {
    name: "apply: another kind than the resource's is BadRequest",
    async run(t) {
      const reply = await t.apply(
        `${await t.core("configmaps")}/a`,
        "m",
        { ...cm({}), kind: "Secret" },
        { status: 400 },
      );
      assertStatus(reply, 400, "BadRequest");
    },
  },
  {
    name: "apply: an unknown field is a fault that names it",
    async run(t) {
      const reply = await t.apply(`${await t.core("configmaps")}/a`, "m", { ...cm({}), nothing: 1 }, { status: 500 });
      assertStatus(reply, 500, "", /\.nothing: field not declared in schema/);
    },
  },
  {
    name: "apply: dry run stores nothing",
    async run(t) {
      const path = `${await t.core("configmaps")}/a`;
      await t.apply(path, "m", cm({ a: "1" }), { status: 201, query: "&dryRun=All" });
      assertStatus(await t.request("GET", path), 404, "NotFound");
    },
  },
  {
    name: "apply: YAML is the language",
    async run(t) {
      const raw = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n";
      const made = await t.expect(201, "PATCH", `${await t.core("configmaps")}/a?fieldManager=m`, undefined, {
        raw,
        contentType: applyPatch,
      });
      assert.equal(made.at("data.k"), "v");
    },
  },
  {
    name: "managers: a create is recorded under the program's name",
    async run(t) {
      const made = await t.create(await t.core("configmaps"), cm({ a: "1" }), {
        headers: { "user-agent": "my-program/v1 (linux)" },
      });
      assert.deepEqual(owners(made.at("metadata.managedFields")), ["my-program/Update"]);
      assert.deepEqual(made.at("metadata.managedFields[0].fieldsV1"), { "f:data": { ".": {}, "f:a": {} } });
      assert.equal(made.at("metadata.managedFields[0].fieldsType"), "FieldsV1");
    },
  },
  {
    name: "managers: two updaters each own what they changed",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(`${path}?fieldManager=one`, cm({ a: "1" }));
      const after = await t.patch(`${path}/a?fieldManager=two`, mergePatch, { data: { b: "2" } });
      assert.deepEqual(owners(after.at("metadata.managedFields")), ["one/Update", "two/Update"]);
      assert.deepEqual(after.at("metadata.managedFields[1].fieldsV1"), { "f:data": { "f:b": {} } });
    },
  },
  {
    name: "managers: status writes are recorded under the sub-resource",
    async run(t) {
      const path = await deployment(t);
      const after = await t.patch(`${path}/status?fieldManager=ctl`, mergePatch, { status: { replicas: 2 } });
      assert.ok(owners(after.at("metadata.managedFields")).includes("ctl/Update/status"));
    },
  },
  {
    name: "managers: a list with one empty entry clears them all",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, cm({ a: "1" }));
      const after = await t.patch(`${path}/a`, mergePatch, { metadata: { managedFields: [{}] } });
      assert.equal(after.at("metadata.managedFields"), undefined);
    },
  },
  {
    name: "managers: a first apply to an untracked object accounts for what was there",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, cm({ a: "1" }));
      await t.patch(`${path}/a`, mergePatch, { metadata: { managedFields: [{}] } });
      const after = await t.apply(`${path}/a`, "m", cm({ b: "2" }));
      assert.deepEqual([...owners(after.at("metadata.managedFields"))].sort(), [
        "before-first-apply/Update",
        "m/Apply",
      ]);
    },
  },
  {
    name: "managers: a name that is too long is invalid",
    async run(t) {
      const reply = await t.request("POST", `${await t.core("configmaps")}?fieldManager=${"x".repeat(129)}`, cm({}));
      assertStatus(reply, 422, "Invalid", /fieldManager: Too long: may not be more than 128 bytes/);
    },
  },
];
