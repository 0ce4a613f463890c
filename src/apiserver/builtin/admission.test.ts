import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../kube/object.ts";
import { type AdmissionLookups, admitNew } from "./admission.ts";
import { allocateService } from "./service-allocation.ts";

const object = (value: object): KubeObject => value as unknown as KubeObject;

const account = object({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "default", namespace: "default" },
});

const lookups = (more: Partial<AdmissionLookups> = {}): AdmissionLookups => ({
  priorityClasses: () => [],
  storageClasses: () => [],
  ingressClasses: () => [],
  serviceAccount: () => account,
  suffix: () => "abcde",
  ...more,
});

const pod = (spec: object): KubeObject =>
  object({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default" },
    spec: { containers: [{ name: "c" }], ...spec },
  });

const specOf = (admitted: ReturnType<typeof admitNew>): Readonly<Record<string, unknown>> => {
  assert.equal(admitted.kind, "Admitted");
  return admitted.kind === "Admitted" ? (admitted.object as unknown as { spec: Record<string, unknown> }).spec : {};
};

const priorityClass = (name: string, value: number, more: object = {}): KubeObject =>
  object({ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value, ...more });

suite("what the server adds to a new pod", () => {
  test("the priority of its class", () => {
    const classes = [priorityClass("high", 100, { preemptionPolicy: "Never" })];
    const spec = specOf(admitNew(pod({ priorityClassName: "high" }), lookups({ priorityClasses: () => classes })));
    assert.deepEqual([spec["priority"], spec["preemptionPolicy"]], [100, "Never"]);
  });

  test("the class that is meant for all", () => {
    const classes = [priorityClass("high", 100), priorityClass("standard", 5, { globalDefault: true })];
    const spec = specOf(admitNew(pod({}), lookups({ priorityClasses: () => classes })));
    assert.deepEqual([spec["priority"], spec["priorityClassName"]], [5, "standard"]);
  });

  test("a token, unless its account or the pod itself does not want one", () => {
    const mounts = (spec: Readonly<Record<string, unknown>>): number =>
      (spec["volumes"] as unknown[] | undefined)?.length ?? 0;
    const reluctant = object({ ...account, automountServiceAccountToken: false });
    assert.equal(mounts(specOf(admitNew(pod({}), lookups()))), 1);
    assert.equal(mounts(specOf(admitNew(pod({ automountServiceAccountToken: false }), lookups()))), 0);
    assert.equal(mounts(specOf(admitNew(pod({}), lookups({ serviceAccount: () => reluctant })))), 0);
    assert.equal(
      mounts(
        specOf(admitNew(pod({ automountServiceAccountToken: true }), lookups({ serviceAccount: () => reluctant }))),
      ),
      1,
    );
  });

  test("the image credentials of its account", () => {
    const withSecrets = object({ ...account, imagePullSecrets: [{ name: "registry" }] });
    const spec = specOf(admitNew(pod({}), lookups({ serviceAccount: () => withSecrets })));
    assert.deepEqual(spec["imagePullSecrets"], [{ name: "registry" }]);
  });

  test("and it changes nothing of what it was given", () => {
    const given = Object.freeze(pod({}));
    const before = JSON.stringify(given);
    admitNew(given, lookups());
    assert.equal(JSON.stringify(given), before);
  });
});

test("a claim without a class gets the newest default class", () => {
  const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
  const storageClass = (name: string, creationTimestamp: string): KubeObject =>
    object({
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name, creationTimestamp, annotations },
    });
  const classes = [storageClass("old", "2024-01-01T00:00:00Z"), storageClass("new", "2024-02-01T00:00:00Z")];
  const claim = object({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c" }, spec: {} });
  const admitted = admitNew(claim, lookups({ storageClasses: () => classes }));
  assert.equal(specOf(admitted)["storageClassName"], "new");
});

suite("addresses of services", () => {
  const service = (spec: object): KubeObject =>
    object({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec });
  const nothing = {
    clusterIp: () => assert.fail("no address is needed"),
    nodePort: () => assert.fail("no port is needed"),
  };

  test("nothing is handed out twice to one service", () => {
    const first = allocateService(service({ type: "NodePort", ports: [{ port: 80, protocol: "TCP" }] }), undefined, {
      clusterIp: () => "10.0.0.5",
      nodePort: () => 30005,
    });
    const again = allocateService(
      service({ type: "NodePort", ports: [{ port: 80, protocol: "TCP" }] }),
      first,
      nothing,
    );
    assert.deepEqual((again as unknown as { spec: unknown }).spec, (first as unknown as { spec: unknown }).spec);
  });

  test("a service that stands for a name needs none", () => {
    allocateService(service({ type: "ExternalName", externalName: "example.com" }), undefined, nothing);
  });

  test("a service without an address of its own needs none", () => {
    allocateService(service({ type: "ClusterIP", clusterIP: "None", selector: { a: "b" } }), undefined, nothing);
  });
});
