import assert from "node:assert/strict";
import { assertStatus, asTable, type Case, type Context, mergePatch, type Reply, strategicPatch } from "../case.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Kind {
  readonly group: string;
  readonly path: string;
  readonly definition: string;
  object(name: string, body?: object): Record<string, unknown>;
}

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: object;
  readonly [other: string]: unknown;
}

const specSchema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        replicas: { type: "integer", minimum: 0, maximum: 10, default: 1 },
        mode: { type: "string", enum: ["a", "b"] },
        name: { type: "string", pattern: "^[a-z]+$", maxLength: 5 },
        tags: { type: "array", items: { type: "string" }, maxItems: 3, "x-kubernetes-list-type": "set" },
        ports: {
          type: "array",
          items: {
            type: "object",
            required: ["port"],
            properties: { port: { type: "integer" }, name: { type: "string", default: "main" } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port"],
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        either: { "x-kubernetes-int-or-string": true },
        maybe: { type: "string", nullable: true },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, phase: { type: "string" } } },
  },
};

/** Makes a definition of its own for the case and waits until it is served. */
async function define(t: Context, versions: readonly Version[] = [{ name: "v1" }], spec: object = {}): Promise<Kind> {
  const group = `g${t.id.replace(/[^a-z0-9]/g, "")}.example.com`;
  const definition = `${definitions}/things.${group}`;
  await t.create(definitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        plural: "things",
        singular: "thing",
        kind: "Thing",
        listKind: "ThingList",
        shortNames: ["th"],
        categories: ["all"],
      },
      versions: versions.map(({ schema = specSchema, ...version }, index) => ({
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: schema },
        ...version,
      })),
      ...spec,
    },
  });
  t.onCleanUp(() => t.request("DELETE", definition));
  const path = await t.group(`${group}/${versions[0]?.name}`, "things");
  await t.eventually("the resource is served", async () => (await t.request("GET", path)).status === 200);
  const apiVersion = `${group}/${versions[0]?.name}`;
  return {
    group,
    path,
    definition,
    object: (name, body = {}) => ({ apiVersion, kind: "Thing", metadata: { name }, ...body }),
  };
}

const condition = (reply: Reply, type: string) =>
  reply.list("status.conditions").find((each) => each.at("type") === type);

const invalidSpecs: readonly (readonly [string, object, RegExp])[] = [
  [
    "a wrong type",
    { replicas: "x" },
    /spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"/,
  ],
  [
    "a number below the minimum",
    { replicas: -1 },
    /spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0/,
  ],
  [
    "a number above the maximum",
    { replicas: 11 },
    /spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10/,
  ],
  ["a value outside the enum", { mode: "c" }, /spec.mode: Unsupported value: "c": supported values: "a", "b"/],
  [
    "a text against the pattern",
    { name: "A" },
    /spec.name: Invalid value: "A": spec.name in body should match '\^\[a-z\]\+\$'/,
  ],
  ["a text that is too long", { name: "abcdef" }, /spec.name: Too long: may not be more than 5 bytes/],
  ["too many items", { tags: ["a", "b", "c", "d"] }, /spec.tags: Too many: 4: must have at most 3 items/],
  ["a repeated item of a set", { tags: ["a", "a"] }, /spec.tags\[1\]: Duplicate value: "a"/],
  [
    "a repeated key of a map list",
    { ports: [{ port: 1 }, { port: 1 }] },
    /spec.ports\[1\]: Duplicate value: \{"port":1\}/,
  ],
  ["a missing required field", { ports: [{ name: "x" }] }, /spec.ports\[0\].port: Required value/],
  ["null where it is not allowed", { either: [] }, /spec.either: Invalid value/],
];

