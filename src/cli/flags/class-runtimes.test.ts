import assert from "node:assert/strict";
import { test } from "node:test";
import { Command, CommanderError } from "commander";
import { defaultInstallation } from "../../controllers/class-runtime/installation.ts";
import { type ClassRuntimeFlags, classRuntimeSettingsOf, withClassRuntimeFlags } from "./class-runtimes.ts";

function parse(...flags: string[]): ClassRuntimeFlags {
  const command = withClassRuntimeFlags(new Command("up"))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse(flags, { from: "user" }).opts<ClassRuntimeFlags>();
}

test("without flags and variables the defaults hold", () => {
  const flags = parse();
  assert.equal(flags.grpcPort, 8088);
  assert.deepEqual(classRuntimeSettingsOf(flags, {}), defaultInstallation);
});

test("a flag wins over upstream's variable", () => {
  const variables = {
    OPRC_CRM_PROM_URL: "http://old:9090",
    OPRC_CRM_ENFORCEMENT_STABILITY_SECS: "7",
    OPRC_CRM_ENFORCEMENT_COOLDOWN_SECS: "8",
    OPRC_CRM_K8S_NAMESPACE: "oaas",
  };
  const given = parse(
    "--prometheus-url",
    "http://new:9090",
    "--enforce-stability",
    "1s",
    "--class-ready-timeout",
    "2m",
  );
  const { settings, analysis, wire } = classRuntimeSettingsOf(given, variables);
  assert.equal(analysis.prometheusUrl, "http://new:9090");
  assert.deepEqual([settings.enforcement.stabilityMs, settings.enforcement.cooldownMs], [1_000, 8_000]);
  assert.equal(settings.timeouts.readyMs, 120_000);
  assert.equal(wire.namespace, "oaas");
});

test("every flag arrives", () => {
  const { settings, analysis, wire } = classRuntimeSettingsOf(
    parse(
      ...["--class-runtime-namespace", "n", "--environment-name", "e", "--class-runtime-profile", "edge"],
      ...["--class-ready-timeout", "1s", "--class-missing-timeout", "2s", "--class-waiting-timeout", "3s"],
      ...["--nfr-interval", "4s", "--nfr-load-query", "avg(x)", "--nfr-max-load", "0.5", "--nfr-max-age", "5s"],
      ...["--nfr-min-confidence", "0.7", "--enforce-stability", "6s", "--enforce-cooldown", "7s"],
      ...["--enforce-max-replicas", "8", "--enforce-max-replica-delta", "9", "--enforce-max-retries", "0"],
    ),
    {},
  );
  assert.deepEqual(wire, { namespace: "n", environment: "e" });
  assert.deepEqual([settings.profile, settings.features.hpa], ["edge", true]);
  assert.deepEqual(settings.timeouts, { readyMs: 1_000, missingMs: 2_000, waitingMs: 3_000 });
  assert.deepEqual([analysis.intervalMs, analysis.loadQuery], [4_000, "avg(x)"]);
  assert.deepEqual(settings.enforcement, {
    maxLoad: 0.5,
    maxAgeMs: 5_000,
    minConfidence: 0.7,
    stabilityMs: 6_000,
    cooldownMs: 7_000,
    maxReplicas: 8,
    maxReplicaDelta: 9,
    maxRetries: 0,
  });
});

test("a wrong value is refused before anything starts", () => {
  for (const [flag, value] of [
    ["--grpc-port", "70000"],
    ["--prometheus-url", "prometheus:9090"],
    ["--nfr-max-age", "soon"],
    ["--nfr-interval", "0"],
    ["--nfr-min-confidence", "2"],
    ["--enforce-max-replicas", "0"],
    ["--enforce-max-retries", "-1"],
  ] as const)
    assert.throws(() => parse(flag, value), CommanderError, `${flag} ${value}`);
  assert.throws(() => classRuntimeSettingsOf(parse(), { OPRC_CRM_PROM_STEP: "x" }), /OPRC_CRM_PROM_STEP is "x"/);
});
