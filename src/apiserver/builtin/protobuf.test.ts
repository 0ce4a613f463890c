import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { decodeProtobuf, ProtobufError, type ProtobufProblem } from "./protobuf.ts";

// Bodies that kubectl 1.33 sent, byte for byte.
const recorded = [
  {
    name: "kubectl create namespace",
    hex: "6b3873000a0f0a02763112094e616d657370616365121e0a160a0670627465737412001a0022002a0032003800420012001a020a001a002200",
    object: { metadata: { name: "pbtest" }, spec: {}, status: {}, apiVersion: "v1", kind: "Namespace" },
  },
  {
    name: "a Go client's delete in the version of what it deletes",
    hex: "6b3873000a180a07617070732f7631120d44656c6574654f7074696f6e73120822064f727068616e",
    object: { propagationPolicy: "Orphan", apiVersion: "apps/v1", kind: "DeleteOptions" },
  },
  {
    name: "kubectl create secret generic",
    hex: "6b3873000a0c0a027631120653656372657412250a190a02733112001a0764656661756c7422002a0032003800420012060a016b1201761a001a002200",
    object: { metadata: { name: "s1", namespace: "default" }, data: { k: "dg==" }, apiVersion: "v1", kind: "Secret" },
  },
  {
    name: "kubectl create quota",
    hex: "6b3873000a130a027631120d5265736f7572636551756f746112400a120a02713112001a0022002a0032003800420012280a0a0a0363707512030a01310a0b0a04706f647312030a0132120d4e6f74426573744566666f72741a001a002200",
    object: {
      metadata: { name: "q1" },
      spec: { hard: { cpu: "1", pods: "2" }, scopes: ["NotBestEffort"] },
      status: {},
      apiVersion: "v1",
      kind: "ResourceQuota",
    },
  },
  {
    name: "kubectl create deployment",
    hex: "6b3873000a150a07617070732f7631120a4465706c6f796d656e7412bb010a240a02643112001a0764656661756c7422002a003200380042005a090a03617070120264311284010802120b0a090a03617070120264311a6b0a1b0a0012001a0022002a003200380042005a090a0361707012026431124c122e0a056e67696e7812056e67696e782a00320a0a001000185022002a0042006a007200800100880100900100a201001a00320042004a0052005800600068008201008a01009a0100c2010022020a00280038001a0c0800100018002000280038001a002200",
    object: {
      metadata: { name: "d1", namespace: "default", labels: { app: "d1" } },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "d1" } },
        template: {
          metadata: { labels: { app: "d1" } },
          spec: { containers: [{ name: "nginx", image: "nginx", ports: [{ containerPort: 80 }], resources: {} }] },
        },
        strategy: {},
      },
      status: {},
      apiVersion: "apps/v1",
      kind: "Deployment",
    },
  },
  {
    name: "kubectl create job",
    hex: "6b3873000a0f0a0862617463682f763112034a6f62128b010a190a026a3112001a0764656661756c7422002a00320038004200126432620a100a0012001a0022002a00320038004200124e122b0a026a31120762757379626f781a046563686f1a0268692a0042006a007200800100880100900100a201001a054e65766572320042004a0052005800600068008201008a01009a0100c201001a082000280030003a001a002200",
    object: {
      metadata: { name: "j1", namespace: "default" },
      spec: {
        template: {
          metadata: {},
          spec: {
            containers: [{ name: "j1", image: "busybox", command: ["echo", "hi"], resources: {} }],
            restartPolicy: "Never",
          },
        },
      },
      status: {},
      apiVersion: "batch/v1",
      kind: "Job",
    },
  },
  {
    name: "kubectl create clusterrolebinding",
    hex: "6b3873000a320a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311212436c7573746572526f6c6542696e64696e671295010a120a02623112001a0022002a0032003800420012290a04557365721219726261632e617574686f72697a6174696f6e2e6b38732e696f1a046a616e65220012240a0e536572766963654163636f756e7412001a0764656661756c74220764656661756c741a2e0a19726261632e617574686f72697a6174696f6e2e6b38732e696f120b436c7573746572526f6c651a04766965771a002200",
    object: {
      metadata: { name: "b1" },
      subjects: [
        { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane" },
        { kind: "ServiceAccount", name: "default", namespace: "default" },
      ],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
    },
  },
  {
    name: "kubectl create token",
    hex: "6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565737412310a100a0012001a0022002a0032003800420012171a120a06536563726574120276311a027331220020901c1a040a0012001a002200",
    object: {
      metadata: {},
      spec: {
        audiences: null,
        expirationSeconds: 3600,
        boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s1" },
      },
      status: { token: "", expirationTimestamp: null },
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
    },
  },
  {
    name: "kubectl auth can-i",
    hex: "6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374416363657373526576696577123d0a100a0012001a0022002a00320038004200121f0a1d0a0764656661756c7412046c6973741a0022002a04706f647332003a001a08080012001a0020001a002200",
    object: {
      metadata: {},
      spec: { resourceAttributes: { namespace: "default", verb: "list", resource: "pods" } },
      status: { allowed: false },
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
    },
  },
  {
    name: "kubectl autoscale",
    hex: "6b3873000a290a0e6175746f7363616c696e672f76321217486f72697a6f6e74616c506f644175746f7363616c6572125f0a120a02643112001a0022002a0032003800420012430a190a0a4465706c6f796d656e74120264311a07617070732f76311001180322220a085265736f7572636522160a03637075120f0a0b5574696c697a6174696f6e203c1a04180020001a002200",
    object: {
      metadata: { name: "d1" },
      spec: {
        scaleTargetRef: { kind: "Deployment", name: "d1", apiVersion: "apps/v1" },
        minReplicas: 1,
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } } },
        ],
      },
      status: { desiredReplicas: 0, currentMetrics: null },
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
    },
  },
  {
    name: "kubectl create ingress",
    hex: "6b3873000a1f0a146e6574776f726b696e672e6b38732e696f2f76311207496e677265737312490a190a02693112001a0764656661756c7422002a0032003800420012281a260a03612e62121f0a1d0a1b0a022f78120d220b0a0373766312040a0010501a065072656669781a020a001a002200",
    object: {
      metadata: { name: "i1", namespace: "default" },
      spec: {
        rules: [
          {
            host: "a.b",
            http: {
              paths: [{ path: "/x", pathType: "Prefix", backend: { service: { name: "svc", port: { number: 80 } } } }],
            },
          },
        ],
      },
      status: { loadBalancer: {} },
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
    },
  },
];

