import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { decodeBuiltin } from "./decode-builtin.ts";

const pod = (spec: unknown): unknown => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
const container = (fields: object): unknown => pod({ containers: [{ name: "a", image: "b", ...fields }] });

// The words of a real kube-apiserver 1.36.3.
const refused: readonly { name: string; kind: string; value: unknown; message: string }[] = [
  {
    name: "a string where a number stands",
    kind: "apps/v1/Deployment",
    value: { spec: { replicas: "3" } },
    message: "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  },
  {
    name: "a fraction where a whole number stands",
    kind: "apps/v1/Deployment",
    value: { spec: { replicas: 1.5 } },
    message: "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  },
  {
    name: "a number that is too large",
    kind: "apps/v1/Deployment",
    value: { spec: { replicas: 4294967296 } },
    message: "json: cannot unmarshal number 4294967296 into Go struct field DeploymentSpec.spec.replicas of type int32",
  },
  {
    name: "a list where an object stands",
    kind: "apps/v1/Deployment",
    value: { spec: [] },
    message: "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec",
  },
  {
    name: "a number as a label",
    kind: "apps/v1/Deployment",
    value: { metadata: { labels: { a: 1 } } },
    message: "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
  },
  {
    name: "no time at all",
    kind: "apps/v1/Deployment",
    value: { metadata: { creationTimestamp: "abc" } },
    message: 'parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006"',
  },
  {
    name: "an object where a list stands",
    kind: "v1/Pod",
    value: pod({ containers: {} }),
    message: "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
  },
  {
    name: "a number as a variable's value",
    kind: "v1/Pod",
    value: container({ env: [{ name: "x", value: 1 }] }),
    message: "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string",
  },
  {
    name: "a number where a named string stands",
    kind: "v1/Pod",
    value: container({ ports: [{ containerPort: 80, protocol: 3 }] }),
    message:
      "json: cannot unmarshal number into Go struct field ContainerPort.spec.containers.ports.protocol of type v1.Protocol",
  },
  {
    name: "no quantity at all",
    kind: "v1/Pod",
    value: container({ resources: { limits: { cpu: "abc" } } }),
    message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  },
  {
    name: "a boolean as a port, inside an embedded struct",
    kind: "v1/Pod",
    value: container({ livenessProbe: { httpGet: { port: true } } }),
    message:
      "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
  },
  {
    name: "broken base64",
    kind: "v1/Secret",
    value: { data: { a: "%%%" } },
    message: "illegal base64 data at input byte 0",
  },
  {
    name: "a lease time without six digits",
    kind: "coordination.k8s.io/v1/Lease",
    value: { spec: { renewTime: "2024-01-01T00:00:00Z" } },
    message: 'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  },
];

suite("values that do not fit their field", () => {
  for (const { name, kind, value, message } of refused) {
    test(name, () => {
      const [apiVersion, short] = split(kind);
      const version = apiVersion.split("/").at(-1);
      assert.deepEqual(decodeBuiltin(apiVersion, short, value), {
        kind: "Refused",
        message: `${short} in version "${version}" cannot be handled as a ${short}: ${message}`,
      });
    });
  }
});

suite("what remains of a body", () => {
  test("unknown fields are named in the order of the document and dropped", () => {
    const shaped = decodeBuiltin("v1", "Pod", {
      ...Object(pod({ containers: [{ name: "a", foo: 1 }], bar: 2 })),
      baz: 3,
    });
    assert.equal(shaped?.kind, "Shaped");
    assert.deepEqual(shaped.kind === "Shaped" && shaped.unknownFields, ["spec.containers[0].foo", "spec.bar", "baz"]);
    assert.equal(JSON.stringify(shaped).includes('"foo"'), false);
  });

  test("empty optional fields disappear and required ones appear", () => {
    const shaped = decodeBuiltin("rbac.authorization.k8s.io/v1", "Role", {
      metadata: { name: "x", labels: {}, annotations: { a: null } },
      rules: [],
    });
    assert.deepEqual(shaped, {
      kind: "Shaped",
      object: { metadata: { name: "x", annotations: { a: "" } }, rules: null },
      unknownFields: [],
    });
  });

  test("a key called __proto__ is a key like any other", () => {
    const value: unknown = JSON.parse('{"metadata":{"name":"x"},"data":{"__proto__":"y"}}');
    const shaped = decodeBuiltin("v1", "ConfigMap", value);
    assert.equal(
      JSON.stringify(shaped?.kind === "Shaped" && shaped.object),
      '{"metadata":{"name":"x"},"data":{"__proto__":"y"}}',
    );
  });

  test("a kind that is not built in is somebody else's", () => {
    assert.equal(decodeBuiltin("example.com/v1", "Widget", {}), undefined);
  });
});

function split(kind: string): readonly [string, string] {
  const at = kind.lastIndexOf("/");
  return [kind.slice(0, at), kind.slice(at + 1)];
}
