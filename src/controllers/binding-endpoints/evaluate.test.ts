import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "../../api/builtin/configuration.ts";
import type { Service } from "../../api/builtin/service.ts";
import type { CapabilityBinding } from "../../api/capability-binding.ts";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import type { ServiceTarget } from "../../api/service-target.ts";
import type { WorldInstance } from "../../api/world-instance.ts";
import { planConfigs, variablesOf } from "./endpoint-config.ts";
import { evaluate, type Observation } from "./evaluate.ts";

const binding: CapabilityBinding = {
  apiVersion: "game.platform/v1alpha1",
  kind: "CapabilityBinding",
  metadata: { name: "b", namespace: "demo" },
  spec: {
    capabilityId: "time.source",
    scope: "world",
    multiplicity: "1",
    consumer: { moduleManifestName: "physics" },
    provider: { moduleManifestName: "clock", capabilityVersion: "1.0.0" },
  },
};
type Endpoint = NonNullable<CapabilityBinding["spec"]["provider"]["endpoint"]>;
const declaring = (endpoint: Endpoint): CapabilityBinding => ({
  ...binding,
  spec: { ...binding.spec, provider: { ...binding.spec.provider, endpoint } },
});
const provider: ModuleManifest = {
  apiVersion: "game.platform/v1alpha1",
  kind: "ModuleManifest",
  metadata: { name: "clock", namespace: "demo" },
  spec: {
    module: { id: "clock", version: "1.0.0" },
    provides: [],
    requires: [],
    scaling: { defaultScope: "world", statefulness: "stateless" },
  },
};
const target = (name: string, health: "HEALTHY" | "DOWN", registeredAt: string, port = 9000): ServiceTarget => ({
  apiVersion: "registry.capstan.dev/v1alpha1",
  kind: "ServiceTarget",
  metadata: { name, namespace: "demo" },
  spec: { id: name, serviceName: "clock", host: "10.0.0.7", port },
  status: { health, registeredAt },
});
const service = (name: string, port: number): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "demo" },
  spec: { ports: [{ port }] },
});

const cases: readonly {
  readonly name: string;
  readonly seen: Partial<Observation>;
  readonly phase: string;
  readonly reason: string;
  readonly endpoint?: string;
}[] = [
  {
    name: "a declared Service wins over everything",
    seen: {
      binding: declaring({ type: "kubernetesService", value: "clock-svc", port: 50051 }),
      targets: [target("t", "HEALTHY", "1")],
    },
    phase: "Bound",
    reason: "EndpointDeclared",
    endpoint: "clock-svc.demo.svc:50051",
  },
  {
    name: "a declared Service in another namespace takes its port from the Service",
    seen: {
      binding: declaring({ value: "clock-svc.infra" }),
      declaredService: { ...service("clock-svc", 81), metadata: { name: "clock-svc", namespace: "infra" } },
    },
    phase: "Bound",
    reason: "EndpointDeclared",
    endpoint: "clock-svc.infra.svc:81",
  },
  {
    name: "a declared URL",
    seen: { binding: declaring({ type: "url", value: "https://clock.example/x" }) },
    phase: "Bound",
    reason: "EndpointDeclared",
    endpoint: "clock.example:443",
  },
  {
    name: "a declared URL that is none",
    seen: { binding: declaring({ type: "url", value: "clock" }) },
    phase: "Error",
    reason: "EndpointInvalid",
  },
  {
    name: "a declared Service without any port",
    seen: { binding: declaring({ value: "clock" }) },
    phase: "Error",
    reason: "EndpointInvalid",
  },
  {
    name: "the oldest healthy registration",
    seen: {
      targets: [
        target("young", "HEALTHY", "2026-02-01T00:00:00Z", 2),
        target("old", "HEALTHY", "2026-01-01T00:00:00Z", 1),
        target("dead", "DOWN", "2025-01-01T00:00:00Z", 3),
      ],
    },
    phase: "Bound",
    reason: "ServiceTargetHealthy",
    endpoint: "10.0.0.7:1",
  },
  {
    name: "only unhealthy registrations",
    seen: { targets: [target("dead", "DOWN", "1")], services: [service("clock", 80)] },
    phase: "Pending",
    reason: "ServiceTargetsUnhealthy",
  },
  {
    name: "a Service",
    seen: { services: [service("clock", 80)] },
    phase: "Bound",
    reason: "ServiceFound",
    endpoint: "clock.demo.svc:80",
  },
  { name: "nothing", seen: {}, phase: "Pending", reason: "EndpointUnknown" },
];

