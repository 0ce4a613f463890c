import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultInstallation, readInstallation } from "./installation.ts";

test("without variables the defaults hold", () => {
  assert.deepEqual(readInstallation({}), { ok: true, installation: defaultInstallation });
  assert.deepEqual(readInstallation({ OPRC_CRM_PROFILE: "  " }), { ok: true, installation: defaultInstallation });
});

test("every variable of upstream is honoured", () => {
  const read = readInstallation({
    OPRC_CRM_PROFILE: "Full",
    OPRC_CRM_K8S_NAMESPACE: "oaas",
    OPRC_ENV_REGION: "eu",
    OPRC_ENV_IS_EDGE: "1",
    OPRC_ENV_IS_DATACENTER: "yes",
    OPRC_CRM_FEATURES_ODGM: "false",
    OPRC_CRM_FEATURES_KNATIVE: "off",
    OPRC_CRM_ENFORCEMENT_STABILITY_SECS: "1",
    OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS: "90s",
    OPRC_CRM_ENFORCEMENT_MAX_REPLICA_DELTA: "4",
    OPRC_CRM_LIMITS_MAX_REPLICAS: "7",
    OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example/odgm:1",
    OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY: "Never",
    OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV: "A=1,B=x=y",
    OPRC_CRM_OTEL_ENABLED: "true",
    OPRC_CRM_PROM_URL: "http://prometheus:9090/base",
    OPRC_CRM_PROM_QUERY_TIMEOUT_SECS: "2",
    OPRC_CRM_PROM_RANGE: "5m",
    OPRC_CRM_PROM_STEP: "15s",
    OPRC_CRM_ANALYZER_INTERVAL_SECS: "1",
    OPRC_CRM_REQ_CPU_PER_POD_M: "250",
    OPRC_CRM_PROM_MATCH_LABELS: "release=kube-prometheus-stack,team=a",
    OPRC_CRM_FEATURES_PROMETHEUS: "false",
    OPRC_CRM_FEATURES_FSM: "false",
    OPRC_CRM_FEATURES_LEADER_ELECTION: "true",
    OPRC_CRM_SECURITY_MTLS: "false",
    OPRC_ENV_ZONE: "eu-1",
    OPRC_ENV_HW_CLASS: "arm",
    OPRC_MOCK_CLUSTER_AVAILABILITY: "0.42",
  });
  assert.ok(read.ok, JSON.stringify(read));
  const { settings, analysis, wire } = read.installation;
  assert.deepEqual([settings.profile, settings.isEdge, settings.isDatacenter], ["full", true, true]);
  assert.deepEqual(settings.features, {
    odgm: false,
    knative: false,
    hpa: true,
    nfrEnforcement: true,
    metricsTargets: false,
  });
  assert.deepEqual(settings.monitorLabels, { release: "kube-prometheus-stack", team: "a" });
  const { stabilityMs, cooldownMs, maxReplicas, maxReplicaDelta } = settings.enforcement;
  assert.deepEqual([stabilityMs, cooldownMs, maxReplicas, maxReplicaDelta], [1_000, 90_000, 7, 4]);
  assert.deepEqual(settings.odgm, {
    image: "example/odgm:1",
    pullPolicy: "Never",
    extraEnvironment: { A: "1", B: "x=y" },
  });
  assert.deepEqual(settings.telemetry, { enabled: true, endpoint: "http://otel-collector:4317" });
  assert.deepEqual(analysis, {
    prometheusUrl: "http://prometheus:9090/base",
    intervalMs: 1_000,
    queryTimeoutMs: 2_000,
    rangeMs: 300_000,
    stepMs: 15_000,
    cpuPerPodMillis: 250,
  });
  assert.deepEqual(wire, {
    namespace: "oaas",
    environment: "eu",
    place: { region: "eu", zone: "eu-1", hw_class: "arm" },
    availability: 0.42,
  });
});

const switched: readonly (readonly [profile: string | undefined, hpa: boolean, enforcement: boolean])[] = [
  [undefined, false, true],
  ["dev", false, false],
  ["edge", true, false],
  ["full", true, true],
  ["production", true, true],
];
for (const [profile, hpa, nfrEnforcement] of switched) {
  test(`the profile ${profile ?? "that nobody names"} switches its features`, () => {
    const read = readInstallation({ OPRC_CRM_PROFILE: profile });
    assert.ok(read.ok);
    const { features } = read.installation.settings;
    assert.deepEqual([features.hpa, features.nfrEnforcement], [hpa, nfrEnforcement]);
  });
}

test("every wrong variable is named, with what is expected", () => {
  const read = readInstallation({
    OPRC_CRM_FEATURES_HPA: "maybe",
    OPRC_CRM_LIMITS_MAX_REPLICAS: "-1",
    OPRC_CRM_PROM_STEP: "often",
    OPRC_CRM_PROM_URL: "prometheus:9090",
    OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY: "Sometimes",
    OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV: "A=1,B",
    OPRC_CRM_FEATURES_FSM: "perhaps",
    OPRC_CRM_SECURITY_MTLS: "true",
    OPRC_MOCK_CLUSTER_AVAILABILITY: "99",
  });
  assert.ok(!read.ok);
  for (const part of [
    'OPRC_CRM_FEATURES_HPA is "maybe"; true or false is expected',
    'OPRC_CRM_LIMITS_MAX_REPLICAS is "-1"; a whole number is expected',
    'OPRC_CRM_PROM_STEP is "often"; a number of seconds or a duration such as 90s is expected',
    'OPRC_CRM_PROM_URL is "prometheus:9090"; a URL that begins with http:// or https:// is expected',
    'OPRC_CRM_TEMPLATES_ODGM_PULL_POLICY is "Sometimes"; one of Always, IfNotPresent, Never is expected',
    'OPRC_CRM_TEMPLATES_ODGM_EXTRA_ENV has "B"; NAME=VALUE is expected',
    'OPRC_CRM_FEATURES_FSM is "perhaps"; true or false is expected',
    "OPRC_CRM_SECURITY_MTLS: the gRPC port has no TLS of its own",
    'OPRC_MOCK_CLUSTER_AVAILABILITY is "99"; a number from 0 to 1 is expected',
  ])
    assert.ok(read.message.includes(part), `${part} in ${read.message}`);
});
