import assert from "node:assert/strict";
import { applyPatch, assertStatus, type Case, json, jsonPatch, mergePatch, strategicPatch } from "../case.ts";

/** Bodies that are not what they should be: which of them are refused, and in which words. */

const yaml = "application/yaml";
const protobuf = "application/vnd.kubernetes.protobuf";
const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;
const unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
const parseError = `${unrecognized}couldn't get version/kind; json parse error: `;
const scheme = 'in scheme "pkg/runtime/scheme.go:111"';

interface BodyCase {
  readonly what: string;
  readonly body: string | Uint8Array;
  readonly type?: string;
  readonly status?: number;
  readonly says: string | RegExp;
}

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

const bodies: readonly BodyCase[] = [
  {
    what: "a list",
    body: "[]",
    says: `${parseError}json: cannot unmarshal array into Go value of type ${typeMeta} (5b5d)`,
  },
  {
    what: "a text",
    body: '"x"',
    says: `${parseError}json: cannot unmarshal string into Go value of type ${typeMeta} (227822)`,
  },
  {
    what: "no JSON",
    body: "nope",
    says: `${parseError}invalid character 'o' in literal null (expecting 'u') (6e6f7065)`,
  },
  { what: "nothing", body: "", says: `${parseError}unexpected end of JSON input (<empty>)` },
  {
    what: "half of an object",
    body: '{"metadata":{"name":"abcdefghijklmnopqrstuvwxyz"',
    says: `${parseError}unexpected end of JSON input ({"metadata":{"name":"abcdefghi ...)`,
  },
  {
    what: "two objects",
    body: '{"metadata":{"name":"dd"}}{"a":1}',
    says: `${parseError}invalid character '{' after top-level value ({"metadata":{"name":"dd"}}{"a" ...)`,
  },
  {
    what: "a kind that is a number",
    body: '{"kind":5}',
    says: `${parseError}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})`,
  },
  {
    what: "an apiVersion with too many parts",
    body: '{"apiVersion":"a/b/c"}',
    says: `${unrecognized}unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})`,
  },
  {
    what: "null, which is an object without anything,",
    body: "null",
    status: 422,
    says: /metadata.name: Required value: name or generateName is required/,
  },
  {
    what: "another kind",
    body: '{"kind":"Secret","apiVersion":"v1"}',
    says: 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  },
  {
    what: "a list of its kind",
    body: '{"kind":"ConfigMapList","apiVersion":"v1"}',
    says: 'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion',
  },
  {
    what: "a kind that nobody knows",
    body: '{"kind":"Nope","apiVersion":"v1"}',
    says: `Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" ${scheme}`,
  },
  {
    what: "a version that nobody knows",
    body: '{"kind":"ConfigMap","apiVersion":"v2"}',
    says: `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" ${scheme}`,
  },
  {
    what: "YAML that is a list",
    type: yaml,
    body: "- a",
    says: /cannot unmarshal array into Go value of type struct .* \(2d2061\)$/,
  },
  {
    what: "YAML that cannot be read",
    type: yaml,
    body: "a: [",
    says: /^the object provided is unrecognized \(must be of type ConfigMap\): yaml: .*\(613a205b\)$/s,
  },
  { what: "YAML without a document", type: yaml, body: "", status: 422, says: /name or generateName is required/ },
  {
    what: "no protobuf",
    type: protobuf,
    body: "zz",
    says: `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (7a7a)`,
  },
  { what: "empty protobuf", type: protobuf, body: "", says: `${unrecognized}empty data (<empty>)` },
  {
    what: "protobuf without an envelope",
    type: protobuf,
    body: bytes("k8s\0"),
    says: `${unrecognized}empty body (6b387300)`,
  },
  { what: "protobuf that ends too early", type: protobuf, body: bytes("k8s\0\n\x0e\n\x02v1"), says: /unexpected EOF/ },
  {
    what: "protobuf of another kind",
    type: protobuf,
    body: bytes("k8s\0\n\x0c\n\x02v1\x12\x06Secret\x12\x00"),
    says: 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  },
  {
    what: "protobuf that leaves its type to the path",
    type: protobuf,
    body: bytes("k8s\0\n\x00\x12\x00"),
    status: 422,
    says: /name or generateName is required/,
  },
];

interface PatchCase {
  readonly what: string;
  readonly type: string;
  readonly body: string;
  readonly status: number;
  readonly says?: string;
}

const patches: readonly PatchCase[] = [
  { what: "a merge patch that is null", type: mergePatch, body: "null", status: 400, says: "Invalid JSON Patch" },
  { what: "a strategic patch that is null changes nothing", type: strategicPatch, body: "null", status: 200 },
  { what: "a JSON patch that is null changes nothing", type: jsonPatch, body: "null", status: 200 },
  {
    what: "a JSON patch of numbers",
    type: jsonPatch,
    body: "[5]",
    status: 400,
    says: "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
  },
  {
    what: "an apply of a list",
    type: applyPatch,
    body: "- a",
    status: 400,
    says: "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
  },
  { what: "an apply of nothing", type: applyPatch, body: "", status: 400, says: "invalid object type: /, Kind=" },
  {
    what: "an apply of two documents, of which the first counts,",
    type: applyPatch,
    body: "a: b\n---\nc: d",
    status: 400,
    says: "invalid object type: /, Kind=",
  },
];

const twice = '{"a":1,"a":2,"metadata":{"name":"d1","name":"d2","zz":1},"b":2}';
const twiceInYaml = "metadata: {name: x, name: z}\ndata:\n  a: b\n  a: c\nzz: 1\n";

