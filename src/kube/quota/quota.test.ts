import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { KubeObject } from "../object.ts";
import { checkQuotas, type QuotaVerdict, type StandingQuota } from "./check.ts";
import { measureOf } from "./measure.ts";
import { podResources, type ResourceSpec } from "./pod-resources.ts";
import { formatResources, readResources, type WrittenResources } from "./resource-list.ts";
import type { ScopedSpec } from "./scopes.ts";
import { totalUsage } from "./total.ts";

const now = new Date("2026-01-01T12:00:00Z");

const holder = (requests: WrittenResources = {}, limits: WrittenResources = {}, more: object = {}) => ({
  name: "c",
  resources: { requests, limits },
  ...more,
});

const sums: readonly [string, ResourceSpec | undefined, string][] = [
  ["nothing", undefined, ""],
  [
    "containers are added up",
    { containers: [holder({ cpu: "100m" }), holder({ cpu: 1, memory: "1Gi" })] },
    "cpu=1100m,memory=1Gi",
  ],
  [
    "an init container counts where it needs more",
    { containers: [holder({ cpu: "1", memory: "2Gi" })], initContainers: [holder({ cpu: "3", memory: "1Gi" })] },
    "cpu=3,memory=2Gi",
  ],
  [
    "init containers run one after the other",
    { containers: [holder()], initContainers: [holder({ cpu: "1" }), holder({ cpu: "2" })] },
    "cpu=2",
  ],
  [
    "a sidecar stays",
    { containers: [holder({ cpu: "1" })], initContainers: [holder({ cpu: "1" }, {}, { restartPolicy: "Always" })] },
    "cpu=2",
  ],
  [
    "an init container runs beside the sidecars before it",
    {
      containers: [holder({ cpu: "1" })],
      initContainers: [holder({ cpu: "1" }, {}, { restartPolicy: "Always" }), holder({ cpu: "3" })],
    },
    "cpu=4",
  ],
  [
    "but not beside those after it",
    {
      containers: [holder({ cpu: "1" })],
      initContainers: [holder({ cpu: "3" }), holder({ cpu: "1" }, {}, { restartPolicy: "Always" })],
    },
    "cpu=3",
  ],
  [
    "the pod's own word counts before that",
    {
      containers: [holder({ cpu: "1", "example.com/x": 1 })],
      resources: { requests: { cpu: "5", "example.com/x": 2 } },
    },
    "cpu=5,example.com/x=1",
  ],
];

suite("what a pod needs", () => {
  for (const [name, spec, expected] of sums) {
    test(name, () => assert.equal(formatResources(podResources(spec, "requests")), expected));
  }
});

const pod = (requests: WrittenResources = {}, more: { spec?: object; status?: object; metadata?: object } = {}) =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", ...more.metadata },
    spec: { containers: [holder(requests)], ...more.spec },
    status: {
      phase: "Pending",
      qosClass: Object.keys(requests).length > 0 ? "Burstable" : "BestEffort",
      ...more.status,
    },
  }) as KubeObject;

const service = (spec: object): KubeObject =>
  ({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec }) as KubeObject;
const claim = (storage: string, more: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "c" },
    spec: { resources: { requests: { storage } }, storageClassName: "gold" },
    ...more,
  }) as KubeObject;

const gone = { deletionTimestamp: "2026-01-01T11:00:00Z", deletionGracePeriodSeconds: 30 };
const going = { deletionTimestamp: "2026-01-01T12:00:00Z", deletionGracePeriodSeconds: 30 };

const usages: readonly [string, string, KubeObject, string][] = [
  ["a pod", "pods", pod({ cpu: "1" }), "count/pods=1,cpu=1,pods=1,requests.cpu=1"],
  ["a pod that has ended", "pods", pod({ cpu: "1" }, { status: { phase: "Failed" } }), "count/pods=1"],
  ["a pod that is on its way out", "pods", pod({}, { metadata: going }), "count/pods=1,pods=1"],
  ["a pod that should be gone for long", "pods", pod({}, { metadata: gone }), "count/pods=1"],
  [
    "a pod with other resources",
    "pods",
    pod({ "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": 1 }),
    "count/pods=1,ephemeral-storage=1Gi,hugepages-2Mi=4Mi,pods=1,requests.ephemeral-storage=1Gi,requests.example.com/gpu=1,requests.hugepages-2Mi=4Mi",
  ],
  [
    "a service",
    "services",
    service({ ports: [{}] }),
    "count/services=1,services=1,services.loadbalancers=0,services.nodeports=0",
  ],
  [
    "a service with node ports",
    "services",
    service({ type: "NodePort", ports: [{}, {}] }),
    "count/services=1,services=1,services.loadbalancers=0,services.nodeports=2",
  ],
  [
    "a load balancer that wants no node ports, and names one",
    "services",
    service({ type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 30000 }] }),
    "count/services=1,services=1,services.loadbalancers=1,services.nodeports=1",
  ],
  [
    "a claim",
    "persistentvolumeclaims",
    claim("1Gi"),
    "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/requests.storage=1Gi,persistentvolumeclaims=1,requests.storage=1Gi",
  ],
  [
    "a claim in parts of a byte, and more than asked for",
    "persistentvolumeclaims",
    claim("1500m", {
      spec: { resources: { requests: { storage: "1500m" } } },
      status: { allocatedResources: { storage: "2500m" } },
    }),
    "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=3",
  ],
  ["a ConfigMap", "configmaps", pod(), "configmaps=1,count/configmaps=1"],
];