/** CustomResourceDefinitions and the resources that they bring. */
export const definitionCases: readonly Case[] = [
  {
    name: "definition: is established with accepted names and stored versions",
    async run(t) {
      const kind = await define(t);
      const definition = await t.get(kind.definition);
      assert.equal(condition(definition, "NamesAccepted")?.at("reason"), "NoConflicts");
      assert.equal(condition(definition, "Established")?.at("reason"), "InitialNamesAccepted");
      assert.equal(definition.at("status.acceptedNames.plural"), "things");
      assert.deepEqual(definition.at("status.storedVersions"), ["v1"]);
      assert.equal(definition.at("spec.conversion.strategy"), "None");
    },
  },
  {
    name: "definition: shows in discovery with its sub-resources",
    async run(t) {
      const kind = await define(t, [
        {
          name: "v1",
          subresources: {
            status: {},
            scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
          },
        },
      ]);
      const resources = (
        await t.eventually("discovery", async () => {
          const reply = await t.request("GET", `/apis/${kind.group}/v1`);
          return reply.status === 200 && reply;
        })
      ).list("resources");
      assert.deepEqual(
        resources.map((each) => each.at("name")),
        ["things", "things/status", "things/scale"],
      );
      assert.deepEqual(resources[0]?.at("shortNames"), ["th"]);
      assert.deepEqual(resources[0]?.at("categories"), ["all"]);
    },
  },
  {
    name: "definition: shows in OpenAPI for explain and validation",
    async run(t) {
      const kind = await define(t);
      const doc = await t.eventually(
        "the document",
        async () => {
          const reply = await t.request("GET", `/openapi/v3/apis/${kind.group}/v1`);
          return reply.status === 200 && reply;
        },
        20_000,
      );
      const name = `${kind.group.split(".").reverse().join(".")}.v1.Thing`;
      assert.equal(doc.at(`components.schemas[${name}].properties.spec.properties.replicas.default`), 1);
    },
  },
  ...(
    [
      [
        "the name must be plural.group",
        { metadata: { name: "wrong" } },
        /metadata.name: Invalid value: "wrong": must be spec.names.plural\+"."\+spec.group/,
      ],
      [
        "a schema is required",
        { versions: [{ name: "v1", served: true, storage: true }] },
        /spec.versions\[0\].schema.openAPIV3Schema: Required value/,
      ],
      [
        "one version must be stored",
        { versions: [{ name: "v1", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } }] },
        /spec.versions: Invalid value: .*must have exactly one version marked as storage version/,
      ],
      [
        "a schema must be structural",
        {
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", properties: { a: {} } } },
            },
          ],
        },
        /openAPIV3Schema.properties\[a\].type: Required value: must not be empty for specified object fields/,
      ],
    ] as const
  ).map(
    ([what, change, message]): Case => ({
      name: `definition: refused, because ${what}`,
      async run(t) {
        const group = `r${t.id.replace(/[^a-z0-9]/g, "")}.example.com`;
        const { metadata, ...spec } = { metadata: { name: `things.${group}` }, ...change } as { metadata: object };
        const reply = await t.request("POST", definitions, {
          metadata,
          spec: {
            group,
            scope: "Namespaced",
            names: { plural: "things", kind: "Thing" },
            versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
            ...spec,
          },
        });
        assertStatus(reply, 422, "Invalid", message);
      },
    }),
  ),
  {
    name: "definition: names that are taken are not accepted",
    async run(t) {
      const kind = await define(t);
      const other = `others.${kind.group}`;
      await t.create(definitions, {
        metadata: { name: other },
        spec: {
          group: kind.group,
          scope: "Namespaced",
          names: { plural: "others", singular: "other", kind: "Thing", listKind: "OtherList" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      });
      t.onCleanUp(() => t.request("DELETE", `${definitions}/${other}`));
      const refused = await t.eventually("the decision", async () => {
        const reply = await t.get(`${definitions}/${other}`);
        return condition(reply, "NamesAccepted") && reply;
      });
      assert.equal(condition(refused, "NamesAccepted")?.at("status"), "False");
      assert.equal(condition(refused, "NamesAccepted")?.at("reason"), "KindConflict");
      assert.equal(condition(refused, "Established")?.at("reason"), "NotAccepted");
    },
  },
  {
    name: "custom resource: is defaulted, given a generation, and answered with its type",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(kind.path, kind.object("a", { spec: { ports: [{ port: 1 }] } }));
      assert.equal(made.at("spec.replicas"), 1);
      assert.equal(made.at("spec.ports[0].name"), "main");
      assert.equal(made.at("metadata.generation"), 1);
      const list = await t.get(kind.path);
      assert.equal(list.at("kind"), "ThingList");
      assert.equal(list.at("items[0].kind"), "Thing");
    },
  },
  {
    name: "custom resource: unknown fields are pruned with a warning, kept where the schema says so",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(
        kind.path,
        kind.object("a", { spec: { nothing: 1, free: { any: { thing: [1] } }, either: "x" }, more: 1 }),
      );
      assert.equal(made.at("spec.nothing"), undefined);
      assert.equal(made.at("more"), undefined);
      assert.deepEqual(made.at("spec.free"), { any: { thing: [1] } });
      assert.deepEqual([...made.warnings].sort(), ['unknown field "more"', 'unknown field "spec.nothing"']);
    },
  },
  {
    name: "custom resource: Strict refuses unknown fields",
    async run(t) {
      const kind = await define(t);
      const reply = await t.request(
        "POST",
        `${kind.path}?fieldValidation=Strict`,
        kind.object("a", { spec: { nothing: 1 } }),
      );
      assertStatus(
        reply,
        400,
        "BadRequest",
        'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.nothing"',
      );
    },
  },
  ...invalidSpecs.map(
    ([what, spec, message]): Case => ({
      name: `custom resource: refuses ${what}`,
      async run(t) {
        const kind = await define(t);
        const reply = await t.request("POST", kind.path, kind.object("a", { spec }));
        assertStatus(reply, 422, "Invalid", message);
        assert.equal(reply.at("details.group"), kind.group);
        assert.equal(reply.at("details.kind"), "Thing");
      },
    }),
  ),
  {
    name: "custom resource: null is dropped where a default is, and kept where it is allowed",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(kind.path, kind.object("a", { spec: { replicas: null, maybe: null } }));
      assert.equal(made.at("spec.replicas"), 1);
      assert.equal(made.at("spec.maybe"), null);
    },
  },
  {
    name: "custom resource: type and name errors are those of the real server",
    async run(t) {
      const kind = await define(t);
      const { apiVersion, ...withoutVersion } = kind.object("a");
      assertStatus(
        await t.request("POST", kind.path, withoutVersion),
        400,
        "BadRequest",
        `the API version in the data () does not match the expected API version (${String(apiVersion)})`,
      );
      assertStatus(
        await t.request("POST", kind.path, { ...kind.object("a"), kind: "Other" }),
        422,
        "Invalid",
        /kind: Invalid value: "Other": must be Thing/,
      );
      assertStatus(
        await t.request("POST", kind.path, { apiVersion, metadata: { name: "a" } }),
        400,
        "BadRequest",
        /Object 'Kind' is missing in/,
      );
      assertStatus(
        await t.request("POST", kind.path, { ...kind.object("a"), metadata: { name: "a", labels: { x: 1 } } }),
        400,
        "BadRequest",
        /json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string/,
      );
    },
  },
  {
    name: "custom resource: an update needs a resourceVersion",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(kind.path, kind.object("a"));
      const reply = await t.request("PUT", `${kind.path}/a`, kind.object("a", { spec: { replicas: 2 } }));
      assertStatus(
        reply,
        422,
        "Invalid",
        `things.${kind.group} "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
      );
      const put = await t.put(`${kind.path}/a`, { ...made.object(), spec: { replicas: 2 } });
      assert.equal(put.at("metadata.generation"), 2);
    },
  },
  {
    name: "custom resource: a POST to a name works and ignores it",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(`${kind.path}/ignored`, kind.object("a"));
      assert.equal(made.at("metadata.name"), "a");
    },
  },
  {
    name: "custom resource: strategic merge patch is UnsupportedMediaType",
    async run(t) {
      const kind = await define(t);
      await t.create(kind.path, kind.object("a"));
      const reply = await t.request("PATCH", `${kind.path}/a`, { spec: {} }, { contentType: strategicPatch });
      assertStatus(
        reply,
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
      );
    },
  },
  {
    name: "custom resource: without a status sub-resource, status is an ordinary field",
    async run(t) {
      const kind = await define(t);
      const made = await t.create(kind.path, kind.object("a", { status: { phase: "x" } }));
      assert.equal(made.at("status.phase"), "x");
      assertStatus(
        await t.request("GET", `${kind.path}/a/status`),
        404,
        "NotFound",
        `things.${kind.group} "a" not found`,
      );
    },
  },
  {
    name: "custom resource: with a status sub-resource, status has its own path",
    async run(t) {
      const kind = await define(t, [{ name: "v1", subresources: { status: {} } }]);
      const made = await t.create(kind.path, kind.object("a", { status: { phase: "x" } }));
      assert.equal(made.at("status"), undefined);
      const after = await t.patch(`${kind.path}/a/status`, mergePatch, {
        spec: { replicas: 9 },
        status: { phase: "y" },
        metadata: { labels: { a: "b" } },
      });
      assert.equal(after.at("status.phase"), "y");
      assert.equal(after.at("spec.replicas") ?? 1, 1);
      assert.equal(after.at("metadata.labels"), undefined);
      assert.equal(after.at("metadata.generation"), 1);
      const main = await t.patch(`${kind.path}/a`, mergePatch, { status: { phase: "z" }, spec: { mode: "b" } });
      assert.equal(main.at("status.phase"), "y");
      assert.equal(main.at("metadata.generation"), 2);
    },
  },
  {
    name: "custom resource: scale reads and writes through the definition's paths",
    async run(t) {
      const scale = {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.phase",
      };
      const kind = await define(t, [{ name: "v1", subresources: { status: {}, scale } }]);
      await t.create(kind.path, kind.object("a", { spec: { replicas: 2 } }));
      await t.patch(`${kind.path}/a/status`, mergePatch, { status: { replicas: 5, phase: "app=x" } });
      const read = await t.get(`${kind.path}/a/scale`);
      assert.equal(read.at("kind"), "Scale");
      assert.equal(read.at("apiVersion"), "autoscaling/v1");
      assert.equal(read.at("spec.replicas"), 2);
      assert.deepEqual(read.at("status"), { replicas: 5, selector: "app=x" });
      await t.put(`${kind.path}/a/scale`, { ...read.object(), spec: { replicas: 7 } });
      assert.equal((await t.get(`${kind.path}/a`)).at("spec.replicas"), 7);
      await t.patch(`${kind.path}/a/scale`, mergePatch, { spec: { replicas: 8 } });
      assert.equal((await t.get(`${kind.path}/a`)).at("spec.replicas"), 8);
    },
  },
  {
    name: "custom resource: printer columns make its table",
    async run(t) {
      const additionalPrinterColumns = [
        { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
        { name: "Mode", type: "string", jsonPath: ".spec.mode", priority: 1 },
        { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
      ];
      const kind = await define(t, [{ name: "v1", additionalPrinterColumns }]);
      await t.create(kind.path, kind.object("a", { spec: { replicas: 4 } }));
      const table = await t.get(kind.path, { accept: asTable });
      assert.deepEqual(
        table.list("columnDefinitions").map((column) => column.at("name")),
        ["Name", "Replicas", "Mode", "Age"],
      );
      assert.deepEqual((table.at("rows[0].cells") as unknown[]).slice(0, 3), ["a", 4, null]);
      assert.match(String(table.at("rows[0].cells[3]")), /^\d+s$/);
    },
  },
  {
    name: "custom resource: selectable fields can be selected by",
    async run(t) {
      const kind = await define(t, [{ name: "v1", selectableFields: [{ jsonPath: ".spec.mode" }] }]);
      await t.create(kind.path, kind.object("a", { spec: { mode: "a" } }));
      await t.create(kind.path, kind.object("b", { spec: { mode: "b" } }));
      const list = await t.get(`${kind.path}?fieldSelector=spec.mode%3Db`);
      assert.deepEqual(
        list.list("items").map((item) => item.at("metadata.name")),
        ["b"],
      );
      assertStatus(
        await t.request("GET", `${kind.path}?fieldSelector=spec.name%3Db`),
        400,
        "BadRequest",
        "field label not supported: spec.name",
      );
    },
  },
  {
    name: "custom resource: CEL rules are enforced, with their messages",
    async run(t) {
      const schema = {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: { min: { type: "integer" }, max: { type: "integer" } },
            "x-kubernetes-validations": [
              { rule: "self.min <= self.max", message: "min must not exceed max" },
              {
                rule: "self.max < 100",
                messageExpression: "'max is ' + (self.max > 1000 ? 'far' : 'a little') + ' too large'",
              },
            ],
          },
        },
      };
      const kind = await define(t, [{ name: "v1", schema }]);
      await t.create(kind.path, kind.object("a", { spec: { min: 1, max: 2 } }));
      const reply = await t.request("POST", kind.path, kind.object("b", { spec: { min: 3, max: 2 } }));
      assertStatus(reply, 422, "Invalid", /spec: Invalid value: .*min must not exceed max/);
      const large = await t.request("POST", kind.path, kind.object("c", { spec: { min: 3, max: 2000 } }));
      assertStatus(large, 422, "Invalid", /spec: Invalid value: .*max is far too large/);
    },
  },
  {
    name: "custom resource: CEL transition rules compare with the old object",
    async run(t) {
      const schema = {
        type: "object",
        properties: {
          spec: {
            type: "object",
            properties: {
              fixed: {
                type: "string",
                "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }],
              },
            },
          },
        },
      };
      const kind = await define(t, [{ name: "v1", schema }]);
      await t.create(kind.path, kind.object("a", { spec: { fixed: "x" } }));
      const reply = await t.request("PATCH", `${kind.path}/a`, { spec: { fixed: "y" } }, { contentType: mergePatch });
      assertStatus(reply, 422, "Invalid", /spec.fixed: Invalid value: "y"|fixed is immutable/);
    },
  },
  {
    name: "custom resource: what was wrong before and has not changed may stay",
    async run(t) {
      const kind = await define(t);
      await t.create(kind.path, kind.object("a", { spec: { replicas: 9 } }));
      const definition = await t.get(kind.definition);
      const stricter = JSON.parse(JSON.stringify(definition.value).replaceAll('"maximum":10', '"maximum":5'));
      await t.put(kind.definition, stricter);
      await t.eventually(
        "the stricter schema",
        async () =>
          (await t.request("POST", `${kind.path}?dryRun=All`, kind.object("b", { spec: { replicas: 9 } }))).status ===
          422,
      );
      await t.patch(`${kind.path}/a`, mergePatch, { spec: { mode: "a" } });
      assertStatus(
        await t.request("PATCH", `${kind.path}/a`, { spec: { replicas: 8 } }, { contentType: mergePatch }),
        422,
        "Invalid",
      );
    },
  },
  {
    name: "versions: the same object is served in each, under its own apiVersion",
    async run(t) {
      const kind = await define(t, [{ name: "v1" }, { name: "v2" }]);
      await t.create(kind.path, kind.object("a", { spec: { mode: "a" } }));
      const second = kind.path.replace("/v1/", "/v2/");
      const read = await t.get(`${second}/a`);
      assert.equal(read.at("apiVersion"), `${kind.group}/v2`);
      assert.equal(read.at("spec.mode"), "a");
      const changed = await t.patch(`${second}/a`, mergePatch, { spec: { mode: "b" } });
      assert.equal(changed.at("apiVersion"), `${kind.group}/v2`);
      assert.equal((await t.get(`${kind.path}/a`)).at("spec.mode"), "b");
    },
  },
  {
    name: "versions: one that is not served is not there",
    async run(t) {
      const kind = await define(t, [{ name: "v1" }, { name: "v2", served: false }]);
      assert.equal((await t.request("GET", kind.path.replace("/v1/", "/v2/"))).status, 404);
    },
  },
  {
    name: "versions: a deprecated one warns",
    async run(t) {
      const kind = await define(t, [{ name: "v1" }, { name: "v1beta1", deprecated: true }]);
      const second = kind.path.replace("/v1/", "/v1beta1/");
      const reply = await t.eventually("the version", async () => {
        const got = await t.request("GET", second);
        return got.status === 200 && got;
      });
      assert.deepEqual(reply.warnings, [`${kind.group}/v1beta1 Thing is deprecated; use ${kind.group}/v1 Thing`]);
    },
  },
  {
    name: "definition: a new default shows in objects that were stored before",
    async run(t) {
      const kind = await define(t);
      await t.create(kind.path, kind.object("a", { spec: { mode: "a" } }));
      const definition = await t.get(kind.definition);
      const changed = JSON.parse(
        JSON.stringify(definition.value).replaceAll('"maxLength":5', '"maxLength":5,"default":"new"'),
      );
      await t.put(kind.definition, changed);
      await t.eventually("the default", async () => (await t.get(`${kind.path}/a`)).at("spec.name") === "new");
    },
  },
  {
    name: "definition: a change ends watches, and clients come back to the new form",
    async run(t) {
      const kind = await define(t);
      const watch = t.watch(`${kind.path}?watch=true`);
      await t.create(kind.path, kind.object("a"));
      assert.equal((await watch.next()).type, "ADDED");
      const definition = await t.get(kind.definition);
      await t.put(
        kind.definition,
        JSON.parse(JSON.stringify(definition.value).replaceAll('"maximum":10', '"maximum":20')),
      );
      assert.equal(await watch.nextOrEnd(15_000), undefined);
    },
  },
  {
    name: "definition: when it goes, its objects go and nothing is served",
    async run(t) {
      const kind = await define(t);
      await t.create(kind.path, kind.object("a"));
      await t.remove(kind.definition);
      await t.eventually(
        "the definition is gone",
        async () => (await t.request("GET", kind.definition)).status === 404,
        20_000,
      );
      await t.eventually("nothing is served", async () => (await t.request("GET", kind.path)).status === 404);
    },
  },
  {
    name: "definition: while objects hold it, nothing new may come",
    async run(t) {
      const kind = await define(t);
      await t.create(kind.path, { ...kind.object("a"), metadata: { name: "a", finalizers: ["example.com/hold"] } });
      const marked = await t.remove(kind.definition);
      assert.ok((marked.at("metadata.finalizers") as string[]).includes("customresourcecleanup.apiextensions.k8s.io"));
      assert.equal(condition(marked, "Terminating")?.at("status"), "True");
      await t.eventually(
        "creates are refused",
        async () => (await t.request("POST", kind.path, kind.object("b"))).status !== 201,
      );
      await t.eventually("the object is marked", async () =>
        (await t.get(`${kind.path}/a`)).at("metadata.deletionTimestamp"),
      );
      await t.patch(`${kind.path}/a`, mergePatch, { metadata: { finalizers: null } });
      await t.eventually(
        "the definition is gone",
        async () => (await t.request("GET", kind.definition)).status === 404,
        20_000,
      );
    },
  },
  {
    name: "definition: cluster-scoped resources have no namespace",
    async run(t) {
      const group = `c${t.id.replace(/[^a-z0-9]/g, "")}.example.com`;
      await t.create(definitions, {
        metadata: { name: `globals.${group}` },
        spec: {
          group,
          scope: "Cluster",
          names: { plural: "globals", singular: "global", kind: "Global", listKind: "GlobalList" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      });
      t.onCleanUp(() => t.request("DELETE", `${definitions}/globals.${group}`));
      const path = `/apis/${group}/v1/globals`;
      await t.eventually("served", async () => (await t.request("GET", path)).status === 200);
      const made = await t.create(path, { apiVersion: `${group}/v1`, kind: "Global", metadata: { name: "a" } });
      assert.equal(made.at("metadata.namespace"), undefined);
    },
  },
  {
    name: "custom resource: watches and apply work as for any other",
    async run(t) {
      const kind = await define(t);
      const watch = t.watch(`${kind.path}?watch=true`);
      await t.apply(`${kind.path}/a`, "m", kind.object("a", { spec: { tags: ["x"] } }), { status: 201 });
      await t.apply(`${kind.path}/a`, "n", kind.object("a", { spec: { tags: ["y"] } }));
      assert.deepEqual((await watch.next()).object.at("spec.tags"), ["x"]);
      assert.deepEqual((await watch.next()).object.at("spec.tags"), ["x", "y"]);
    },
  },
];