export const bodyCases: readonly Case[] = [
  ...bodies.map(
    ({ what, body, type = json, status = 400, says }): Case => ({
      name: `bodies: ${what} is refused in the server's words`,
      async run(t) {
        const reply = await t.request("POST", await t.core("configmaps"), undefined, { raw: body, contentType: type });
        assertStatus(reply, status, status === 400 ? "BadRequest" : "Invalid", says);
      },
    }),
  ),
  ...patches.map(
    ({ what, type, body, status, says }): Case => ({
      name: `bodies: ${what}`,
      async run(t) {
        const path = `${await t.core("configmaps")}/c`;
        await t.create(await t.core("configmaps"), { metadata: { name: "c" } });
        const query = type === applyPatch ? "?fieldManager=me" : "";
        const reply = await t.request("PATCH", path + query, undefined, { raw: body, contentType: type });
        assert.equal(reply.status, status, reply.body);
        if (says !== undefined) assert.equal(reply.text("message"), says);
      },
    }),
  ),
  {
    name: "bodies: another version of the same kind is told the expected one",
    async run(t) {
      const path = await t.group("autoscaling/v2", "horizontalpodautoscalers");
      const reply = await t.request("POST", path, { apiVersion: "autoscaling/v1", kind: "HorizontalPodAutoscaler" });
      const message =
        "the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)";
      assertStatus(reply, 400, "BadRequest", message);
    },
  },
  {
    name: "bodies: strict complaints come in the order of the document",
    async run(t) {
      const path = `${await t.core("configmaps")}?fieldValidation=Strict`;
      const reply = await t.request("POST", path, undefined, { raw: twice });
      const list = 'unknown field "a", duplicate field "metadata.name", unknown field "metadata.zz", unknown field "b"';
      const message = `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${list}`;
      assertStatus(reply, 400, "BadRequest", message);
    },
  },
  {
    name: "bodies: warnings come in the order of the document",
    async run(t) {
      const reply = await t.create(`${await t.core("configmaps")}?dryRun=All`, undefined, { raw: twice });
      assert.deepEqual(reply.warnings, [
        'unknown field "a"',
        'duplicate field "metadata.name"',
        'unknown field "metadata.zz"',
        'unknown field "b"',
      ]);
    },
  },
  {
    name: "bodies: keys that YAML gives twice are told with their lines",
    async run(t) {
      const path = await t.core("configmaps");
      const options = { raw: twiceInYaml, contentType: yaml };
      const warned = await t.create(`${path}?dryRun=All`, undefined, options);
      assert.deepEqual(warned.warnings, [
        'line 1: key "name" already set in map',
        'line 4: key "a" already set in map',
        'unknown field "zz"',
      ]);
      const refused = await t.request("POST", `${path}?fieldValidation=Strict`, undefined, options);
      const list =
        'yaml: unmarshal errors:\n  line 1: key "name" already set in map\n  line 4: key "a" already set in map, unknown field "zz"';
      const message = `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${list}`;
      assertStatus(refused, 400, "BadRequest", message);
    },
  },
  {
    name: "bodies: a refusal carries its warnings",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), { metadata: { name: "BAD" }, extra: 1 });
      assertStatus(reply, 422, "Invalid");
      assert.deepEqual(reply.warnings, ['unknown field "extra"']);
    },
  },
  {
    name: "bodies: options of a delete are checked",
    async run(t) {
      const path = `${await t.core("configmaps")}/c`;
      await t.create(await t.core("configmaps"), { metadata: { name: "c" } });
      const wrong: readonly (readonly [string, string])[] = [
        [
          "[]",
          `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${typeMeta}`,
        ],
        ['{"kind":"Pod","apiVersion":"v1"}', `no kind "Pod" is registered for version "v1" ${scheme}`],
        [
          '{"gracePeriodSeconds":"x"}',
          "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ],
        [
          '{"preconditions":5}',
          "json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type v1.Preconditions",
        ],
      ];
      for (const [raw, message] of wrong) {
        assertStatus(await t.request("DELETE", path, undefined, { raw }), 400, "BadRequest", message);
      }
      await t.remove(path, { kind: "DeleteOptions", apiVersion: "v1", unknown: 1 });
    },
  },
  {
    name: "bodies: options of a delete come in protobuf, in the version of what is deleted",
    async run(t) {
      const path = await t.group("apps/v1", "replicasets");
      const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } };
      const spec = { replicas: 0, selector: { matchLabels: { app: "x" } }, template };
      await t.create(path, { metadata: { name: "r", finalizers: ["conformance.example/hold"] }, spec });
      // apps/v1 DeleteOptions { propagationPolicy: "Orphan" }, as Go's typed clients send it.
      const raw = bytes("k8s\0\n\x18\n\x07apps/v1\x12\x0dDeleteOptions\x12\x08\x22\x06Orphan");
      await t.expect(200, "DELETE", `${path}/r`, undefined, { raw, contentType: protobuf });
      const finalizers = (await t.get(`${path}/r`)).at("metadata.finalizers") as readonly string[];
      // A garbage collector may have done its part already.
      if (finalizers.length > 1) assert.ok(finalizers.includes("orphan"), String(finalizers));
      await t.patch(`${path}/r`, mergePatch, { metadata: { finalizers: null } });
    },
  },
  {
    name: "bodies: a sub-resource refuses another kind than its own",
    async run(t) {
      const raw = '{"kind":"Pod","apiVersion":"v1"}';
      const token = await t.request("POST", `${await t.core("serviceaccounts")}/x/token`, undefined, { raw });
      const message =
        'Pod in version "v1" cannot be handled as a TokenRequest: converting (v1.Pod) to (authentication.TokenRequest): unknown conversion';
      assertStatus(token, 400, "BadRequest", message);
    },
  },
];
