import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KubeObject } from "../../kube/object.ts";
import { claimLimitErrors, type LimitRange, podLimitErrors, withDefaultLimits } from "./limit-range.ts";

const range = (...limits: readonly object[]): LimitRange =>
  ({ apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits } }) as unknown as LimitRange;

const container = (name: string, requests?: object, limits?: object): object => ({
  name,
  ...((requests || limits) && { resources: { ...(requests && { requests }), ...(limits && { limits }) } }),
});

const pod = (...containers: readonly object[]): KubeObject =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers } }) as unknown as KubeObject;

const defaults = { type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "500m", memory: "1Mi" } };

const fills: readonly [string, LimitRange, KubeObject, unknown, string | undefined][] = [
  ["nothing to fill in", range({ type: "Pod", max: { cpu: "1" } }), pod(container("a")), undefined, undefined],
  ["no limits at all", { ...range(), spec: { limits: null } }, pod(container("a")), undefined, undefined],
  [
    "a container that says nothing",
    range(defaults),
    pod(container("a")),
    { limits: { cpu: "1" }, requests: { cpu: "500m", memory: "1Mi" } },
    "cpu, memory request for container a; cpu limit for container a",
  ],
  [
    "a container that says some of it",
    range(defaults),
    pod(container("a", { memory: "5Mi" })),
    { limits: { cpu: "1" }, requests: { cpu: "500m", memory: "5Mi" } },
    "cpu request for container a; cpu limit for container a",
  ],
  [
    "a container that says it all",
    range(defaults),
    pod(container("a", { cpu: "1m", memory: "5Mi" }, { cpu: "2m" })),
    { limits: { cpu: "2m" }, requests: { cpu: "1m", memory: "5Mi" } },
    undefined,
  ],
];

suite("what a LimitRange fills in", () => {
  for (const [name, limits, given, resources, told] of fills) {
    test(name, () => {
      const filled = withDefaultLimits(given, limits) as KubeObject & {
        spec: { containers: readonly { resources?: unknown }[] };
      };
      assert.deepEqual(filled.spec.containers[0]?.resources, resources);
      const annotation = filled.metadata.annotations?.["kubernetes.io/limit-ranger"];
      assert.equal(annotation, told === undefined ? undefined : `LimitRanger plugin set: ${told}`);
      if (told === undefined) assert.equal(filled, given, "an object that stays the same is not copied");
    });
  }
});

const refusals: readonly [string, object, KubeObject, readonly string[]][] = [
  [
    "within the bounds",
    { type: "Container", min: { cpu: "1m" }, max: { cpu: "1" } },
    pod(container("a", { cpu: "1m" }, { cpu: "1" })),
    [],
  ],
  [
    "each container is judged",
    { type: "Container", max: { cpu: "1" } },
    pod(container("a", {}, { cpu: "2" }), container("b", {}, { cpu: "3" })),
    ["maximum cpu usage per Container is 1, but limit is 2", "maximum cpu usage per Container is 1, but limit is 3"],
  ],
  [
    "a request above the maximum",
    { type: "Container", max: { cpu: "1" } },
    pod(container("a", { cpu: "1001m" }, { cpu: "1" })),
    ["maximum cpu usage per Container is 1, but request is 1001m"],
  ],
  [
    "a limit below the minimum",
    { type: "Container", min: { cpu: "1" } },
    pod(container("a", { cpu: "1" }, { cpu: "999m" })),
    ["minimum cpu usage per Container is 1, but limit is 999m"],
  ],
  [
    "a ratio of huge amounts",
    { type: "Container", maxLimitRequestRatio: { memory: "1500m" } },
    pod(container("a", { memory: "10Pi" }, { memory: "20Pi" })),
    ["memory max limit to request ratio per Container is 1500m, but provided ratio is 2.000000"],
  ],
  ["another type", { type: "example.com/Thing", max: { cpu: "1" } }, pod(container("a", {}, { cpu: "2" })), []],
];

suite("what a LimitRange refuses", () => {
  for (const [name, limit, given, errors] of refusals) {
    test(name, () => assert.deepEqual(podLimitErrors(given, range(limit)), errors));
  }

  test("a claim that does not say what it wants", () => {
    const claim = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name: "c" }, spec: {} } as KubeObject;
    const bounds = range({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } });
    assert.deepEqual(claimLimitErrors(claim, bounds), [
      "minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified",
      "maximum storage usage per PersistentVolumeClaim is 2Gi.  No request is specified",
    ]);
  });
});