suite("bodies that kubectl sends in protobuf", () => {
  for (const { name, hex, object } of recorded) {
    test(name, () => {
      const decoded = decodeProtobuf(Buffer.from(hex, "hex"));
      assert.deepEqual(decoded.object, object);
      assert.equal(decoded.apiVersion, object.apiVersion);
      assert.equal(decoded.kind, object.kind);
    });
  }
});

suite("bodies that nobody should send", () => {
  const cases: readonly { name: string; hex: string; reason: ProtobufProblem }[] = [
    { name: "nothing", hex: "", reason: "NotKubernetes" },
    { name: "JSON", hex: "7b7d", reason: "NotKubernetes" },
    { name: "nothing after the prefix", hex: "6b387300", reason: "NotKubernetes" },
    { name: "a kind that is not built in", hex: "6b3873000a0b0a02763112054f74686572", reason: "UnknownKind" },
    { name: "a length beyond the end", hex: "6b3873000aff01", reason: "Truncated" },
    { name: "a length beyond any memory", hex: "6b3873000affffffffffffffff7f", reason: "Truncated" },
    { name: "a number that never ends", hex: "6b38730008ffffffffffffffffffffff", reason: "Malformed" },
    { name: "a group", hex: "6b3873000b", reason: "Malformed" },
    { name: "field number zero", hex: "6b38730000", reason: "Malformed" },
  ];
  for (const { name, hex, reason } of cases) {
    test(name, () => {
      assert.throws(
        () => decodeProtobuf(Buffer.from(hex, "hex")),
        (error) => error instanceof ProtobufError && error.reason === reason,
      );
    });
  }

  test("a body cut off anywhere is refused or read, and nothing else", () => {
    for (const { hex } of recorded) {
      const body = Buffer.from(hex, "hex");
      for (let length = 0; length < body.length; length++) readOrRefuse(body.subarray(0, length));
    }
  });

  test("a body with any bytes changed is refused or read, and nothing else", () => {
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(
        fc.constantFrom(...recorded),
        fc.array(change, { minLength: 1, maxLength: 8 }),
        ({ hex }, changes) => {
          const body = Buffer.from(hex, "hex");
          for (const [at, byte] of changes) body[4 + (at % (body.length - 4))] = byte;
          readOrRefuse(body);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("messages inside messages inside messages are refused in time", () => {
    assert.throws(
      () => decodeProtobuf(nestedSchemas(2000)),
      (error) => error instanceof ProtobufError && error.reason === "TooDeep",
    );
  });
});

function readOrRefuse(body: Uint8Array): void {
  try {
    decodeProtobuf(body);
  } catch (error) {
    assert.ok(error instanceof ProtobufError, String(error));
  }
}

/** A CustomResourceDefinition whose schema is `not: {not: {not: …}}`. */
function nestedSchemas(depth: number): Uint8Array {
  const field = (number: number, inner: Uint8Array): Uint8Array =>
    Buffer.concat([varint(number * 8 + 2), varint(inner.length), inner]);
  let schema: Uint8Array = new Uint8Array();
  for (let level = 0; level < depth; level++) schema = field(26, schema);
  const version = field(4, field(1, schema));
  const object = field(2, field(7, version));
  const type = Buffer.concat([
    field(1, Buffer.from("apiextensions.k8s.io/v1")),
    field(2, Buffer.from("CustomResourceDefinition")),
  ]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, type), field(2, object)]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.from([...bytes, rest]);
}