suite("what an object uses", () => {
  for (const [name, plural, object, expected] of usages) {
    test(name, () => {
      const measure = measureOf("", plural);
      assert.ok(measure);
      assert.equal(formatResources(measure.usage(object, now)), expected);
    });
  }

  test("nobody counts events and reviews", () => {
    const uncounted = [
      ["", "events"],
      ["events.k8s.io", "events"],
      ["authorization.k8s.io", "localsubjectaccessreviews"],
    ] as const;
    for (const [group, plural] of uncounted) assert.equal(measureOf(group, plural), undefined);
  });
});

const quota = (name: string, hard: WrittenResources, used: WrittenResources, spec: ScopedSpec = {}): StandingQuota => ({
  name,
  spec,
  hard: readResources(hard),
  used: readResources(used),
});

const told = (verdict: QuotaVerdict): string =>
  verdict.kind === "Refused"
    ? verdict.message
    : [...verdict.used].map(([name, used]) => `${name}: ${formatResources(used)}`).join("; ");

const measured = (plural: string) => {
  const measure = measureOf("", plural);
  assert.ok(measure);
  return measure;
};

const onlyLong: ScopedSpec = { scopes: ["NotTerminating"] };

/** The quotas, the pod, what it was before, and what is said. */
const checks: readonly [string, readonly StandingQuota[], KubeObject, KubeObject | undefined, string][] = [
  ["no quota", [], pod(), undefined, ""],
  ["room enough", [quota("a", { pods: 2 }, { pods: 1 })], pod(), undefined, "a: pods=2"],
  ["another resource", [quota("a", { services: 0 }, { services: 0 })], pod(), undefined, ""],
  [
    "one of two is full",
    [quota("a", { pods: 2 }, { pods: 1 }), quota("b", { pods: 1 }, { pods: 1 })],
    pod(),
    undefined,
    "exceeded quota: b, requested: pods=1, used: pods=1, limited: pods=1",
  ],
  [
    "full already, and not asked for more of that",
    [quota("a", { pods: 5, "requests.memory": "1Gi" }, { pods: 1, "requests.memory": "2Gi" })],
    pod({ memory: 0 }),
    undefined,
    "a: pods=2,requests.memory=2Gi",
  ],
  ["out of scope", [quota("a", { pods: 0 }, { pods: 0 }, { scopes: ["NotBestEffort"] })], pod(), undefined, ""],
  [
    "a negative amount",
    [quota("a", { "requests.cpu": 5 }, { "requests.cpu": 0 })],
    pod({ cpu: "-1" }),
    undefined,
    "quota usage is negative for resource(s): cpu,requests.cpu",
  ],
  [
    "an update that changes nothing that counts",
    [quota("a", { pods: 1 }, { pods: 1 }, onlyLong)],
    pod({}, { metadata: { labels: { a: "b" } } }),
    pod(),
    "",
  ],
  [
    "an update that leaves a scope charges nothing",
    [quota("a", { pods: 1 }, { pods: 1 }, onlyLong)],
    pod({}, { spec: { activeDeadlineSeconds: 5 } }),
    pod(),
    "",
  ],
  [
    "an update that enters a scope is charged whole",
    [quota("a", { pods: 1 }, { pods: 0 }, { scopes: ["Terminating"] })],
    pod({}, { spec: { activeDeadlineSeconds: 5 } }),
    pod(),
    "a: pods=1",
  ],
];

suite("whether a write fits into its quotas", () => {
  for (const [name, quotas, object, old, expected] of checks) {
    test(name, () => {
      const write = { operation: old ? "UPDATE" : "CREATE", subresource: "", object, ...(old && { old }) } as const;
      assert.equal(told(checkQuotas(quotas, measured("pods"), write, now)), expected);
    });
  }

  test("a resize is charged for what it takes more", () => {
    const write = {
      operation: "UPDATE",
      subresource: "resize",
      object: pod({ cpu: "3" }),
      old: pod({ cpu: "1" }),
    } as const;
    const quotas = [quota("a", { "requests.cpu": 3 }, { "requests.cpu": 1 })];
    assert.equal(told(checkQuotas(quotas, measured("pods"), write, now)), "a: requests.cpu=3");
  });
});

test("what admission charges one by one is what the controller counts at once", () => {
  const hard = { pods: 1000, "count/pods": 1000, "requests.cpu": "1P", memory: "1P", "limits.cpu": "1P" };
  const amount = fc.constantFrom("0", "1m", "250m", "1", "1.5", "3Mi", "1e3", "5Gi");
  const requirements = fc.record({ cpu: amount, memory: amount });
  const container = fc.record({
    name: fc.constant("c"),
    resources: fc.record({ requests: requirements, limits: requirements }),
    restartPolicy: fc.constantFrom("Always", undefined),
  });
  const anyPod = fc
    .record({
      containers: fc.array(container, { minLength: 1, maxLength: 3 }),
      initContainers: fc.array(container, { maxLength: 3 }),
      activeDeadlineSeconds: fc.constantFrom(undefined, 5),
    })
    .map((spec) => pod({}, { spec, status: { qosClass: "Burstable" } }));
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 8 }), fc.constantFrom<ScopedSpec>({}, onlyLong), (pods, spec) => {
      let standing = quota("q", hard, Object.fromEntries(Object.keys(hard).map((name) => [name, 0])), spec);
      for (const object of pods) {
        const verdict = checkQuotas(
          [standing],
          measured("pods"),
          { operation: "CREATE", subresource: "", object },
          now,
        );
        assert.equal(verdict.kind, "Charged");
        if (verdict.kind === "Charged") standing = { ...standing, used: verdict.used.get("q") ?? standing.used };
      }
      const counted = totalUsage(spec, standing.hard.keys(), measured("pods"), pods, now);
      assert.equal(formatResources(standing.used), formatResources(counted));
    }),
  );
});