for (const { name, seen, phase, reason, endpoint } of cases) {
  test(`endpoint of a binding with ${name}`, () => {
    const decision = evaluate({ binding, provider, targets: [], services: [], ...seen });
    assert.equal(decision.phase, phase);
    assert.equal(decision.reason, reason);
    assert.equal(decision.endpoint, endpoint);
  });
}

test("a provider whose manifest has gone is waited for", () => {
  assert.equal(evaluate({ binding, targets: [], services: [service("clock", 80)] }).reason, "ProviderNotFound");
});

test("a consumer's variables carry host and port, with the scope and without it", () => {
  const bound = (scope: "world" | "session", endpoint: string): CapabilityBinding => ({
    ...binding,
    spec: { ...binding.spec, scope },
    status: { resolvedEndpoint: endpoint },
  });
  assert.deepEqual(variablesOf([bound("world", "clock.demo.svc:80")]), {
    ANVIL_CAPABILITY_TIME_SOURCE_ENDPOINT: "clock.demo.svc:80",
    ANVIL_CAPABILITY_TIME_SOURCE_HOST: "clock.demo.svc",
    ANVIL_CAPABILITY_TIME_SOURCE_PORT: "80",
    ANVIL_CAPABILITY_TIME_SOURCE_WORLD_ENDPOINT: "clock.demo.svc:80",
    ANVIL_CAPABILITY_TIME_SOURCE_WORLD_HOST: "clock.demo.svc",
    ANVIL_CAPABILITY_TIME_SOURCE_WORLD_PORT: "80",
  });
  const two = variablesOf([bound("world", "a:1"), bound("session", "b:2")]);
  assert.equal(two["ANVIL_CAPABILITY_TIME_SOURCE_ENDPOINT"], undefined);
  assert.equal(two["ANVIL_CAPABILITY_TIME_SOURCE_SESSION_ENDPOINT"], "b:2");
});

test("a consumer's ConfigMap is written only when it differs, and never over one that is not the world's", () => {
  const world: WorldInstance = {
    apiVersion: "game.platform/v1alpha1",
    kind: "WorldInstance",
    metadata: { name: "w", namespace: "demo", uid: "uid-w" },
    spec: { gameRef: { name: "g" }, worldId: "w", region: "eu", shardCount: 1, desiredState: "Running" },
  };
  const bound: CapabilityBinding = { ...binding, status: { resolvedEndpoint: "clock.demo.svc:80" } };
  const consumer = binding.spec.consumer.moduleManifestName;
  const snapshot = { world, bindings: [bound], consumers: [consumer], isHeldElsewhere: () => false };
  const [config] = planConfigs({ ...snapshot, existing: [] }).apply;
  assert.ok(config);
  assert.equal(config.metadata.name, `w-${consumer}-endpoints`);
  const stored: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", ...config };
  assert.deepEqual(planConfigs({ ...snapshot, existing: [stored] }), { apply: [], remove: [] });
  const edited = { ...stored, data: { ...config.data, MORE: "1" } };
  assert.deepEqual(planConfigs({ ...snapshot, existing: [edited] }).apply, [config]);
  assert.deepEqual(planConfigs({ ...snapshot, consumers: [], existing: [stored] }).remove, [stored]);
  const [apart] = planConfigs({ ...snapshot, existing: [], isHeldElsewhere: () => true }).apply;
  assert.match(apart?.metadata.name ?? "", new RegExp(`^w-${consumer}-endpoints-[0-9a-f]{10}$`));
});
