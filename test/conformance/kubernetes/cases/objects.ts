import assert from "node:assert/strict";
import { assertStatus, type Case, configMap, mergePatch, type Reply } from "../case.ts";

/** Create, read, update, delete: the words and rules of single objects. */
export const objectCases: readonly Case[] = [
  {
    name: "create: the server sets uid, resourceVersion, creationTimestamp and namespace",
    async run(t) {
      const made = await t.create(await t.core("configmaps"), configMap("a"));
      assert.equal(made.at("metadata.namespace"), await t.namespace());
      assert.ok(
        made.at("metadata.uid") && made.at("metadata.resourceVersion") && made.at("metadata.creationTimestamp"),
      );
    },
  },
  {
    name: "create: apiVersion and kind may be left out for built-in kinds",
    async run(t) {
      const made = await t.create(await t.core("configmaps"), { metadata: { name: "a" } });
      assert.equal(made.at("kind"), "ConfigMap");
      assert.equal(made.at("apiVersion"), "v1");
    },
  },
  {
    name: "create: a name that is taken is AlreadyExists",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const reply = await t.request("POST", path, configMap("a"));
      assertStatus(reply, 409, "AlreadyExists", 'configmaps "a" already exists');
      assert.equal(reply.at("details.name"), "a");
      assert.equal(reply.at("details.kind"), "configmaps");
    },
  },
  {
    name: "create: generateName adds five characters and never collides",
    async run(t) {
      const path = await t.core("configmaps");
      const names = new Set<string>();
      for (let i = 0; i < 5; i++) {
        const made = await t.create(path, { metadata: { generateName: "gen-" } });
        assert.match(made.text("metadata.name"), /^gen-[a-z0-9]{5}$/);
        assert.equal(made.at("metadata.generateName"), "gen-");
        names.add(made.text("metadata.name"));
      }
      assert.equal(names.size, 5);
    },
  },
  {
    name: "create: a long generateName is cut so that the name fits",
    async run(t) {
      const made = await t.create(await t.core("configmaps"), { metadata: { generateName: `${"a".repeat(70)}-` } });
      assert.equal(made.text("metadata.name").length, 63);
    },
  },
  {
    name: "create: a name in the path is refused for built-in kinds",
    async run(t) {
      assertStatus(await t.request("POST", `${await t.core("configmaps")}/x`, configMap("x")), 405, "MethodNotAllowed");
    },
  },
  {
    name: "create: without a name and generateName is invalid",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), { metadata: {} });
      assertStatus(
        reply,
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      );
    },
  },
  {
    name: "create: an invalid name is refused with the rule",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), configMap("Not_Valid"));
      assertStatus(
        reply,
        422,
        "Invalid",
        /metadata.name: Invalid value: "Not_Valid": a lowercase RFC 1123 subdomain must consist of/,
      );
      assert.equal(reply.at("details.causes[0].field"), "metadata.name");
      assert.equal(reply.at("details.causes[0].reason"), "FieldValueInvalid");
    },
  },
  {
    name: "create: labels and annotations are checked",
    async run(t) {
      const path = await t.core("configmaps");
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { labels: { "bad key!": "x" } })),
        422,
        "Invalid",
        /metadata.labels: Invalid value: "bad key!"/,
      );
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { labels: { a: "x y" } })),
        422,
        "Invalid",
        /metadata.labels: Invalid value: "x y"/,
      );
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { annotations: { "bad key!": "x" } })),
        422,
        "Invalid",
        /metadata.annotations: Invalid value: "bad key!"/,
      );
      const huge = { big: "x".repeat(300_000) };
      assertStatus(
        await t.request("POST", path, configMap("a", {}, { annotations: huge })),
        422,
        "Invalid",
        /metadata.annotations: Too long/,
      );
    },
  },
  {
    name: "create: the namespace of the object must be that of the path",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), configMap("a", {}, { namespace: "other" }));
      assertStatus(
        reply,
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    },
  },
  {
    name: "create: a resourceVersion must not be set",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), configMap("a", {}, { resourceVersion: "1" }));
      assertStatus(reply, 500, "", "resourceVersion should not be set on objects to be created");
    },
  },
  {
    name: "create: into a namespace that is not there is NotFound",
    async run(t) {
      const reply = await t.request("POST", "/api/v1/namespaces/no-such-namespace/configmaps", configMap("a"));
      assertStatus(reply, 404, "NotFound", 'namespaces "no-such-namespace" not found');
    },
  },
  {
    name: "create: status of a kind with a status sub-resource is ignored",
    async run(t) {
      const spec = { minAvailable: 1, selector: { matchLabels: { a: "b" } } };
      const made = await t.create(await t.group("policy/v1", "poddisruptionbudgets"), {
        metadata: { name: "a" },
        spec,
        status: { currentHealthy: 9 },
      });
      assert.equal(made.at("status.currentHealthy"), 0);
    },
  },
  {
    name: "body: empty, broken and wrong-typed JSON is BadRequest",
    async run(t) {
      const path = await t.core("configmaps");
      assertStatus(
        await t.request("POST", path, undefined, { raw: "" }),
        400,
        "BadRequest",
        /unrecognized \(must be of type ConfigMap\)/,
      );
      assertStatus(
        await t.request("POST", path, undefined, { raw: "{" }),
        400,
        "BadRequest",
        /unexpected end of JSON input/,
      );
      assertStatus(await t.request("POST", path, undefined, { raw: "[]" }), 400, "BadRequest");
      assertStatus(
        await t.request("POST", path, { metadata: { name: "a" }, data: { a: 1 } }),
        400,
        "BadRequest",
        /cannot unmarshal number into Go struct field ConfigMap.data of type string/,
      );
      assertStatus(
        await t.request("POST", path, { metadata: { name: "a", labels: { a: true } } }),
        400,
        "BadRequest",
        /cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string/,
      );
    },
  },
  {
    name: "body: another kind than the resource's is BadRequest",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), {
        apiVersion: "v1",
        kind: "Nothing",
        metadata: { name: "a" },
      });
      assertStatus(
        reply,
        400,
        "BadRequest",
        /^Nothing in version "v1" cannot be handled as a ConfigMap: no kind "Nothing" is registered for version "v1"/,
      );
    },
  },
  {
    name: "body: YAML is read as well, the way Go's tools read it",
    async run(t) {
      const raw =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  on: 'yes'\n  multi: |\n    one\n    two\n";
      const made = await t.create(await t.core("configmaps"), undefined, { raw, contentType: "application/yaml" });
      assert.deepEqual(made.at("data"), { true: "yes", multi: "one\ntwo\n" });
    },
  },
  {
    name: "body: an unknown media type is UnsupportedMediaType",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), configMap("a"), {
        contentType: "application/x-nothing",
      });
      assertStatus(
        reply,
        415,
        "UnsupportedMediaType",
        /the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml, application\/vnd.kubernetes.protobuf/,
      );
    },
  },
  {
    name: "body: CBOR is UnsupportedMediaType",
    async run(t) {
      const reply = await t.request("POST", await t.core("configmaps"), configMap("a"), {
        contentType: "application/cbor",
      });
      assertStatus(reply, 415, "UnsupportedMediaType");
    },
  },
  {
    name: "body: more than three megabytes are refused",
    async run(t) {
      const reply = await t.request(
        "POST",
        await t.core("configmaps"),
        configMap("a", { a: "x".repeat(3 * 1024 * 1024 + 1000) }),
      );
      assertStatus(reply, 413, "RequestEntityTooLarge", /^Request entity too large: limit is 3145728/);
    },
  },
  {
    name: "body: unicode survives",
    async run(t) {
      const data = { a: "grüße 😀 \u0000 \ud83d\ude00 日本語" };
      const made = await t.create(await t.core("configmaps"), configMap("a", data));
      assert.deepEqual((await t.get(`${await t.core("configmaps")}/a`)).at("data"), data);
      assert.deepEqual(made.at("data"), data);
    },
  },
  {
    name: "field validation: Strict refuses unknown and repeated fields",
    async run(t) {
      const path = `${await t.core("configmaps")}?fieldValidation=Strict`;
      const raw = '{"metadata":{"name":"a","foo":1},"data":{"a":"1","a":"2"},"zz":{}}';
      const reply = await t.request("POST", path, undefined, { raw });
      assertStatus(
        reply,
        400,
        "BadRequest",
        /^ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: /,
      );
      for (const part of ['unknown field "metadata.foo"', 'duplicate field "data.a"', 'unknown field "zz"']) {
        assert.ok(reply.text("message").includes(part), part);
      }
    },
  },
  {
    name: "field validation: Warn, the default, takes the object and warns",
    async run(t) {
      const raw = '{"metadata":{"name":"a","foo":1},"data":{"a":"1","a":"2"},"zz":{}}';
      const made = await t.create(await t.core("configmaps"), undefined, { raw });
      assert.deepEqual([...made.warnings].sort(), [
        'duplicate field "data.a"',
        'unknown field "metadata.foo"',
        'unknown field "zz"',
      ]);
      assert.equal(made.at("data.a"), "2");
      assert.equal(made.at("zz"), undefined);
    },
  },
  {
    name: "field validation: Ignore says nothing",
    async run(t) {
      const made = await t.create(`${await t.core("configmaps")}?fieldValidation=Ignore`, {
        metadata: { name: "a" },
        zz: 1,
      });
      assert.deepEqual(made.warnings, []);
    },
  },
  {
    name: "field validation: another word is invalid",
    async run(t) {
      const reply = await t.request("POST", `${await t.core("configmaps")}?fieldValidation=Maybe`, configMap("a"));
      assertStatus(
        reply,
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
      );
    },
  },
  {
    name: "dry run: a create answers the object and stores nothing",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(`${path}?dryRun=All`, configMap("a"));
      assert.ok(made.at("metadata.uid"));
      assert.equal(made.at("metadata.resourceVersion"), undefined);
      assertStatus(await t.request("GET", `${path}/a`), 404, "NotFound");
    },
  },
  {
    name: "dry run: update, patch and delete change nothing",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a", { a: "1" }));
      const put = await t.put(`${path}/a?dryRun=All`, configMap("a", { a: "2" }));
      assert.equal(put.at("data.a"), "2");
      const patched = await t.patch(`${path}/a?dryRun=All`, mergePatch, { data: { a: "3" } });
      assert.equal(patched.at("data.a"), "3");
      await t.remove(`${path}/a?dryRun=All`);
      assert.deepEqual((await t.get(`${path}/a`)).value, made.value);
    },
  },
  {
    name: "dry run: another word is invalid",
    async run(t) {
      const reply = await t.request("POST", `${await t.core("configmaps")}?dryRun=Some`, configMap("a"));
      assertStatus(reply, 422, "Invalid", /dryRun: Unsupported value: \["Some"\]: supported values: "All"/);
    },
  },
  {
    name: "get: an object that is not there is NotFound with details",
    async run(t) {
      const reply = await t.request("GET", `${await t.core("configmaps")}/missing`);
      assertStatus(reply, 404, "NotFound", 'configmaps "missing" not found');
      assert.deepEqual(reply.at("details"), { name: "missing", kind: "configmaps" });
    },
  },
  {
    name: "get: a resourceVersion that is not a number is a fault",
    async run(t) {
      assertStatus(await t.request("GET", `${await t.core("configmaps")}/x?resourceVersion=abc`), 500, "");
    },
  },
  {
    name: "update: without a resourceVersion overwrites whatever is there",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a", { a: "1" }));
      const put = await t.put(`${path}/a`, configMap("a", { b: "2" }));
      assert.deepEqual(put.at("data"), { b: "2" });
    },
  },
  {
    name: "update: with an old resourceVersion is a Conflict",
    async run(t) {
      const path = await t.core("configmaps");
      const first = await t.create(path, configMap("a", { a: "1" }));
      await t.put(`${path}/a`, configMap("a", { a: "2" }));
      const reply = await t.request("PUT", `${path}/a`, first.value);
      assertStatus(
        reply,
        409,
        "Conflict",
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      );
    },
  },
  {
    name: "update: with another uid is a Conflict",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      const reply = await t.request(
        "PUT",
        `${path}/a`,
        configMap("a", {}, { uid: "00000000-0000-0000-0000-000000000000" }),
      );
      assertStatus(
        reply,
        409,
        "Conflict",
        /Precondition failed: UID in precondition: 00000000-0000-0000-0000-000000000000, UID in object meta: /,
      );
    },
  },
  {
    name: "update: the name in the object must be that of the path",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, configMap("a"));
      assertStatus(
        await t.request("PUT", `${path}/a`, configMap("b")),
        400,
        "BadRequest",
        "the name of the object (b) does not match the name on the URL (a)",
      );
      assertStatus(
        await t.request("PUT", `${path}/a`, { metadata: {} }),
        400,
        "BadRequest",
        "the name of the object (a based on URL) was undeterminable: name must be provided",
      );
    },
  },
  {
    name: "update: an object that is not there is NotFound",
    async run(t) {
      assertStatus(await t.request("PUT", `${await t.core("configmaps")}/a`, configMap("a")), 404, "NotFound");
    },
  },
  {
    name: "update: a Lease that is not there is created",
    async run(t) {
      const path = await t.group("coordination.k8s.io/v1", "leases");
      const made = await t.expect(201, "PUT", `${path}/a`, { metadata: { name: "a" }, spec: { holderIdentity: "x" } });
      assert.equal(made.at("spec.holderIdentity"), "x");
    },
  },
  {
    name: "update: nothing is written when nothing changes",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a", { a: "1" }));
      const put = await t.put(`${path}/a`, made.value);
      assert.equal(put.at("metadata.resourceVersion"), made.at("metadata.resourceVersion"));
    },
  },
  {
    name: "update: immutable data stays",
    async run(t) {
      const path = await t.core("configmaps");
      await t.create(path, { metadata: { name: "a" }, data: { a: "1" }, immutable: true });
      const reply = await t.request("PUT", `${path}/a`, { metadata: { name: "a" }, data: { a: "2" }, immutable: true });
      assertStatus(reply, 422, "Invalid", /data: Forbidden: field is immutable when `immutable` is set/);
    },
  },
  {
    name: "update: a deployment's selector is immutable",
    async run(t) {
      const path = await t.group("apps/v1", "deployments");
      const deployment = (label: string) => ({
        metadata: { name: "d" },
        spec: {
          selector: { matchLabels: { a: label } },
          template: { metadata: { labels: { a: label } }, spec: { containers: [{ name: "c", image: "x" }] } },
        },
      });
      await t.create(path, deployment("b"));
      const reply = await t.request("PUT", `${path}/d`, deployment("c"));
      assertStatus(reply, 422, "Invalid", /spec.selector: Invalid value: .*: field is immutable/);
    },
  },
  {
    name: "update: creationTimestamp, uid and generation of the writer are not taken over",
    async run(t) {
      const path = await t.core("configmaps");
      const made = await t.create(path, configMap("a"));
      const put = await t.put(
        `${path}/a`,
        configMap("a", { x: "1" }, { creationTimestamp: "2001-01-01T00:00:00Z", generation: 7 }),
      );
      assert.equal(put.at("metadata.creationTimestamp"), made.at("metadata.creationTimestamp"));
      assert.equal(put.at("metadata.generation"), undefined);
    },
  },
  {
    name: "generation: counts changes of the spec, not of metadata or status",
    async run(t) {
      const path = await t.group("apps/v1", "deployments");
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } };
      await t.create(path, { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } });
      const generations: unknown[] = [];
      const note = (reply: Reply) => generations.push(reply.at("metadata.generation"));
      note(await t.patch(`${path}/d`, mergePatch, { metadata: { labels: { x: "y" } } }));
      note(await t.patch(`${path}/d`, mergePatch, { spec: { replicas: 5 } }));
      note(await t.patch(`${path}/d/status`, mergePatch, { status: { replicas: 1 } }));
      assert.deepEqual(generations, [1, 2, 2]);
    },
  },
  {
    name: "status: a write to /status changes nothing else",
    async run(t) {
      const path = await t.group("apps/v1", "deployments");
      const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "x" }] } };
      await t.create(path, { metadata: { name: "d" }, spec: { selector: { matchLabels: { a: "b" } }, template } });
      const after = await t.patch(`${path}/d/status`, mergePatch, { spec: { replicas: 9 }, status: { replicas: 4 } });
      assert.equal(after.at("spec.replicas"), 1);
      assert.equal(after.at("status.replicas"), 4);
      const main = await t.patch(`${path}/d`, mergePatch, { status: { replicas: 8 } });
      assert.equal(main.at("status.replicas"), 4);
    },
  },
  {
    name: "methods: what a resource cannot do is MethodNotAllowed",
    async run(t) {
      const path = await t.core("configmaps");
      assertStatus(await t.request("PUT", path, configMap("a")), 405, "MethodNotAllowed");
      assertStatus(await t.request("PATCH", path, {}, { contentType: mergePatch }), 405, "MethodNotAllowed");
      assertStatus(await t.request("POST", `${path}/a`, configMap("a")), 405, "MethodNotAllowed");
    },
  },
  {
    name: "lease: times need exactly six digits after the point",
    async run(t) {
      const path = await t.group("coordination.k8s.io/v1", "leases");
      const lease = (name: string, renewTime: string) => ({ metadata: { name }, spec: { renewTime } });
      await t.create(path, lease("a", "2026-01-01T00:00:00.000001Z"));
      assertStatus(await t.request("POST", path, lease("b", "2026-01-01T00:00:00Z")), 400, "BadRequest");
      assertStatus(await t.request("POST", path, lease("c", "2026-01-01T00:00:00.001Z")), 400, "BadRequest");
    },
  },
  {
    name: "events: core and events.k8s.io are two views of the same objects",
    async run(t) {
      const namespace = await t.namespace();
      await t.create(await t.core("events"), {
        metadata: { name: "e" },
        involvedObject: { kind: "Pod", namespace, name: "p" },
        reason: "Started",
        message: "it runs",
        type: "Normal",
        count: 2,
      });
      const seen = await t.get(`${await t.group("events.k8s.io/v1", "events")}/e`);
      assert.equal(seen.at("note"), "it runs");
      assert.equal(seen.at("regarding.name"), "p");
      assert.equal(seen.at("deprecatedCount"), 2);
    },
  },
  {
    name: "horizontalpodautoscalers: v1 and v2 are two views of the same objects",
    async run(t) {
      await t.create(await t.group("autoscaling/v1", "horizontalpodautoscalers"), {
        metadata: { name: "h" },
        spec: {
          maxReplicas: 3,
          targetCPUUtilizationPercentage: 50,
          scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        },
      });
      const seen = await t.get(`${await t.group("autoscaling/v2", "horizontalpodautoscalers")}/h`);
      assert.equal(seen.at("spec.metrics[0].resource.target.averageUtilization"), 50);
    },
  },
  {
    name: "secrets: stringData is written to data and never shown",
    async run(t) {
      const made = await t.create(await t.core("secrets"), {
        metadata: { name: "s" },
        stringData: { a: "b" },
        data: { a: "eA==", c: "ZA==" },
      });
      assert.deepEqual(made.at("data"), { a: "Yg==", c: "ZA==" });
      assert.equal(made.at("stringData"), undefined);
    },
  },
  {
    name: "services: a cluster IP is given, kept, and may not change",
    async run(t) {
      const path = await t.core("services");
      const made = await t.create(path, { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
      const address = made.text("spec.clusterIP");
      assert.match(address, /^\d+\.\d+\.\d+\.\d+$/);
      assert.deepEqual(made.at("spec.clusterIPs"), [address]);
      const put = await t.put(`${path}/s`, { metadata: { name: "s" }, spec: { ports: [{ port: 81 }] } });
      assert.equal(put.at("spec.clusterIP"), address);
      const reply = await t.request(
        "PATCH",
        `${path}/s`,
        { spec: { clusterIP: "10.0.0.77", clusterIPs: ["10.0.0.77"] } },
        { contentType: mergePatch },
      );
      assertStatus(reply, 422, "Invalid", /may not change once set/);
    },
  },
  {
    name: "services: a node port is given to services that want one",
    async run(t) {
      const made = await t.create(await t.core("services"), {
        metadata: { name: "s" },
        spec: { type: "NodePort", ports: [{ port: 80 }] },
      });
      const port = Number(made.at("spec.ports[0].nodePort"));
      assert.ok(port >= 30_000 && port <= 32_767, String(port));
    },
  },
  {
    name: "services: a headless service stays without an address",
    async run(t) {
      const made = await t.create(await t.core("services"), {
        metadata: { name: "s" },
        spec: { clusterIP: "None", ports: [{ port: 80 }] },
      });
      assert.equal(made.at("spec.clusterIP"), "None");
    },
  },
];
